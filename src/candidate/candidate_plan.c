/* SPDX-License-Identifier: MIT
 *
 * The plan of a candidate: everything evaluated.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "candidate/build_make.h"
#include "candidate/candidate.h"
#include "candidate/composite.h"
#include "family/family.h"
#include "family/operation.h"

static enum status plan_buffers(const struct family *family, const struct value *slots,
	struct plan *plan, struct error *err)
{
	const struct operation *operation = family->operation;
	enum status status;

	plan->tensor_count = operation->tensor_count;
	plan->buffer_count = operation->tensor_count + family->workspace_count;
	plan->buffers = memory_zeroed(plan->buffer_count + 1, sizeof(*plan->buffers));
	status = operation_tensors_evaluate(operation, slots, plan->buffers, err);
	for (size_t i = 0; i < family->workspace_count && status == STATUS_OK; i++) {
		struct plan_buffer *buffer = &plan->buffers[operation->tensor_count + i];

		status = workspace_evaluate(&family->workspaces[i], slots, buffer, err);
		if (status == STATUS_OK && __builtin_add_overflow(plan->workspace_bytes,
						   buffer->bytes, &plan->workspace_bytes))
			status = error_set(err, STATUS_BAD_INPUT,
				"%s: expected workspaces of less than 2^64 bytes, found more",
				family->name);
	}
	return status;
}

/* Every map in the family's order, those whose `when` is false with rank 0. */
static enum status plan_tensor_maps(const struct family *family, const struct value *slots,
	struct plan *plan, struct error *err)
{
	plan->tensor_map_count = family->tensor_map_count;
	plan->tensor_maps = memory_zeroed(family->tensor_map_count + 1, sizeof(*plan->tensor_maps));
	for (size_t i = 0; i < family->tensor_map_count; i++) {
		const struct tensor_map *map = &family->tensor_maps[i];
		struct plan_tensor_map *result = &plan->tensor_maps[i];
		enum dtype dtype = plan->buffers[map->buffer].dtype;
		bool is_there = true;
		enum status status = STATUS_OK;

		if (map->when)
			status = expression_test(map->when, slots, &is_there, err);
		if (status == STATUS_OK && is_there)
			status = tensor_map_evaluate(map, dtype, slots, result, err);
		if (status != STATUS_OK)
			return status;
		string_put(result->name, sizeof(result->name), map->name);
		result->buffer = map->buffer;
		result->dtype = dtype;
	}
	return STATUS_OK;
}

static enum status plan_arguments(const struct launch *launch, const struct value *slots,
	struct plan_launch *result, struct error *err)
{
	result->argument_count = launch->arguments.count;
	result->arguments = memory_zeroed(launch->arguments.count + 1, sizeof(*result->arguments));
	for (size_t i = 0; i < launch->arguments.count; i++) {
		enum status status = argument_evaluate(
			&launch->arguments.items[i], slots, &result->arguments[i], err);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status plan_launch(const struct bound_family *bound, const struct launch *launch,
	const struct value *slots, const int *units, struct plan_launch *result, struct error *err)
{
	struct launch_shape shape;
	enum status status = launch_shape_evaluate(launch, slots, bound->device, &shape, err);

	if (status != STATUS_OK)
		return status;
	result->unit = (uint32_t)units[launch->source];
	result->entry = string_copy(launch->entry);
	for (size_t i = 0; i < 3; i++) {
		result->grid[i] = shape.grid[i];
		result->block[i] = shape.block[i];
		result->cluster[i] = shape.cluster[i];
	}
	result->smem_dynamic_bytes = shape.smem_dynamic_bytes;
	result->repeat = shape.repeat;
	return plan_arguments(launch, slots, result, err);
}

static enum status plan_launches(const struct bound_family *bound, const struct value *slots,
	const int *units, struct plan *plan, struct error *err)
{
	const struct family *family = bound->family;

	plan->launches = memory_zeroed(family->launch_count + 1, sizeof(*plan->launches));
	for (size_t i = 0; i < family->launch_count; i++) {
		bool is_active;
		enum status status = launch_is_active(&family->launches[i], slots, &is_active, err);

		if (status == STATUS_OK && is_active)
			status = plan_launch(bound, &family->launches[i], slots, units,
				&plan->launches[plan->launch_count++], err);
		if (status != STATUS_OK)
			return status;
	}
	if (plan->launch_count == 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a launch that is active, found none", family->file);
	return STATUS_OK;
}

enum status candidate_plan(const struct bound_family *bound, const struct value *slots,
	struct plan *plan, struct error *err)
{
	const struct family *family = bound->family;
	int *units = memory_zeroed(family->source_count + 1, sizeof(*units));
	enum status status = family_units(family, slots, units, err);

	*plan = (struct plan){0};
	if (status == STATUS_OK)
		status = plan_buffers(family, slots, plan, err);
	if (status == STATUS_OK)
		status = plan_tensor_maps(family, slots, plan, err);
	if (status == STATUS_OK)
		status = family->step_count ? composite_plan(bound, plan, err)
					    : plan_launches(bound, slots, units, plan, err);
	if (status != STATUS_OK)
		plan_release(plan);
	free(units);
	return status;
}
