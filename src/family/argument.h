/* SPDX-License-Identifier: MIT
 *
 * Arguments of a launch: names of buffers, tensor maps or specials, or expressions.
 */
#ifndef FAMILY_ARGUMENT_H
#define FAMILY_ARGUMENT_H

#include "family/expression_json.h"
#include "family/plan.h"

struct argument {
	enum argument_kind kind;
	uint32_t index;                /* of the buffer or tensor map */
	struct expression *expression; /* of a number */
};

struct argument_list {
	struct argument *items;
	size_t count;
};

/* What an argument may name besides expressions; each list is NULL-terminated or NULL. */
struct argument_names {
	const char *const *buffers;
	const char *const *tensor_maps;
	bool specials; /* units, unit_count, expected */
};

/* Of the member "args" of a launch or reference. An argument is a name, an expression (int32), or
 * {"value": expression, "type": "i32|i64|f32"}. */
enum status argument_json_list(const struct json_at *object, const struct argument_names *known,
	const struct name_table *names, struct argument_list *list, struct error *err);
void argument_list_release(struct argument_list *list);
/* Numbers in place of expressions; an int32 that does not fit is an error. */
enum status argument_evaluate(const struct argument *argument, const struct value *values,
	struct plan_argument *evaluated, struct error *err);

#endif
