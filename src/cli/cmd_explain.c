/* SPDX-License-Identifier: MIT
 *
 * tiletune explain: why a configuration is what it is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "cli/common.h"
#include "cli/show.h"
#include "format/tuned.h"
#include "engine/candidates.h"
#include "engine/explanation.h"

struct explain_options {
	struct common_options common;
	struct device_choice device;
	struct string_list problems, families;
	const char *config, *where;
};

#define AT(member) offsetof(struct explain_options, member)

static const struct option explain_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM",
		"M=4096,N=4096,K=4096,dtype=bf16; lists and ranges per key"),
	OPTION("family", 'f', STRINGS, families, "NAME", "only this family; may be repeated"),
	OPTION("config", 'c', STRING, config, "CONFIG",
		"BM=128,...; what is left out is filled in by the model"),
	OPTION("where", 'w', STRING, where, "EXPR", "only configurations for which this holds"),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

struct explain {
	const struct explain_options *options;
	struct context context;
	struct problem_list problems;
	struct explain_document document; /* of one problem, for --json */
	struct text reasons;              /* why families are left out */
	size_t explained;
};

static void print_fact(const struct fact *fact, const char *indent)
{
	CLEANUP(text_release) struct text value = {0};

	if (fact->value.type == VALUE_REAL) /* all digits are in --json */
		text_appendf(
			&value, fabs(fact->value.real) < 1e6 ? "%.6g" : "%.0f", fact->value.real);
	else
		value_format(fact->value, &value);
	printf("%s%-32s %s%s%s\n", indent, fact->name, text_string(&value),
		fact->unit[0] ? " " : "", fact->unit);
}

static void print_explanation(const struct explanation *explanation, const char *indent);

/* What is said of the candidate stands four blanks further in than its name. */
static void print_explanation(const struct explanation *explanation, const char *indent)
{
	const struct candidate *candidate = &explanation->completion.candidate;
	const struct bound_family *bound = candidate->bound;
	CLEANUP(text_release) struct text configuration = {0}, filled = {0};
	CLEANUP(memory_free) char *deeper = string_format("%s  ", indent);

	configuration_format(bound, candidate->choices, &configuration);
	for (size_t i = 0; i < bound->space->parameter_count; i++)
		if (explanation->completion.filled_in[i])
			text_appendf(&filled, "%s%s", filled.length ? ", " : "",
				space_parameter_name(bound->space, i));
	printf("%s%s {%s}\n", indent, bound->family->name, text_string(&configuration));
	if (filled.length)
		printf("%sfilled in by the model: %s\n", deeper, filled.data);
	show_why(stdout, bound->problem, &explanation->score, deeper);
	if (prediction_basis(bound).source != PREDICTION_PHYSICS) {
		printf("%swith what was learned", deeper);
		show_learned(stdout, bound);
		printf(": predicted %.2f us\n", candidate->prediction.time_us);
	}
	if (explanation->score.launch_count > 1)
		for (size_t i = 0; i < explanation->score.launch_count; i++)
			printf("%slaunch %zu: predicted %.2f us\n", deeper, i + 1,
				explanation->score.launches[i].predicted_time_us);
	if (explanation->compile_problem)
		printf("%sdoes not compile: %s\n", deeper, explanation->compile_problem);
	if (explanation->warnings)
		printf("%sthe compiler says:\n%s\n", deeper, explanation->warnings);
	for (size_t i = 0; i < explanation->facts.count; i++)
		print_fact(&explanation->facts.items[i], deeper);
	for (size_t i = 0; i < explanation->step_count; i++) {
		const struct explanation *step = &explanation->steps[i];
		const struct problem *problem = step->completion.candidate.bound->problem;

		printf("%sstep %zu: %s %s\n", deeper, i + 1, problem->operation->name,
			problem->text);
		print_explanation(step, deeper);
	}
}

/* The configuration of a family that is explained; *why: why there is none. */
static enum status choose(struct explain *explain, const struct family *family,
	const struct problem *problem, struct bound_family **bound, struct completion *completion,
	bool *found, struct text *why, struct error *err)
{
	const char *config = explain->options->config ? explain->options->config : "";
	struct error reason = {0};
	bool applies;

	*found = false;
	TRY(family_applies(
		family, problem, device_spec(explain->context.device), &applies, why, err));
	if (!applies) {
		CLEANUP(memory_free) char *needs = text_detach(why);

		text_appendf(why, "%s does not apply: needs %s", family->name, needs);
		return STATUS_OK;
	}
	text_clear(why);
	if (family->step_count && (*config || explain->options->where)) {
		/* nothing of its own to configure */
		text_appendf(why, "%s has no parameters", family->name);
		return STATUS_OK;
	}
	TRY(family_bind(family, problem, device_spec(explain->context.device),
		explain->options->where, bound, err));
	TRY(bound_family_expect_memory(*bound, err));
	if (completion_find(*bound, config, found, completion, why, &reason) != STATUS_OK)
		/* a parameter or value that this family does not know: another one may */
		text_appendf(why, reason.hint[0] ? "%s (%s)" : "%s", reason.message, reason.hint);
	else if (*found && family->step_count)
		return explanation_choose_steps(&explain->context, *bound, found, why, err);
	return STATUS_OK;
}

