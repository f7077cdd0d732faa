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

/* Memory that the launches of a family share. */
struct workspace {
	const char *name;
	struct expression *bytes;
	enum buffer_init init;
	struct expression *dtype; /* for tensor maps over it */
};
RECORD_DECLARE(struct workspace, workspace_record);
enum status workspace_evaluate(const struct workspace *workspace, const struct value *values,
	struct plan_buffer *buffer, struct error *err);

struct tensor_map {
	const char *name;
	uint32_t buffer;         /* of the plan */
	struct expression *when; /* NULL: always */
	struct expression_list dims, strides, box;
	struct expression *swizzle, *l2_promotion; /* NULL: 0 */
};
RECORD_DECLARE(struct tensor_map, tensor_map_record);
/* dtype: of the buffer. Checks the driver's rules. */
enum status tensor_map_evaluate(const struct tensor_map *map, enum dtype dtype,
	const struct value *values, struct plan_tensor_map *evaluated, struct error *err);

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
