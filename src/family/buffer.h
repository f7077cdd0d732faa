/* SPDX-License-Identifier: MIT
 *
 * Workspaces, tensor maps (TMA descriptors), arguments and default element types of a family.
 */
#ifndef FAMILY_BUFFER_H
#define FAMILY_BUFFER_H

#include "family/computed.h"
#include "plan/reference_plan.h"

/* Appends the names of all element types to the error's hint. */
enum status dtype_list_types(struct error *err);
/* Adds the default element type as a computed member: the key "dtype" if all of its values are
 * element types. Otherwise the type stays fp32. list and offset are those of struct computed. */
enum status dtype_default(const struct expression_reading *reading, struct computed_list *computed,
	ptrdiff_t list, size_t offset, struct error *err);

RECORD_DECLARE(struct plan_buffer, workspace_record);
RECORD_DECLARE(struct plan_tensor_map, tensor_map_record);

/* Reads the name of a tensor or workspace into its index, a uint32_t. */
extern const struct record_custom buffer_member;

/* An argument is a name (buffer, tensor map; for references also units, unit_count, expected), an
 * expression (int32), or {"value", "type"}. */
struct argument_list {
	struct plan_argument *items;
	size_t count;
	struct computed_list computed; /* numbers, with offsets from the first item */
};
extern const struct record_custom argument_list_member;
enum status arguments_evaluate(const struct argument_list *list, struct value *values,
	struct plan_launch *launch, struct error *err);

#endif
