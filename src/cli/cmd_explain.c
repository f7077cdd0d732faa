/* SPDX-License-Identifier: MIT
 *
 * tiletune explain: shows what determines the speed of a configuration.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/common.h"
#include "cli/show.h"
#include "format/tuned.h"
#include "engine/candidates.h"
#include "engine/explanation.h"
#include "engine/row.h"

struct explain_options {
	struct common_options common;
	struct context_options device;
	struct string_list problems, families;
	const char *config, *where;
};

#define AT(member) offsetof(struct explain_options, member)

static const struct option explain_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("family", 'f', STRINGS, families, "NAME"),
	OPTION("config", 'c', STRING, config, "CONFIG"),
	OPTION("where", 'w', STRING, where, "EXPR"),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

struct explain {
	const struct explain_options *options;
	struct context context;
	struct problem_list problems;
	struct tuned answer; /* the answer of --json */
	char *run_id;
};

static void print_fact(const struct fact *fact, const char *indent)
{
	CLEANUP(text_release) struct text value = {0};

	if (fact->value.type == VALUE_REAL) /* --json has all digits */
		text_appendf(
			&value, fabs(fact->value.real) < 1e6 ? "%.6g" : "%.0f", fact->value.real);
	else
		value_format(fact->value, &value);
	common_print(stdout, "%s%-32s %s%s%s\n", indent, fact->name, text_string(&value),
		fact->unit[0] ? " " : "", fact->unit);
}

/* Prints "    instructions of gemm: 8 HGMMA, 2 UTMALDG" for each kernel. */
static void print_instructions(const struct json *instructions)
{
	const struct json_at all = json_root(instructions, "");
	struct json_at kernel = {0};
	const char *found;

	while (json_next(&all, &kernel))
		if (json_get_string(&kernel, &found, NULL) == STATUS_OK)
			common_print(stdout, "    instructions of %s: %s\n", kernel.key, found);
}

static void print_log(const char *heading, const char *log)
{
	common_print_lines(stdout, heading);
	common_print_lines(stdout, log);
	common_print_lines(stdout, "\n");
}

/* Prints the details of a candidate, indented by four blanks. */
static void print_explanation(const struct explanation *explanation)
{
	const struct candidate *candidate = &explanation->candidate;
	const struct bound_family *bound = candidate->bound;
	const struct score *score = &explanation->result.score;
	CLEANUP(text_release) struct text filled = {0};
	CLEANUP(memory_free) char *source = prediction_basis_text(prediction_basis(bound));

	for (size_t i = 0; i < bound->space->parameter_count; i++)
		if (!explanation->given[i])
			text_append_listed(&filled, space_parameter_name(bound->space, i));
	common_print(stdout, "  %s {%s}\n", bound->family->name, explanation->result.configuration);
	if (filled.length)
		common_print(stdout, "    filled in by the model: %s\n", filled.data);
	show_why(stdout, bound->device, bound->problem, score, "    ",
		candidate->prediction.time_us, source);
	print_instructions(explanation->instructions);
	if (explanation->compile_problem)
		print_log("    does not compile: ", explanation->compile_problem);
	if (explanation->result.warnings)
		print_log("    the compiler says:\n", explanation->result.warnings);
	for (size_t i = 0; i < explanation->facts.count; i++)
		print_fact(&explanation->facts.items[i], "    ");
}

/* Converts the explanation to a row. A candidate whose blocks do not fit on an SM has no time
 * and gets no row. */
static enum status add_row(
	const struct explanation *explanation, struct tuned_entry *entry, struct error *err)
{
	struct tuned_row *row = &entry->families[entry->family_count];

	if (!isfinite(explanation->candidate.prediction.time_us))
		return STATUS_OK;
	TRY(row_describe(&explanation->candidate, &explanation->result, row, err));
	row->why = explanation_why(explanation);
	entry->family_count++;
	return STATUS_OK;
}

/* The fastest family becomes the winner. */
static void put_entry(struct explain *explain, struct tuned_entry *entry)
{
	const char *kept;
	size_t best = 0;

	for (size_t i = 1; i < entry->family_count; i++)
		if (entry->families[i].result.time.median <
			entry->families[best].result.time.median)
			best = i;
	if (!entry->family_count)
		return;
	entry->winner = entry->families[best];
	memmove(&entry->families[best], &entry->families[best + 1],
		(--entry->family_count - best) * sizeof(*entry->families));
	tuned_put_entry(&explain->answer, entry, NULL, &kept);
}

static enum status explain_family(struct explain *explain, const struct candidates *pool,
	size_t family, struct tuned_entry *entry, struct error *err)
{
	CLEANUP(explanation_release) struct explanation explanation = {0};
	size_t candidate;
	bool found;

	TRY(explanation_choose(pool, family, &candidate, &found, err));
	if (!found)
		return STATUS_OK;
	TRY(explanation_make(&explain->context, pool, candidate, &explanation, err));
	if (explain->options->common.json)
		return add_row(&explanation, entry, err);
	print_explanation(&explanation);
	return STATUS_OK;
}

static enum status explain_problem(
	struct explain *explain, const struct problem *problem, struct error *err)
{
	const struct device_spec *device = explain->context.device->spec;
	const struct candidates_options options = {.families = explain->options->families.items,
		.where = explain->options->where,
		.config = explain->options->config,
		.compiler = explain->context.compiler,
		.score = true};
	CLEANUP(candidates_release) struct candidates pool = {0};
	CLEANUP(tuned_entry_release) struct tuned_entry entry = {0};

	TRY(candidates_open(&explain->context.catalogue, problem, device, &options, &pool, err));
	entry = (struct tuned_entry){.operation = string_copy(problem->operation->name),
		.problem = problem_named_values(problem),
		.predicted = true,
		.run = string_copy(explain->run_id),
		.families = memory_zeroed(pool.family_count + 1, sizeof(*entry.families))};
	if (!explain->options->common.json)
		common_print(stdout, "%s %s on %s\n", problem->operation->name, problem->title,
			device->title);
	for (size_t f = 0; f < pool.family_count; f++)
		TRY(explain_family(explain, &pool, f, &entry, err));
	put_entry(explain, &entry);
	return STATUS_OK;
}

static void explain_release(struct explain *explain)
{
	problem_list_release(&explain->problems);
	tuned_release(&explain->answer);
	free(explain->run_id);
	common_context_release(&explain->context);
}

static enum status explain_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	struct explain_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(explain_release) struct explain explain = {.options = options};
	const struct catalogue *catalogue = &explain.context.catalogue;
	const struct operation *operation;

	options->device.allow_model = true;
	TRY(common_open(&options->device, positional->items[0], &folders, &explain.context, err));
	TRY(catalogue_operation(catalogue, positional->items[0], &operation, err));
	catalogue_show_defaults(catalogue, options->common.verbose);
	TRY(catalogue_expect_families(catalogue, operation, options->families.items, err));
	TRY(common_problems(operation, &options->problems, NULL, &explain.problems, err));
	common_notices(&explain.context);
	explain.run_id = common_answer(&explain.context, &explain.answer);
	for (size_t i = 0; i < explain.problems.count; i++)
		TRY(explain_problem(&explain, explain.problems.items[i], err));
	return options->common.json ? common_write_tuned(&explain.answer, err) : STATUS_OK;
}

const struct command command_explain = {
	.name = "explain",
	COMMAND_OPTIONS(struct explain_options, explain_option_table),
	.positional_min = 1,
	.positional_max = 1,
	.run = explain_run,
};