static void bound_family_release(struct bound_family **bound)
{
	bound_family_free(*bound);
}

static enum status explain_family(struct explain *explain, const struct family *family,
	const struct problem *problem, struct error *err)
{
	CLEANUP(bound_family_release) struct bound_family *bound = NULL;
	CLEANUP(explanation_release) struct explanation explanation = {0};
	CLEANUP(text_release) struct text why = {0};
	struct completion completion = {0};
	bool found;

	TRY(choose(explain, family, problem, &bound, &completion, &found, &why, err));
	if (why.length)
		text_appendf(&explain->reasons, "\n  %s", why.data);
	if (!found)
		return STATUS_OK;
	TRY(explanation_make(&explain->context, &completion, &explanation, err));
	if (explain->options->common.json) {
		struct explain_document *document = &explain->document;

		document->candidates[document->candidate_count++] =
			explanation_describe(&explanation);
	} else {
		if (!explain->explained) /* no heading over an error */
			printf("%s %s on %s\n", problem->operation->name, problem->text,
				device_spec(explain->context.device)->title);
		print_explanation(&explanation, "  ");
	}
	explain->explained++;
	return STATUS_OK;
}

static enum status explain_families(
	struct explain *explain, const struct problem *problem, struct error *err)
{
	explain->explained = 0;
	text_clear(&explain->reasons);
	for (size_t i = 0; i < explain->context.catalogue.family_count; i++) {
		const struct family *family = explain->context.catalogue.families[i];

		if (family->operation == problem->operation &&
			candidates_family_wanted(family, explain->options->families.items))
			TRY(explain_family(explain, family, problem, err));
	}
	if (!explain->explained)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a family that can do this, found none%s", problem->text,
			text_string(&explain->reasons));
	return explain->options->common.json
		       ? common_write_record(&explain_document_record, &explain->document, err)
		       : STATUS_OK;
}

static enum status explain_problem(
	struct explain *explain, const struct problem *problem, struct error *err)
{
	enum status status;

	explain->document = (struct explain_document){.operation = problem->operation->name,
		.problem = problem_named_values(problem),
		.device = gpu_model_of(device_spec(explain->context.device),
			device_identity(explain->context.device)->name),
		.candidates = memory_zeroed(explain->context.catalogue.family_count + 1,
			sizeof(*explain->document.candidates))};
	status = explain_families(explain, problem, err);
	record_release(&explain_document_record, &explain->document);
	return status;
}

static void explain_release(struct explain *explain)
{
	problem_list_release(&explain->problems);
	text_release(&explain->reasons);
	common_context_release(&explain->context);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct explain_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(explain_release) struct explain explain = {.options = options};
	const struct catalogue *catalogue = &explain.context.catalogue;
	const struct operation *operation;

	TRY(common_open(&options->device, positional->items[0], true, false, &folders,
		&explain.context, err));
	TRY(catalogue_operation(catalogue, positional->items[0], &operation, err));
	TRY(common_check_families(catalogue, operation, options->families.items, err));
	TRY(common_problems(operation, &options->problems, NULL, "explain",
		"-p M=4096,N=4096,K=4096,dtype=bf16", &explain.problems, err));
	common_notices(&explain.context);
	for (size_t i = 0; i < explain.problems.count; i++)
		TRY(explain_problem(&explain, explain.problems.items[i], err));
	return STATUS_OK;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "Tell why a configuration is fast or slow: tiles, waves, occupancy, bound",
	.arguments = "OPERATION -p PROBLEM [--family F] [--config BM=128,...]",
	.description =
		"Scores one configuration per family by the model, with the registers and shared\n"
		"memory of the compiled kernel where a compiler is found. Without --config it is\n"
		"the one with the best predicted time.",
	.examples = "  tiletune explain gemm -p M=1793,N=1793,K=1793,dtype=fp16 --family mma "
		    "--config BM=256,BN=128 --device model:a100-sxm4",
	.options = explain_option_table,
	.options_size = sizeof(struct explain_options),
	.positional_min = 1,
	.positional_max = 1,
	.run = run,
};
