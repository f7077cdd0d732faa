/* SPDX-License-Identifier: MIT */
#include "engine/explanation.h"

#include <math.h>

#include "base/record_write.h"
#include "candidate/composite.h"
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
	/* what was asked for, the rest at its defaults; if there is that */
	choice tried[SPACE_PARAMETERS_MAX];
	bool has_tried, is_complete; /* is_complete: no default in it */
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
	const struct value_list *values = &space->parameters[parameter].values;
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

static bool is_asked_for(const choice *configuration, size_t count, void *context)
{
	const int fixed = ((const struct restriction *)context)->fixed[count - 1];

	return fixed < 0 || configuration[count - 1] == fixed;
}

static bool consider_configuration(
	const choice *configuration, const struct value *slots, void *context)
{
	struct restriction *restriction = context;
	struct candidate *best = &restriction->completion->candidate;
	struct prediction prediction;

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
	CLEANUP(memory_free)
	struct value *slots = memory_zeroed(space->names.count, sizeof(*slots));
	bool given[SPACE_PARAMETERS_MAX] = {false};

	if (*text)
		TRY(configuration_parse(bound, text, slots, given, err));
	for (size_t i = 0; i < space->parameter_count; i++) {
		const struct value value = slots[space_parameter_slot(space, i)];
		CLEANUP(text_release) struct text found = {0};

		completion->filled_in[i] = !given[i];
		fixed[i] = given[i] ? space_choice_find(space, i, value) : -1;
		if (!given[i] || fixed[i] >= 0)
			continue;
		value_format(value, &found);
		configuration_refuse(bound, i, text_string(&found), err);
		return error_context(err, "%s", bound->family->name);
	}
	return STATUS_OK;
}

static enum status search(struct restriction *restriction)
{
	TRY(space_enumerate_some(restriction->bound->space, is_asked_for, consider_configuration,
		restriction, restriction->err));
	return restriction->status;
}

static enum status complete(struct restriction *restriction, const char *text, struct error *err)
{
	const struct bound_family *bound = restriction->bound;
	int given[SPACE_PARAMETERS_MAX];
	choice defaults[SPACE_PARAMETERS_MAX] = {0};
	bool has_defaults = false;

	TRY(read_given(bound, text, given, restriction->completion, err));
	TRY(configuration_default(bound, defaults, &has_defaults, err));
	for (size_t i = 0; i < restriction->parameters; i++) {
		restriction->tried[i] = given[i] >= 0 ? (choice)given[i] : defaults[i];
		restriction->is_complete &= given[i] >= 0;
	}
	restriction->has_tried = restriction->is_complete || has_defaults;
	for (size_t i = 0; i < restriction->parameters; i++)
		restriction->fixed[i] =
			given[i] >= 0 ? given[i]
			: *text && has_defaults && changes_units(restriction, defaults, i)
				? defaults[i]
				: -1;
	TRY(search(restriction));
	if (restriction->completion->legal)
		return STATUS_OK;
	memcpy(restriction->fixed, given, restriction->parameters * sizeof(*given));
	return search(restriction);
}

enum status completion_find(struct bound_family *bound, const char *text, bool *found,
	struct completion *completion, struct text *why, struct error *err)
{
	struct restriction restriction = {.bound = bound,
		.parameters = bound->space->parameter_count,
		.is_complete = true,
		.completion = completion,
		.err = err};
	enum status status;

	*completion = (struct completion){.candidate.bound = bound};
	predictor_open(&restriction.predictor, bound);
	status = complete(&restriction, text, err);
	predictor_close(&restriction.predictor);
	*found = completion->legal > 0;
	if (status == STATUS_OK && !*found && why) {
		struct error reason = {0};

		text_appendf(why, "%s: no legal configuration has %s", bound->family->name,
			*text ? text : "any value");
		if (restriction.has_tried &&
			configuration_expect_legal(bound, restriction.tried, &reason) ==
				STATUS_BAD_INPUT &&
			strstr(reason.message, "violates"))
			text_appendf(why, "; %sit %s",
				restriction.is_complete ? "" : "with the rest at its defaults ",
				strstr(reason.message, "violates"));
	}
	return status;
}

/* ---- looking closely ---- */
/* Score and resources of the compiled kernels; one that does not compile is no error here. */
static enum status compile(
	struct context *context, struct explanation *explanation, struct error *err)
{
	CLEANUP(evaluator_release)
	struct evaluator evaluator = {.context = context, .keeps_pruned = true};
	struct trial *trial;
	struct evaluation *evaluation;

