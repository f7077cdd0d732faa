/* SPDX-License-Identifier: MIT */
#include "engine/explanation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/composite.h"
#include "learn/prediction.h"
#include "score/occupancy.h"

/* Fills resources from the compiled kernels; a kernel that does not compile is no error here. */
static enum status compile(struct context *bench, struct explanation *explanation,
	const struct plan *plan, const struct build *build, struct error *err)
{
	struct kernel_resources *resources = memory_zeroed(plan->launch_count, sizeof(*resources));

	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct plan_launch *launch = &plan->launches[i];
		const struct stored_kernel *kernel;
		enum occupancy_limiter limiter;
		struct error reason = {0};

		if (kernel_store_wait(bench->store, &build->units[launch->unit], &kernel,
			    &reason) != STATUS_OK) {
			explanation->compile_problem = string_copy(reason.message);
			free(resources);
			return STATUS_OK;
		}
		for (size_t k = 0; k < kernel->entry_count; k++)
			if (strcmp(kernel->entries[k].name, launch->entry) == 0)
				resources[i] = kernel->entries[k].resources;
		resources[i].max_clusters = -1;
		resources[i].blocks_per_sm = occupancy_blocks_per_sm(explanation->bound->device,
			(int)(launch->block[0] * launch->block[1] * launch->block[2]),
			resources[i].regs_per_thread, resources[i].smem_static_bytes,
			launch->smem_dynamic_bytes, &limiter);
	}
	(void)err;
	explanation->resources = resources;
	explanation->launch_count = plan->launch_count;
	return STATUS_OK;
}

/* Each step looked at on its own. */
static enum status explain_steps(
	struct context *bench, struct explanation *explanation, struct error *err)
{
	const struct composite *composite = explanation->bound->composite;
	enum status status = STATUS_OK;

	if (!composite)
		return STATUS_OK;
	explanation->steps = memory_zeroed(composite->step_count, sizeof(*explanation->steps));
	for (size_t i = 0; i < composite->step_count && status == STATUS_OK; i++) {
		const struct composite_step *step = &composite->steps[i];
		size_t parameters = space_parameter_count(step->bound->space);
		struct completion completion = {
			.configuration = memory_zeroed(parameters + 1, sizeof(choice)),
			.filled_in = memory_zeroed(parameters + 1, sizeof(bool))};

		for (size_t k = 0; k < parameters; k++) {
			completion.configuration[k] = step->configuration[k];
			completion.filled_in[k] = true;
		}
		status = explanation_make(
			bench, step->bound, &completion, &explanation->steps[i], err);
		explanation->step_count += status == STATUS_OK;
	}
	return status;
}

enum status explanation_make(struct context *bench, const struct bound_family *bound,
	struct completion *completion, struct explanation *explanation, struct error *err)
{
	struct plan plan = {0};
	struct build build = {0};
	struct predictor predictor;
	double predicted_us;
	enum status status;

	predictor_open(&predictor, bound, NULL);
	*explanation = (struct explanation){.bound = bound,
		.configuration = completion->configuration,
		.filled_in = completion->filled_in};
	*completion = (struct completion){0};
	explanation->slots =
		memory_zeroed(space_slot_count(bound->space), sizeof(*explanation->slots));
	status = space_values(bound->space, explanation->configuration, explanation->slots, err);
	if (status == STATUS_OK)
		status = candidate_plan(bound, explanation->slots, &plan, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, explanation->slots, &build, err);
	if (status == STATUS_OK && bench->store)
		status = compile(bench, explanation, &plan, &build, err);
	if (status == STATUS_OK)
		status = predict(
			&predictor, explanation->slots, explanation->resources, &predicted_us, err);
	if (status == STATUS_OK) {
		const struct launch_score *longest = predictor_longest(&predictor);

		explanation->score = predictor_take_score(&predictor);
		status = candidate_facts(bound, explanation->slots, longest->smem_bytes,
			longest->blocks_per_sm, &explanation->facts, err);
	}
	if (status == STATUS_OK)
		status = explain_steps(bench, explanation, err);
	plan_release(&plan);
	build_release(&build);
	predictor_close(&predictor);
	if (status != STATUS_OK)
		explanation_release(explanation);
	return status;
}

