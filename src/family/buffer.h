/* SPDX-License-Identifier: MIT
 *
 * What kernels get in addition to an operation's tensors (tensor.h): a family's workspaces, tensor
 * maps (TMA descriptors) and arguments; and element types. JSON describes them with expressions,
 * which are evaluated into a plan.
 */
#ifndef FAMILY_BUFFER_H
#define FAMILY_BUFFER_H

#include "family/expression_json.h"
#include "plan/reference_plan.h"

/* An element type, a struct expression *: its bare name, or an expression that gives one; NULL:
 * fp32. */
extern const struct record_custom dtype_member;
/* Appends all element types to the hint, which may already name the nearest one. */
enum status dtype_list_types(struct error *err);
/* Where nothing is said: the operation's key "dtype" if it has one of these types, else fp32. */
enum status dtype_default(
	const struct reading *reading, struct expression **dtype, struct error *err);
enum status dtype_evaluate(const struct expression *expression, const struct value *values,
	enum dtype *dtype, struct error *err);

/* Memory that the launches of a family share, and maps, whose numbers may be computed. */
RECORD_DECLARE(struct plan_buffer, workspace_record);
RECORD_DECLARE(struct plan_tensor_map, tensor_map_record);

/* The index among a plan's buffers, by the name of a tensor or workspace: a member of type
 * uint32_t. */
extern const struct record_custom buffer_member;

/* A name (of a buffer or tensor map; of a reference also units, unit_count, expected), an
 * expression (int32), or {"value": expression, "type": "f64"}. */
struct argument {
	enum argument_kind kind;
	uint32_t index;                /* of the buffer or tensor map */
	struct expression *expression; /* of a number */
};
struct argument_list {
	struct argument *items;
	size_t count;
};
extern const struct record_custom argument_member;
/* Numbers in place of expressions; an int32 that does not fit is an error. */
enum status argument_evaluate(const struct argument *argument, const struct value *values,
	struct plan_argument *evaluated, struct error *err);
/* All of them, as those of the launch. */
enum status arguments_evaluate(const struct argument_list *arguments, const struct value *values,
	struct plan_launch *launch, struct error *err);

#endif