	TRY(evaluator_add(
		&evaluator, &explanation->completion.candidate, TRIAL_COMPILED, &trial, err));
	TRY(evaluator_run(&evaluator, err));
	evaluation = &trial->evaluation;
	if (evaluation->outcome != OUTCOME_OK && !evaluation->resources && context->store)
		explanation->compile_problem = string_format("expected it to compile, found %s: %s",
			outcome_name(evaluation->outcome),
			evaluation->detail ? evaluation->detail : "no message");
	explanation->slots = trial->slots;
	explanation->score = evaluation->score;
	explanation->resources = evaluation->resources;
	explanation->launch_count = evaluation->launch_count;
	trial->slots = NULL;
	explanation->warnings = evaluation->warnings;
	evaluation->warnings = NULL;
	evaluation->score = (struct score){0};
	evaluation->resources = NULL;
	return STATUS_OK;
}

/* Each step looked at on its own. */
static enum status explain_steps(
	struct context *context, struct explanation *explanation, struct error *err)
{
	const struct composite *composite = explanation->completion.candidate.bound->composite;

	if (!composite)
		return STATUS_OK;
	explanation->steps = memory_zeroed(composite->step_count, sizeof(*explanation->steps));
	for (size_t i = 0; i < composite->step_count; i++) {
		struct completion completion = {.candidate = composite->steps[i].candidate};

		memset(completion.filled_in, true, sizeof(completion.filled_in));
		TRY(explanation_make(context, &completion, &explanation->steps[i], err));
		explanation->step_count++;
	}
	return STATUS_OK;
}

static enum status look(struct context *context, struct explanation *explanation, struct error *err)
{
	const struct launch_score *longest;

	TRY(compile(context, explanation, err));
	TRY(predict_candidate(&explanation->completion.candidate, err));
	longest = &explanation->score.launches[explanation->score.longest];
	TRY(candidate_facts(explanation->completion.candidate.bound, explanation->slots,
		longest->smem_bytes, longest->blocks_per_sm, &explanation->facts, err));
	return explain_steps(context, explanation, err);
}

enum status explanation_make(struct context *context, const struct completion *completion,
	struct explanation *explanation, struct error *err)
{
	enum status status;

	*explanation = (struct explanation){.completion = *completion};
	status = look(context, explanation, err);
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
	free(explanation->warnings);
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
	enum status status;

	TRY(family_bind_if_applies(family, problem, device, NULL, &bound, NULL, err));
	if (!bound)
		return STATUS_OK;
	status = completion_find(bound, "", &found, &completion, NULL, err);
	if (status == STATUS_OK && found &&
		!(best->bound &&
			completion.candidate.prediction.time_us >= best->prediction.time_us)) {
		candidate_release(best);
		*best = completion.candidate;
	} else {
		bound_family_free(bound);
	}
	return status;
}

static enum status choose_step(struct context *context, struct bound_family *bound, size_t step,
	bool *found, struct text *why, struct error *err)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	struct candidate best = {0};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < context->catalogue.family_count && status == STATUS_OK; i++) {
		const struct family *family = context->catalogue.families[i];

		if (family->operation == problem->operation && !family->step_count)
			status = consider(family, problem, bound->device, &best, err);
	}
	*found = status == STATUS_OK && best.bound;
	if (*found)
		return composite_choose(bound, step, &best, err);
	if (status == STATUS_OK && why)
		text_appendf(why, "%s: no family can do its step %s %s", bound->family->name,
			problem->operation->name, problem->text);
	candidate_release(&best);
	return status;
}

enum status explanation_choose_steps(struct context *context, struct bound_family *bound,
	bool *found, struct text *why, struct error *err)
{
	*found = false;
	TRY(composite_open(&context->catalogue, bound, err));
	*found = true;
	for (size_t i = 0; *found && i < bound->composite->step_count; i++)
		TRY(choose_step(context, bound, i, found, why, err));
	return STATUS_OK;
}

/* ---- JSON ---- */
static const struct record_member fact_members[] = {
	RECORD_VALUE(struct explained_fact, name, "name", "of the operation's fact"),
	RECORD_VALUE(struct explained_fact, value, "value", "of this candidate"),
	RECORD_VALUE(struct explained_fact, unit, "unit", "of the value"),
	RECORD_VALUE(struct explained_fact, source, "source", "where the fact is described"),
};
static RECORD_DEFINE(
	struct explained_fact, fact_record, fact_members, .name = "fact", .open = true);

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
static RECORD_DEFINE(struct kernel_resources, resources_record, resources_members,
	.name = "resources", .open = true);

