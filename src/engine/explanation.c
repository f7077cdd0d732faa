/* SPDX-License-Identifier: MIT */
#include "engine/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "candidate/composite.h"
#include "candidate/configuration.h"
#include "engine/evaluator.h"
#include "learn/prediction.h"
#include "space/enumerate.h"

/* ---- completing a configuration ---- */
/* Choices that are fixed while the rest is searched; -1: free. */
struct restriction {
	struct bound_family *bound;
	struct predictor predictor;
	int fixed[SPACE_PARAMETERS_MAX];
	size_t parameters;
	struct completion *completion;
	struct error *err;
	enum status status;
};

static double total_units(const struct work *work)
{
	double units = 0;

	for (size_t i = 0; i < work->launch_count; i++)
		units += work->launches[i].units;
	return units;
}

/* Whether another value of this parameter, all else at its default, changes the number of units. */
static bool changes_units(struct restriction *restriction, const choice *defaults, size_t parameter)
{
	const struct space *space = restriction->bound->space;
	const struct value_list *values = space_parameter_values(space, parameter);
	choice configuration[SPACE_PARAMETERS_MAX];
	struct prediction prediction;
	double first = -1;
	bool changes = false;

	memcpy(configuration, defaults, restriction->parameters * sizeof(*defaults));
	for (size_t i = 0; i < values->count && !changes; i++) {
		double units;

		configuration[parameter] = (choice)i;
		if (predict_choices(&restriction->predictor, configuration, &prediction, NULL) !=
			STATUS_OK)
			continue;
		units = total_units(restriction->predictor.work);
		changes = first >= 0 && fabs(units - first) > 0.5;
		first = units;
	}
	return changes;
}

static bool consider_configuration(
	const choice *configuration, const struct value *slots, void *context)
{
	struct restriction *restriction = context;
	struct candidate *best = &restriction->completion->candidate;
	struct prediction prediction;

	for (size_t i = 0; i < restriction->parameters; i++)
		if (restriction->fixed[i] >= 0 && configuration[i] != restriction->fixed[i])
			return true;
	restriction->status =
		predict(&restriction->predictor, slots, NULL, &prediction, restriction->err);
	if (restriction->status != STATUS_OK)
		return false;
	if (!restriction->completion->legal || prediction.time_us < best->prediction.time_us) {
		best->prediction = prediction;
		memcpy(best->choices, configuration,
			restriction->parameters * sizeof(*configuration));
	}
	restriction->completion->legal++;
	return true;
}

static enum status read_given(const struct bound_family *bound, const char *text, int *fixed,
	struct completion *completion, struct error *err)
{
	const struct space *space = bound->space;
	size_t count = space_parameter_count(space);
	struct value *slots = memory_zeroed(space_slot_count(space), sizeof(*slots));
	bool given[SPACE_PARAMETERS_MAX] = {false};
	enum status status = STATUS_OK;

	if (*text)
		status = configuration_parse(bound, text, slots, given, err);
	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		struct text value = {0};

		completion->filled_in[i] = !given[i];
		fixed[i] = -1;
		if (!given[i])
			continue;
		fixed[i] = space_choice_find(space, i, slots[space_parameter_slot(space, i)]);
		if (fixed[i] >= 0)
			continue;
		value_format(slots[space_parameter_slot(space, i)], &value);
		status = configuration_refuse(bound, i, text_string(&value), err);
		text_release(&value);
		error_context(err, "%s", family_name(bound->family));
	}
	free(slots);
	return status;
}

static enum status search(struct restriction *restriction)
{
	const enum status status = space_enumerate(restriction->bound->space,
		consider_configuration, restriction, NULL, restriction->err);

	return status == STATUS_OK ? restriction->status : status;
}

enum status completion_find(struct bound_family *bound, const char *text, bool *found,
	struct completion *completion, struct text *why, struct error *err)
{
	const size_t count = space_parameter_count(bound->space);
	struct restriction restriction = {
		.bound = bound, .parameters = count, .completion = completion, .err = err};
	int given[SPACE_PARAMETERS_MAX];
	choice defaults[SPACE_PARAMETERS_MAX];
	bool has_defaults = false;
	enum status status;

