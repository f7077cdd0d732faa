/* SPDX-License-Identifier: MIT */
#include "engine/explanation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/composite.h"
#include "learn/prediction.h"
#include "score/occupancy.h"

/* Fills resources from the compiled kernels; a kernel that does not compile is no error here. */
static enum status compile(struct context *context, struct explanation *explanation,
	const struct plan *plan, const struct build *build, struct error *err)
{
	struct kernel_resources *resources = memory_zeroed(plan->launch_count, sizeof(*resources));

	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct plan_launch *launch = &plan->launches[i];
		const struct stored_kernel *kernel;
		enum occupancy_limiter limiter;
		struct error reason = {0};

		if (kernel_store_wait(context->store, &build->units[launch->unit], &kernel,
			    &reason) != STATUS_OK) {
			explanation->compile_problem = string_copy(reason.message);
			free(resources);
			return STATUS_OK;
		}
		for (size_t k = 0; k < kernel->entry_count; k++)
			if (strcmp(kernel->entries[k].name, launch->entry) == 0)
				resources[i] = kernel->entries[k].resources;
		resources[i].max_clusters = -1;
		resources[i].blocks_per_sm =
			occupancy_blocks_per_sm(explanation->completion.candidate.bound->device,
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
	struct context *context, struct explanation *explanation, struct error *err)
{
	const struct composite *composite = explanation->completion.candidate.bound->composite;
	enum status status = STATUS_OK;

	if (!composite)
		return STATUS_OK;
	explanation->steps = memory_zeroed(composite->step_count, sizeof(*explanation->steps));
	for (size_t i = 0; i < composite->step_count && status == STATUS_OK; i++) {
		const struct composite_step *step = &composite->steps[i];
		struct completion completion = {.candidate = step->candidate};

		memset(completion.filled_in, true, sizeof(completion.filled_in));
		status = explanation_make(context, &completion, &explanation->steps[i], err);
		explanation->step_count += status == STATUS_OK;
	}
	return status;
}

enum status explanation_make(struct context *context, const struct completion *completion,
	struct explanation *explanation, struct error *err)
{
	const struct bound_family *bound = completion->candidate.bound;
	struct plan plan = {0};
	struct build build = {0};
	struct predictor predictor;
	struct prediction prediction;
	enum status status;

	predictor_open(&predictor, bound, NULL);
	*explanation = (struct explanation){.completion = *completion};
	explanation->slots = candidate_values(&completion->candidate, err);
	status = explanation->slots ? STATUS_OK : STATUS_FAILED;
	if (status == STATUS_OK)
		status = candidate_plan(bound, explanation->slots, &plan, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, explanation->slots, &build, err);
	if (status == STATUS_OK && context->store)
		status = compile(context, explanation, &plan, &build, err);
	if (status == STATUS_OK)
		status = predict(
			&predictor, explanation->slots, explanation->resources, &prediction, err);
	if (status == STATUS_OK) {
		const struct launch_score *longest = predictor_longest(&predictor);

		explanation->score = predictor_take_score(&predictor);
		status = candidate_facts(bound, explanation->slots, longest->smem_bytes,
			longest->blocks_per_sm, &explanation->facts, err);
	}
	if (status == STATUS_OK)
		status = explain_steps(context, explanation, err);
	plan_release(&plan);
	build_release(&build);
	predictor_close(&predictor);
	if (status != STATUS_OK)
		explanation_release(explanation);
	return status;
}

void explanation_release(struct explanation *explanation)
{
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

/* ---- steps of a composite family ---- */
static enum status consider(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct candidate *best, struct error *err)
{
	struct completion completion = {0};
	struct bound_family *bound = NULL;
	bool applies, found = false;
	enum status status = family_applies(family, problem, device, &applies, NULL, err);

	if (status != STATUS_OK || !applies)
		return status;
	status = family_bind(family, problem, device, NULL, &bound, err);
	if (status == STATUS_OK)
		status = completion_find(bound, "", &found, &completion, NULL, err);
	if (status != STATUS_OK || !found ||
		(best->bound &&
			completion.candidate.prediction.time_us >= best->prediction.time_us)) {
		bound_family_free(bound);
		return status;
	}
	candidate_release(best);
	*best = completion.candidate;
	return STATUS_OK;
}

static enum status choose_step(struct context *context, struct bound_family *bound, size_t step,
	bool *found, struct text *why, struct error *err)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	struct candidate best = {0};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < context->catalogue.family_count && status == STATUS_OK; i++) {
		const struct family *family = context->catalogue.families[i];

		if (family_operation(family) == problem->operation && !family_is_composite(family))
			status = consider(family, problem, bound->device, &best, err);
	}
	*found = status == STATUS_OK && best.bound;
	if (*found)
		return composite_choose(bound, step, &best, err);
	if (status == STATUS_OK && why)
		text_appendf(why, "%s: no family can do its step %s %s", family_name(bound->family),
			operation_name(problem->operation), problem->text);
	candidate_release(&best);
	return status;
}

enum status explanation_choose_steps(struct context *context, struct bound_family *bound,
	bool *found, struct text *why, struct error *err)
{
	enum status status = composite_open(&context->catalogue, bound, err);

	*found = status == STATUS_OK;
	for (size_t i = 0; *found && i < bound->composite->step_count && status == STATUS_OK; i++)
		status = choose_step(context, bound, i, found, why, err);
	return status;
}

/* ---- JSON ---- */
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
	const struct problem *problem = step->completion.candidate.bound->problem;
	struct json *json = explanation_to_json(step);

	json_put_string(json, "operation", operation_name(problem->operation));
	json_put(json, "problem", problem_to_json(problem));
	return json;
}

struct json *explanation_to_json(const struct explanation *explanation)
{
	const struct candidate *candidate = &explanation->completion.candidate;
	const struct bound_family *bound = candidate->bound;
	struct json *json = json_new_object(), *filled_in = json_new_array();

	json_put_string(json, "family", family_name(bound->family));
	json_put(json, "configuration", configuration_to_json(bound, candidate->choices));
	for (size_t i = 0; i < space_parameter_count(bound->space); i++)
		if (explanation->completion.filled_in[i])
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
