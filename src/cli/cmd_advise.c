/* SPDX-License-Identifier: MIT
 *
 * tiletune advise: finds faster sizes near the requested ones, and where waves begin in a range
 * of sizes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "advise/advise.h"
#include "advise/range.h"
#include "base/memory.h"
#include "cli/common.h"
#include "cli/show.h"

struct advise_command {
	struct common_options common;
	struct context_options device;
	struct string_list problems, families;
	const char *config, *output;
	double budget_s;
};

#define AT(member) offsetof(struct advise_command, member)

static const struct option advise_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("family", 'f', STRINGS, families, "NAME"),
	OPTION("config", 'c', STRING, config, "CONFIG"),
	OPTION("budget", 'b', BUDGET, budget_s, "TIME"),
	OPTION("output", 'o', STRING, output, "FILE"),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

enum {
	ROWS_SHOWN = 3, /* per kind; --json prints all */
};

static const char *heading(enum variant_kind kind)
{
	static const char *const headings[] = {
		[VARIANT_PAD] = "padded with zeros (the result is part of the larger one)",
		[VARIANT_PITCH] = "larger leading dimension, the same work",
		[VARIANT_CHOOSE] = "larger sizes, if you can choose the sizes",
		[VARIANT_SHRINK] = "smaller sizes, if you can choose the sizes",
	};

	return headings[kind];
}

static void print_winner(const struct advice *row, const char *indent)
{
	const struct tuned_row *winner = &row->entry->winner;
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(winner);

	common_print(stdout, "%s%.2f us, ", indent, winner->result.time.median);
	show_speed(stdout, 0, row->problem, &winner->result.score, winner->result.time.median);
	common_print(stdout, "  %s {%s}\n", winner->result.family, configuration);
}

static void print_cost(const struct advice *asked, const struct advice *row)
{
	const double with_copy_us = row->entry->winner.result.time.median + row->copy_us;

	common_print(stdout, "      costs %.1f%% more %s and %+.2f MiB of memory; net gain %+.1f%%",
		100 * (row->work / asked->work - 1), row->flop > 0 ? "FLOP" : "bytes",
		(row->tensor_bytes - asked->tensor_bytes) / 1048576, 100 * row->net_gain_ratio);
	if (row->copy_us > 0)
		common_print(stdout, ", %+.1f%% if everything must be copied each time (%.1f us)",
			100 * (asked->entry->winner.result.time.median / with_copy_us - 1),
			row->copy_us);
	putchar('\n');
}

static void print_row(const struct advice *asked, const struct advice *row)
{
	CLEANUP(text_release) struct text changes = {0};
	const bool same_work = advice_is_same_work(row);

	variant_describe(row->variant, &changes);
	common_print(stdout, "    %s: %.1f%% %s\n", text_string(&changes),
		100 * advice_gain_ratio(row), same_work ? "faster" : "more FLOP per second");
	print_winner(row, "      ");
	if (same_work)
		print_cost(asked, row);
	for (size_t i = 0; i < row->reason_count; i++)
		common_print(stdout, "      because %s\n", row->reasons[i].text);
}

static const char *timing(const struct context *context)
{
	return context->device->kind->measures ? "measured" : "predicted, not measured";
}

static void print_advice(const struct advise *advise)
{
	const struct context *context = advise->run->context;
	const struct advice *asked = &advise->rows[0];
	int shown = -1;
	size_t of_kind = 0;

	common_print(stdout, "%s %s on %s, %s\n", asked->problem->operation->name,
		asked->problem->title, context->device->spec->title, timing(context));
	print_winner(asked, "  as requested: ");
	show_why(stdout, context->device->spec, asked->problem, &asked->entry->winner.result.score,
		"    ", 0, "");
	for (size_t i = 1; i < advise->row_count; i++) {
		const struct advice *row = &advise->rows[i];

		if (!row->entry || !row->is_better)
			continue;
		if ((int)row->variant->kind != shown) {
			common_print(stdout, "  %s:\n", heading(row->variant->kind));
			of_kind = 0;
		}
		shown = (int)row->variant->kind;
		if (of_kind++ < ROWS_SHOWN)
			print_row(asked, row);
	}
	if (shown < 0)
		common_print(stdout,
			"  nothing near it is better by %.0f%% or more: these are good sizes\n",
			100 * advice_gain_least_ratio);
}

static void print_point(const struct range *range, size_t i)
{
	const struct launch_score *score = range_score(range, i);
	CLEANUP(memory_free) char *sizes = range_sizes(range, i);
	const struct tuned_row *winner;

	if (!score)
		return;
	winner = &range->entries[i]->winner;
	common_print(stdout, "  %s: %.0f tiles, %.2f waves, %.2f us, ", sizes, score->tiles,
		score->waves_exact, winner->result.time.median);
	show_speed(stdout, 0, range->problems->items[i], &winner->result.score,
		winner->result.time.median);
	putchar('\n');
}

