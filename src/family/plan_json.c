/* SPDX-License-Identifier: MIT
 *
 * Plans as JSON: what the measuring worker is sent, and what exporters and tests read.
 *
 *	{"buffers": [...], "tensors": n, "tensor_maps": [...], "launches": [...]}
 *	{"tensors": [...], "output": n, "launch": {...}, "unit": "row", ...}
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/plan.h"
#include "family/plan_part.h"

static struct json *array_of(
	const void *items, size_t count, size_t size, struct json *(*to_json)(const void *item))
{
	struct json *array = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(array, to_json((const char *)items + i * size));
	return array;
}

static struct json *buffer_item(const void *item)
{
	return plan_buffer_to_json(item);
}

static struct json *map_item(const void *item)
{
	return plan_tensor_map_to_json(item);
}

static struct json *launch_item(const void *item)
{
	return plan_launch_to_json(item);
}

struct json *plan_to_json(const struct plan *plan)
{
	struct json *object = json_new_object();

	json_put_int(object, "tensors", (int64_t)plan->tensor_count);
	json_put(object, "buffers",
		array_of(plan->buffers, plan->buffer_count, sizeof(*plan->buffers), buffer_item));
	json_put(object, "tensor_maps",
		array_of(plan->tensor_maps, plan->tensor_map_count, sizeof(*plan->tensor_maps),
			map_item));
	json_put(object, "launches",
		array_of(plan->launches, plan->launch_count, sizeof(*plan->launches), launch_item));
	return object;
}

typedef enum status read_item(const struct json_at *at, void *item, struct error *err);

/* *items is allocated with room for one more than there are, so that it is never NULL. */
static enum status read_array(const struct json_at *object, const char *key, size_t size,
	read_item *read, void **items, size_t *count, struct error *err)
{
	struct json_at at;

	if (json_member(object, key, &at, err) != STATUS_OK ||
		json_expect(&at, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	*items = memory_zeroed(json_count(&at) + 1, size);
	for (size_t i = 0; i < json_count(&at); i++) {
		struct json_at item = json_item(&at, i);

		++*count;
		if (read(&item, (char *)*items + i * size, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static enum status read_buffer(const struct json_at *at, void *item, struct error *err)
{
	return plan_buffer_from_json(at, item, err);
}

static enum status read_map(const struct json_at *at, void *item, struct error *err)
{
	return plan_tensor_map_from_json(at, item, err);
}

static enum status read_launch(const struct json_at *at, void *item, struct error *err)
{
	return plan_launch_from_json(at, item, err);
}

static enum status check_indices(
	const struct json_at *at, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		if (plan->tensor_maps[i].buffer >= plan->buffer_count)
			return json_error(at, err, "tensor maps of buffers that are there");
	for (size_t i = 0; i < plan->launch_count; i++) {
		for (size_t k = 0; k < plan->launches[i].argument_count; k++) {
			const struct plan_argument *argument = &plan->launches[i].arguments[k];

			if ((argument->kind == ARGUMENT_BUFFER &&
				    argument->index >= plan->buffer_count) ||
				(argument->kind == ARGUMENT_TENSOR_MAP &&
					argument->index >= plan->tensor_map_count))
				return json_error(at, err, "arguments that are there");
		}
	}
	return STATUS_OK;
}

static enum status read_plan(const struct json_at *at, struct plan *plan, struct error *err)
{
	static const char *const keys[] = {"tensors", "buffers", "tensor_maps", "launches", NULL};
	void *buffers = NULL, *maps = NULL, *launches = NULL;
	enum status status = json_expect_keys(at, keys, err);
	int64_t tensors = 0;

	if (status == STATUS_OK)
		status = json_member_int(at, "tensors", &tensors, err);
	if (status == STATUS_OK)
		status = read_array(at, "buffers", sizeof(*plan->buffers), read_buffer, &buffers,
			&plan->buffer_count, err);
	plan->buffers = buffers;
	if (status == STATUS_OK)
		status = read_array(at, "tensor_maps", sizeof(*plan->tensor_maps), read_map, &maps,
			&plan->tensor_map_count, err);
	plan->tensor_maps = maps;
	if (status == STATUS_OK)
		status = read_array(at, "launches", sizeof(*plan->launches), read_launch, &launches,
			&plan->launch_count, err);
	plan->launches = launches;
	if (status != STATUS_OK)
		return status;
	if (tensors < 0 || (uint64_t)tensors > plan->buffer_count)
		return json_error(at, err, "a number of tensors within the buffers");
	plan->tensor_count = (size_t)tensors;
	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++)
		if (__builtin_add_overflow(
			    plan->workspace_bytes, plan->buffers[i].bytes, &plan->workspace_bytes))
			return json_error(at, err, "workspaces of less than 2^64 bytes");
	return check_indices(at, plan, err);
}

enum status plan_from_json(const struct json_at *at, struct plan *plan, struct error *err)
{
	enum status status;

	*plan = (struct plan){0};
	status = read_plan(at, plan, err);
	if (status != STATUS_OK)
		plan_release(plan);
	return status;
}

struct json *reference_plan_to_json(const struct reference_plan *reference)
{
	struct json *object = json_new_object();

	json_put(object, "tensors",
		array_of(reference->tensors, reference->tensor_count, sizeof(*reference->tensors),
			buffer_item));
	json_put_int(object, "output", reference->output);
	json_put(object, "launch", plan_launch_to_json(&reference->launch));
	json_put_int(object, "units_per_block", reference->units_per_block);
	json_put_string(object, "unit", reference->unit_is_row ? "row" : "element");
	json_put_double(object, "tolerance_abs", reference->tolerance_abs);
	json_put_double(object, "tolerance_rel", reference->tolerance_rel);
	return object;
}

static enum status read_reference(
	const struct json_at *at, struct reference_plan *reference, struct error *err)
{
	static const char *const keys[] = {"tensors", "output", "launch", "units_per_block", "unit",
		"tolerance_abs", "tolerance_rel", NULL};
	int64_t output = 0, units = 0;
	struct json_at launch;
	void *tensors = NULL;
	const char *unit = NULL;
	enum status status = json_expect_keys(at, keys, err);

	if (status == STATUS_OK)
		status = read_array(at, "tensors", sizeof(*reference->tensors), read_buffer,
			&tensors, &reference->tensor_count, err);
	reference->tensors = tensors;
	if (status != STATUS_OK || json_member(at, "launch", &launch, err) != STATUS_OK ||
		plan_launch_from_json(&launch, &reference->launch, err) != STATUS_OK ||
		json_member_int(at, "output", &output, err) != STATUS_OK ||
		json_member_int(at, "units_per_block", &units, err) != STATUS_OK ||
		json_member_string(at, "unit", &unit, err) != STATUS_OK ||
		json_member_double(at, "tolerance_abs", &reference->tolerance_abs, err) !=
			STATUS_OK ||
		json_member_double(at, "tolerance_rel", &reference->tolerance_rel, err) !=
			STATUS_OK)
		return STATUS_BAD_INPUT;
	reference->unit_is_row = strcmp(unit, "row") == 0;
	if ((!reference->unit_is_row && strcmp(unit, "element") != 0) || units < 1 ||
		units > UINT32_MAX || output < 0 || (uint64_t)output >= reference->tensor_count)
		return json_error(at, err, "a unit, units per block and an output that is there");
	reference->units_per_block = (uint32_t)units;
	reference->output = (uint32_t)output;
	return STATUS_OK;
}

enum status reference_plan_from_json(
	const struct json_at *at, struct reference_plan *reference, struct error *err)
{
	enum status status;

	*reference = (struct reference_plan){0};
	status = read_reference(at, reference, err);
	if (status != STATUS_OK)
		reference_plan_release(reference);
	return status;
}