	*completion = (struct completion){.candidate.bound = bound};
	*found = false;
	predictor_open(&restriction.predictor, bound, NULL);
	status = read_given(bound, text, given, completion, err);
	if (status == STATUS_OK)
		status = configuration_default(bound, defaults, &has_defaults, err);
	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		restriction.fixed[i] = given[i] >= 0 ? given[i]
				       : has_defaults && changes_units(&restriction, defaults, i)
					       ? defaults[i]
					       : -1;
	if (status == STATUS_OK)
		status = search(&restriction);
	if (status == STATUS_OK && !completion->legal) {
		memcpy(restriction.fixed, given, count * sizeof(*given));
		status = search(&restriction);
	}
	*found = completion->legal > 0;
	if (status == STATUS_OK && !*found && why)
		text_appendf(why, "%s: no legal configuration has %s", family_name(bound->family),
			*text ? text : "any value");
	predictor_close(&restriction.predictor);
	return status;
}

/* ---- looking closely ---- */
/* Score and resources of the compiled kernels; one that does not compile is no error here. */
static enum status compile(
	struct context *context, struct explanation *explanation, struct error *err)
{
	const struct candidate *candidate = &explanation->completion.candidate;
	struct evaluator evaluator = {.context = context, .keeps_pruned = true};
	struct trial *trial;
	enum status status = evaluator_add(&evaluator, candidate, TRIAL_COMPILED, &trial, err);

	if (status == STATUS_OK)
		status = evaluator_run(&evaluator, err);
	if (status == STATUS_OK) {
		struct evaluation *evaluation = &trial->evaluation;

		if (evaluation->outcome != OUTCOME_OK && !evaluation->resources && context->store)
			explanation->compile_problem =
				string_format("expected it to compile, found %s: %s",
					outcome_name(evaluation->outcome),
					evaluation->detail ? evaluation->detail : "no message");
		explanation->slots = trial->slots;
		explanation->score = evaluation->score;
		explanation->resources = evaluation->resources;
		explanation->launch_count = evaluation->launch_count;
		trial->slots = NULL;
		evaluation->score = (struct score){0};
		evaluation->resources = NULL;
	}
	evaluator_release(&evaluator);
	return status;
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
	enum status status;

	*explanation = (struct explanation){.completion = *completion};
	status = compile(context, explanation, err);
	if (status == STATUS_OK) {
		const struct launch_score *longest =
			&explanation->score.launches[explanation->score.longest];

		status = candidate_facts(completion->candidate.bound, explanation->slots,
			longest->smem_bytes, longest->blocks_per_sm, &explanation->facts, err);
	}
	if (status == STATUS_OK)
		status = explain_steps(context, explanation, err);
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
	struct bound_family *bound;
	bool found = false;
	enum status status =
		family_bind_if_applies(family, problem, device, NULL, &bound, NULL, err);

	if (status != STATUS_OK || !bound)
		return status;
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

		if (family->operation == problem->operation && !family_is_composite(family))
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
static struct json *facts_json(const struct explanation *explanation)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < explanation->facts.count; i++) {
		const struct fact *fact = &explanation->facts.items[i];
		struct json *json = json_new_object();

		json_put_string(json, "name", fact->name);
		json_put(json, "value", value_to_json(fact->value));
		json_put_string(json, "unit", fact->unit);
		json_put_string(json, "source", fact->source);
		json_push(list, json);
	}
	return list;
}

#define AMOUNT(field, key, meaning) RECORD_VALUE(struct kernel_resources, field, key, meaning)
static const struct record_member resources_members[] = {
	AMOUNT(regs_per_thread, "regs_per_thread", "registers of a thread"),
	AMOUNT(smem_static_bytes, "smem_static_bytes", "shared memory that the kernel declares"),
	AMOUNT(spill_store_bytes, "spill_bytes", "written for want of registers, per thread"),
	AMOUNT(stack_bytes, "stack_bytes", "of a thread"),
	AMOUNT(blocks_per_sm, "blocks_per_sm", "resident at once"),
	RECORD_FLAGS(struct kernel_resources, flags, kernel_flag_names, "flags",
		"what the compiler remarked"),
};
#undef AMOUNT
static RECORD_DEFINE(
	struct kernel_resources, resources_record, resources_members, .name = "resources");

static struct json *resources_json(const struct explanation *explanation)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < explanation->launch_count; i++)
		json_push(list, record_to_json(&resources_record, &explanation->resources[i]));
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