#define BYTES(field, help)                                                                         \
	RECORD_VALUE(struct explained_traffic, field, #field, help, .low = 0, .high = INFINITY)
static const struct record_member traffic_members[] = {
	BYTES(l2_bytes, "through the port of the L2 cache"),
	BYTES(dram_bytes, "from and to memory"),
};
#undef BYTES
static RECORD_DEFINE(
	struct explained_traffic, traffic_record, traffic_members, .name = "traffic", .open = true);

RECORD_DECLARE(struct explained, explained_record);
static const struct record_member explained_members[] = {
	RECORD_VALUE(struct explained, family, "family", "of templates"),
	RECORD_NAMED_VALUES(
		struct explained, configuration, "configuration", "every parameter of the family"),
	RECORD_STRINGS(struct explained, filled_in, "filled_in", "parameters that were not given"),
	RECORD_VALUE(struct explained, predicted_us, "predicted_us",
		"before compilation, with what was learned; null: it cannot run",
		.flags = RECORD_NULLABLE, .absent = INFINITY),
	RECORD_NESTED(struct explained, basis, prediction_basis_record, "prediction",
		"where that comes from"),
	RECORD_CUSTOM(struct explained, score, &score_custom, "score", "the account of physics"),
	RECORD_NESTED(struct explained, traffic, traffic_record, "traffic", "of all launches"),
	RECORD_RECORDS(struct explained, resources, launch_count, resources_record, "resources",
		"of each launch; null: not compiled",
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	RECORD_VALUE(struct explained, compile_problem, "compile_problem",
		"why there are no resources", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct explained, warnings, "warnings", "the compiler's, the first of them",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct explained, facts, fact_count, fact_record, "facts",
		"of the operation, for this candidate"),
	RECORD_RECORDS(struct explained, steps, step_count, explained_record, "steps",
		"of a composite family", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(
		struct explained, operation, "operation", "of a step", .flags = RECORD_OPTIONAL),
	RECORD_NAMED_VALUES(
		struct explained, problem, "problem", "of a step", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(
	struct explained, explained_record, explained_members, .name = "candidate", .open = true);

static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.explain/1", "what this is"),
	RECORD_VALUE(struct explain_document, operation, "operation", "what is computed"),
	RECORD_NAMED_VALUES(struct explain_document, problem, "problem",
		"every key of the operation, in its order", .count_min = 1),
	RECORD_NESTED(struct explain_document, device, gpu_model_record, "device",
		"that it is explained for"),
	RECORD_RECORDS(struct explain_document, candidates, candidate_count, explained_record,
		"candidates", "one per family"),
};
RECORD_DEFINE(struct explain_document, explain_document_record, document_members, .name = "explain",
	.open = true);

static struct explained_fact *describe_facts(const struct fact_list *facts)
{
	struct explained_fact *described = memory_zeroed(facts->count + 1, sizeof(*described));

	for (size_t i = 0; i < facts->count; i++)
		described[i] = (struct explained_fact){.name = facts->items[i].name,
			.value = value_to_json(facts->items[i].value),
			.unit = facts->items[i].unit,
			.source = facts->items[i].source};
	return described;
}

struct explained explanation_describe(struct explanation *explanation)
{
	const struct candidate *candidate = &explanation->completion.candidate;
	const struct bound_family *bound = candidate->bound;
	const size_t parameters = bound->space->parameter_count;
	struct explained explained = {.family = bound->family->name,
		.configuration = configuration_named_values(bound, candidate->choices),
		.filled_in = memory_zeroed(parameters + 1, sizeof(*explained.filled_in)),
		.basis = prediction_basis(bound),
		.predicted_us = candidate->prediction.time_us,
		.score = explanation->score,
		.resources = explanation->resources,
		.launch_count = explanation->resources ? explanation->launch_count : 0,
		.compile_problem = explanation->compile_problem,
		.warnings = explanation->warnings,
		.facts = describe_facts(&explanation->facts),
		.fact_count = explanation->facts.count,
		.steps = memory_zeroed(explanation->step_count + 1, sizeof(*explained.steps)),
		.step_count = explanation->step_count};
	size_t filled_in = 0;

	explanation->score = (struct score){0};
	explanation->resources = NULL;
	explanation->compile_problem = NULL;
	explanation->warnings = NULL;
	for (size_t i = 0; i < parameters; i++)
		if (explanation->completion.filled_in[i])
			explained.filled_in[filled_in++] =
				string_copy(space_parameter_name(bound->space, i));
	for (size_t i = 0; i < explained.score.launch_count; i++) {
		explained.traffic.l2_bytes += explained.score.launches[i].l2_bytes;
		explained.traffic.dram_bytes += explained.score.launches[i].dram_bytes;
	}
	for (size_t i = 0; i < explained.step_count; i++) {
		const struct problem *problem =
			explanation->steps[i].completion.candidate.bound->problem;

		explained.steps[i] = explanation_describe(&explanation->steps[i]);
		explained.steps[i].operation = problem->operation->name;
		explained.steps[i].problem = problem_named_values(problem);
	}
	return explained;
}