void explanation_release(struct explanation *explanation)
{
	free(explanation->configuration);
	free(explanation->filled_in);
	free(explanation->slots);
	score_release(&explanation->score);
	free(explanation->resources);
	free(explanation->compile_problem);
	fact_list_release(&explanation->facts);
	for (size_t i = 0; i < explanation->step_count; i++)
		explanation_release(&explanation->steps[i]);
	free(explanation->steps);
	*explanation = (struct explanation){0};
}

static struct json *value_json(struct value value)
{
	struct json *list;
	struct text text = {0};
	struct json *json;

	switch (value.type) {
	case VALUE_BOOL:
		return json_new_bool(value.boolean);
	case VALUE_INT:
		return json_new_int(value.integer);
	case VALUE_REAL:
		return json_new_double(value.real);
	case VALUE_LIST:
		list = json_new_array();
		for (size_t i = 0; i < value.list->count; i++)
			json_push(list, value_json(value.list->items[i]));
		return list;
	default:
		value_format(value, &text);
		json = json_new_string(text_string(&text));
		text_release(&text);
		return json;
	}
}

static struct json *facts_json(const struct explanation *explanation)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < explanation->facts.count; i++) {
		const struct fact *fact = &explanation->facts.items[i];
		struct json *json = json_new_object();

		json_put_string(json, "name", fact->name);
		json_put(json, "value", value_json(fact->value));
		json_put_string(json, "unit", fact->unit);
		json_put_string(json, "source", fact->source);
		json_push(list, json);
	}
	return list;
}

static struct json *resources_json(const struct explanation *explanation)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < explanation->launch_count; i++) {
		const struct kernel_resources *resources = &explanation->resources[i];
		struct json *json = json_new_object(), *flags = json_new_array();

		json_put_int(json, "regs_per_thread", resources->regs_per_thread);
		json_put_int(json, "smem_static_bytes", resources->smem_static_bytes);
		json_put_int(json, "spill_bytes", resources->spill_store_bytes);
		json_put_int(json, "stack_bytes", resources->stack_bytes);
		json_put_int(json, "blocks_per_sm", resources->blocks_per_sm);
		for (int flag = 0; flag < FLAG_COUNT; flag++)
			if (resources->flags & 1u << flag)
				json_push(flags,
					json_new_string(kernel_flag_name((enum kernel_flag)flag)));
		json_put(json, "flags", flags);
		json_push(list, json);
	}
	return list;
}

/* Of all launches together: what crosses the L2 cache's and the memory's ports. */
static struct json *traffic_json(const struct explanation *explanation)
{
	struct json *json = json_new_object();
	double l2_bytes = 0, dram_bytes = 0;

	for (size_t i = 0; i < explanation->score.launch_count; i++) {
		l2_bytes += explanation->score.launches[i].l2_bytes;
		dram_bytes += explanation->score.launches[i].dram_bytes;
	}
	json_put_double(json, "l2_bytes", l2_bytes);
	json_put_double(json, "dram_bytes", dram_bytes);
	return json;
}

static struct json *step_json(const struct explanation *step)
{
	const struct problem *problem = step->bound->problem;
	struct json *json = explanation_to_json(step);

	json_put_string(json, "operation", operation_name(problem->operation));
	json_put(json, "problem", problem_to_json(problem));
	return json;
}

struct json *explanation_to_json(const struct explanation *explanation)
{
	const struct bound_family *bound = explanation->bound;
	struct json *json = json_new_object(), *filled_in = json_new_array();

	json_put_string(json, "family", family_name(bound->family));
	json_put(json, "configuration", configuration_to_json(bound, explanation->configuration));
	for (size_t i = 0; i < space_parameter_count(bound->space); i++)
		if (explanation->filled_in[i])
			json_push(
				filled_in, json_new_string(space_parameter_name(bound->space, i)));
	json_put(json, "filled_in", filled_in);
	json_put(json, "score", score_to_json(&explanation->score));
	json_put(json, "traffic", traffic_json(explanation));
	json_put(json, "resources",
		explanation->resources ? resources_json(explanation) : json_new_string(NULL));
	if (explanation->compile_problem)
		json_put_string(json, "compile_problem", explanation->compile_problem);
	json_put(json, "facts", facts_json(explanation));
	if (explanation->step_count) {
		struct json *steps = json_new_array();

		for (size_t i = 0; i < explanation->step_count; i++)
			json_push(steps, step_json(&explanation->steps[i]));
		json_put(json, "steps", steps);
	}
	return json;
}
