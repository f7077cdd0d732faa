/* SPDX-License-Identifier: MIT */
#include "engine/row.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/steps.h"

static struct json *argument_json(const struct plan *plan, const struct plan_argument *argument)
{
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
		return json_new_string(plan->buffers[argument->index].name);
	case ARGUMENT_TENSOR_MAP:
		return json_new_string(plan->tensor_maps[argument->index].name);
	case ARGUMENT_FLOAT32:
		return json_new_double(argument->real);
	default:
		return json_new_int(argument->integer);
	}
}

static struct json *dimensions_json(const uint32_t dimensions[3])
{
	struct json *list = json_new_array();

	for (int i = 0; i < 3; i++)
		json_push(list, json_new_int(dimensions[i]));
	return list;
}

static struct json *launch_json(const struct plan *plan, const struct build *build, size_t index,
	const struct kernel_resources *resources)
{
	const struct plan_launch *launch = &plan->launches[index];
	struct json *json = json_new_object(), *arguments = json_new_array();

	json_put_string(json, "source", build->units[launch->unit].name);
	json_put_string(json, "entry", launch->entry);
	json_put(json, "grid", dimensions_json(launch->grid));
	json_put(json, "block", dimensions_json(launch->block));
	json_put(json, "cluster", dimensions_json(launch->cluster));
	for (size_t i = 0; i < launch->argument_count; i++)
		json_push(arguments, argument_json(plan, &launch->arguments[i]));
	json_put(json, "args", arguments);
	json_put_int(json, "smem_dynamic_bytes", launch->smem_dynamic_bytes);
	if (launch->repeat > 1)
		json_put_int(json, "repeat", launch->repeat);
	if (!resources)
		return json;
	json_put_int(json, "smem_static_bytes", resources[index].smem_static_bytes);
	json_put_int(json, "regs_per_thread", resources[index].regs_per_thread);
	json_put_int(json, "spill_bytes", resources[index].spill_store_bytes);
	json_put_int(json, "blocks_per_sm", resources[index].blocks_per_sm);
	return json;
}

static void put_resources(struct json *json, const struct evaluation *evaluation)
{
	const struct launch_score *longest = &evaluation->score.launches[evaluation->score.longest];
	int64_t spill = 0;
	struct json *flags = json_new_array();

	for (size_t i = 0; evaluation->resources && i < evaluation->launch_count; i++)
		if (evaluation->resources[i].spill_store_bytes > spill)
			spill = evaluation->resources[i].spill_store_bytes;
	json_put_int(json, "regs_per_thread", longest->regs_per_thread);
	json_put_int(json, "smem_bytes", longest->smem_bytes);
	json_put_int(json, "spill_bytes", spill);
	for (int flag = 0; flag < FLAG_COUNT; flag++)
		if (evaluation->flags & 1u << flag)
			json_push(flags, json_new_string(kernel_flag_name((enum kernel_flag)flag)));
	json_put(json, "flags", flags);
}

static struct json *errors_json(const struct verification *verification)
{
	struct json *json = json_new_object();

	json_put_bool(json, "verified", verification->done);
	if (!verification->done)
		return json;
	json_put_int(json, "points", (int64_t)verification->points);
	json_put_int(json, "violations", (int64_t)verification->violations);
	json_put_double(json, "max_abs_error", verification->max_abs_error);
	json_put_double(json, "max_rel_error", verification->max_rel_error);
	return json;
}

static void put_buffers(struct json *json, const struct plan *plan)
{
	struct json *whole = plan_to_json(plan), *workspaces = json_new_array();
	struct json_at at = json_root(whole, "plan"), maps;

	json_put_int(json, "workspace_bytes", (int64_t)plan->workspace_bytes);
	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++) {
		static const char *const inits[] = {"none", "once", "each"};
		struct json *workspace = json_new_object();

		json_put_string(workspace, "name", plan->buffers[i].name);
		json_put_int(workspace, "bytes", (int64_t)plan->buffers[i].bytes);
		json_put_string(workspace, "init", inits[plan->buffers[i].init]);
		json_push(workspaces, workspace);
	}
	json_put(json, "workspaces", workspaces);
	if (plan->tensor_map_count && json_find(&at, "tensor_maps", &maps))
		json_put(json, "tensor_maps", json_copy(maps.node));
	json_free(whole);
}

enum status row_to_json(const struct bound_family *bound, const choice *choices,
	const struct evaluation *evaluation, struct json **row, struct error *err)
{
	struct value *slots = memory_zeroed(space_slot_count(bound->space), sizeof(*slots));
	struct plan plan = {0};
	struct build build = {0};
	struct json *json = json_new_object(), *launches = json_new_array(), *steps = NULL;
	double flop = 0, bytes = 0, seconds = evaluation->time.median * 1e-6;
	enum status status = space_values(bound->space, choices, slots, err);

	if (status == STATUS_OK)
		status = candidate_plan(bound, slots, &plan, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, slots, &build, err);
	if (status == STATUS_OK)
		status = problem_flop(bound->problem, &flop, err);
	if (status == STATUS_OK)
		status = problem_min_bytes(bound->problem, &bytes, err);
	if (status == STATUS_OK && bound->composite)
		status = steps_to_json(bound, &steps, err);
	if (status != STATUS_OK)
		goto cleanup;
	json_put_string(json, "family", evaluation->family);
	json_put(json, "configuration", configuration_to_json(bound, choices));
	if (steps)
		json_put(json, "steps", steps);
	else
		json_put(json, "defines", candidate_defines(bound, slots));
	for (size_t i = 0; i < plan.launch_count; i++)
		json_push(launches, launch_json(&plan, &build, i, evaluation->resources));
	json_put(json, "launches", launches);
	launches = NULL;
	json_put(json, "time_us", tuned_time_json(&evaluation->time));
	json_put_double(json, "tflops", flop / seconds * 1e-12);
	json_put_double(json, "gb_per_s", bytes / seconds * 1e-9);
	put_resources(json, evaluation);
	put_buffers(json, &plan);
	json_put(json, "score", score_to_json(&evaluation->score));
	json_put_string(json, "kernel_hash", evaluation->kernel_hash);
	json_put(json, "errors", errors_json(&evaluation->verification));
	*row = json;
	json = NULL;
cleanup:
	json_free(json);
	json_free(launches);
	plan_release(&plan);
	build_release(&build);
	free(slots);
	return status;
}