/* Prints the first and the last size, and both sides of each edge. */
static void print_range(const struct range *range)
{
	const struct context *context = range->run->context;
	const size_t count = range->problems->count;

	common_print(stdout, "%s on %s, %s\n  %s {%s}\n",
		range->problems->items[0]->operation->name, context->device->spec->title,
		timing(context), range->family, range->configuration);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || i + 1 == count || range_is_edge(range, i) ||
			range_is_edge(range, i + 1))
			print_point(range, i);
	if (range->missing)
		common_print(stdout,
			"  %zu of %zu sizes are left out: this configuration is not legal there, "
			"or "
			"does not work\n",
			range->missing, count);
}

struct advising {
	const struct advise_command *command;
	struct context context;
	struct tuned answer;
	struct show show;
	char *run_id;
};

/* Shows only progress, because the results are compared at the end. */
static struct tune_options tune_options_of(struct advising *advising, const struct effort *effort)
{
	struct tune_options options = {.effort = effort,
		.budget_s = advising->command->budget_s,
		.candidates = {.families = advising->command->families.items,
			.score = true,
			.interrupted = &common_interrupted},
		.seed = 1,
		.interrupted = &common_interrupted,
		.observer = show_observer(&advising->show),
		.keep_going = true};

	options.observer.begin = NULL;
	options.observer.end = NULL;
	options.observer.failed = NULL;
	return options;
}

static struct tune_run tune_run_of(struct advising *advising, const struct tune_options *options)
{
	return (struct tune_run){.options = options,
		.context = &advising->context,
		.tuned = &advising->answer,
		.run_id = advising->run_id};
}

/* A GPU measures; without a GPU a few kernels are estimated. */
static struct effort effort_of(const struct context *context, size_t evaluations)
{
	struct effort effort = *effort_find(context->device->kind->measures ? "quick" : "estimate");

	if (!effort.measures)
		effort.evaluations = evaluations;
	return effort;
}

static enum status advise_problem(struct advising *advising, const struct problem *problem,
	const char *text, struct error *err)
{
	const struct effort effort = effort_of(&advising->context, 8);
	struct tune_options options = tune_options_of(advising, &effort);
	struct tune_run run = tune_run_of(advising, &options);
	CLEANUP(advise_release) struct advise advise = {0};

	if (advising->command->config)
		return error_set(err, STATUS_BAD_INPUT,
			"--config needs a range of sizes, not one problem: %s", text);
	TRY(advise_run(&advise, &run, problem, text, err));
	if (!advising->command->common.json)
		print_advice(&advise);
	return STATUS_OK;
}

static enum status advise_range(
	struct advising *advising, const struct problem_list *problems, struct error *err)
{
	const struct effort effort = effort_of(&advising->context, 1);
	struct tune_options options = tune_options_of(advising, &effort);
	struct tune_run run = tune_run_of(advising, &options);
	CLEANUP(range_release) struct range range = {0};

	options.candidates.config = advising->command->config;
	TRY(range_run(&range, &run, problems, err));
	if (!advising->command->common.json)
		print_range(&range);
	return STATUS_OK;
}

static enum status advise_text(struct advising *advising, const struct operation *operation,
	const char *text, struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(memory_free) char *whole = range_complete(operation, text);
	enum status status = problem_parse(operation, text, &problems, err);

	/* missing keys are an error unless the problem is a range */
	if (status != STATUS_OK && (problem_parse(operation, whole, &problems, NULL) != STATUS_OK ||
					   problems.count < 2))
		return status;
	status = problems.count > 1 ? advise_range(advising, &problems, err)
				    : advise_problem(advising, problems.items[0], text, err);
	if (status != STATUS_BAD_INPUT)
		common_notices(&advising->context);
	return status;
}

static void advising_release(struct advising *advising)
{
	tuned_release(&advising->answer);
	free(advising->run_id);
	common_context_release(&advising->context);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	struct advise_command *command = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&command->common.paths);
	CLEANUP(advising_release)
	struct advising advising = {
		.command = command, .show = {.out = stderr, .progress = isatty(STDERR_FILENO)}};
	CLEANUP(problem_list_release) struct problem_list none = {0};
	const struct operation *operation;

	TRY(common_expect_output("output", command->output, common_own_kernel(positional), err));
	command->device.allow_model = true;
	TRY(common_open(&command->device, positional->items[0], &folders, &advising.context, err));
	TRY(catalogue_operation(
		&advising.context.catalogue, positional->items[0], &operation, err));
	catalogue_show_defaults(&advising.context.catalogue, command->common.verbose);
	TRY(catalogue_expect_families(
		&advising.context.catalogue, operation, command->families.items, err));
	if (!command->problems.count)
		TRY(common_problems(operation, &command->problems, NULL, &none, err));
	advising.show.context = &advising.context;
	advising.run_id = common_answer(&advising.context, &advising.answer);
	common_graceful = 1;
	for (size_t i = 0; i < command->problems.count; i++)
		TRY(advise_text(&advising, operation, command->problems.items[i], err));
	if (command->output) {
		TRY(tuned_replace(&advising.answer, command->output, err));
		common_say_wrote(command->output);
	}
	return command->common.json ? common_write_tuned(&advising.answer, err) : STATUS_OK;
}

const struct command command_advise = {
	.name = "advise",
	COMMAND_OPTIONS(struct advise_command, advise_option_table),
	.positional_min = 1,
	.positional_max = 1,
	.run = run,
};
