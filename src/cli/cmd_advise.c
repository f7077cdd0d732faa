/* SPDX-License-Identifier: MIT
 *
 * tiletune advise: which sizes near the asked ones are better, and the saw-tooth over a sweep.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/advise_options.h"
#include "cli/run_record.h"
#include "cli/show.h"
#include "advise/advise.h"

#define AT(member) offsetof(struct advise_command, member)

static const struct option advise_option_table[] = {
	{"problem", 'p', OPTION_STRINGS, AT(problems), "PROBLEM",
		"M=4096,N=1793,K=4096,dtype=bf16; one value per key", NULL},
	{"sweep", 0, OPTION_STRING, AT(sweep), "RANGE",
		"N=1024:4096:64 or M=N=K=1024:4096:32: draw time over size", NULL},
	{"family", 'f', OPTION_STRINGS, AT(families), "NAME", "only this family; may be repeated",
		NULL},
	{"config", 'c', OPTION_STRING, AT(config), "CONFIG",
		"of a sweep: this configuration, BM=128,...; needs --family", NULL},
	{"budget", 'b', OPTION_DURATION, AT(budget_s), "TIME",
		"on a GPU: time for each of the few searches", NULL},
	{"output", 'o', OPTION_STRING, AT(output), "FILE", "of a sweep: the figure as SVG", NULL},
	{"csv", 0, OPTION_STRING, AT(csv), "FILE", "of a sweep: its numbers", NULL},
	BENCH_OPTIONS(struct advise_command),
	COMMON_OPTIONS(struct advise_command),
	{0},
};

enum {
	ROWS_SHOWN = 3, /* of each kind; --json has them all */
};

/* ---- one problem ---- */
static const char *heading(enum variant_kind kind)
{
	static const char *const headings[] = {
		[VARIANT_PAD] = "filled up with zeros (the result is part of the larger one)",
		[VARIANT_PITCH] = "rows further apart, the same work",
		[VARIANT_CHOOSE] = "larger sizes, if the model's sizes are yours to choose",
		[VARIANT_SHRINK] = "smaller sizes, if the model's sizes are yours to choose",
	};

	return headings[kind];
}

static void print_candidate(const struct advice_row *row, const char *indent)
{
	const struct evaluation *evaluation = &row->best_of.best->evaluation;

	printf("%s%.2f us, ", indent, row->best_of.time_us);
	show_speed(stdout, row->best_of.problem, &evaluation->score, row->best_of.time_us);
	printf("  %s {%s}\n", evaluation->family, evaluation->configuration);
}

static void print_cost(const struct advice_row *asked, const struct advice_row *row)
{
	double with_copy_us = row->best_of.time_us + row->copy_us;

	printf("      costs %.1f%% more FLOP and %+.2f MiB of memory; net gain %+.1f%%",
		100 * (row->flop / asked->flop - 1),
		(row->tensor_bytes - asked->tensor_bytes) / 1048576, 100 * row->net_gain_ratio);
	if (row->copy_us > 0)
		printf(", %+.1f%% if everything must be copied each time (%.1f us)",
			100 * (asked->best_of.time_us / with_copy_us - 1), row->copy_us);
	fputc('\n', stdout);
}

static void print_row(const struct advice_row *asked, const struct advice_row *row)
{
	struct text changes = {0};
	bool same_work = row->variant->kind == VARIANT_PAD || row->variant->kind == VARIANT_PITCH;

	variant_describe(row->variant, &changes);
	printf("    %s: %.1f%% %s\n", text_string(&changes), 100 * advice_gain_ratio(row),
		same_work ? "faster" : "more FLOP per second");
	text_release(&changes);
	print_candidate(row, "      ");
	if (same_work)
		print_cost(asked, row);
	for (size_t i = 0; i < row->reason_count; i++)
		printf("      because %s\n", row->reasons[i].text);
}

static void print_advice(const struct advise *advise)
{
	const struct advice_row *asked = &advise->rows[0];
	int shown = -1;
	size_t of_kind = 0;

	printf("%s %s on %s, %s\n", operation_name(advise->operation), asked->best_of.problem->text,
		device_spec(advise->bench->device)->title,
		advise->measured ? "measured" : "predicted, not measured");
	print_candidate(asked, "  as asked: ");
	show_why(stdout, asked->best_of.problem, &asked->best_of.best->evaluation.score, "    ");
	for (size_t i = 1; i < advise->row_count; i++) {
		const struct advice_row *row = &advise->rows[i];

		if (!row->best_of.best || advice_gain_ratio(row) < advice_gain_least_ratio)
			continue;
		if ((int)row->variant->kind != shown) {
			printf("  %s:\n", heading(row->variant->kind));
			of_kind = 0;
		}
		shown = (int)row->variant->kind;
		if (of_kind++ < ROWS_SHOWN)
			print_row(asked, row);
	}
	if (shown < 0)
		printf("  nothing near it is better by %.0f%% or more: these are good sizes\n",
			100 * advice_gain_least_ratio);
}

static enum status advise_problem(const struct advise_command *command, struct context *bench,
	const struct operation *operation, const char *text, struct error *err)
{
	struct show show = {.talk = stderr, .bench = bench, .progress = isatty(STDERR_FILENO)};
	struct advise_options options = {.families = command->families.items,
		.budget_s = command->budget_s,
		.observer = show_observer(&show),
		.interrupted = &common_interrupted};
	struct advise advise;
	enum status status;

	/* the searches are a means: what they find is said once, side by side */
	options.observer.begin = NULL;
	options.observer.end = NULL;
	status = advise_run(&advise, bench, operation, text, &options, err);
	if (status != STATUS_BAD_INPUT)
		common_notices(bench);
	if (status == STATUS_OK && command->common.json) {
		struct json *json = advise_to_json(&advise);
		char id[RUN_ID_SIZE];

		run_new_id(id);
		json_put(json, "run", run_tuned_json(bench, id));
		status = common_write_json("-", json, err);
		json_free(json);
	} else if (status == STATUS_OK) {
		print_advice(&advise);
	}
	advise_release(&advise);
	return status;
}

/* ---- the command ---- */
static enum status check_options(const struct advise_command *command, struct error *err)
{
	if (!command->sweep && !command->problems.count) {
		error_set(err, STATUS_BAD_INPUT, "advise: expected a problem, found none");
		return error_hint(err, "-p M=4096,N=1793,K=4096,dtype=bf16");
	}
	if (!command->sweep && (command->config || command->output || command->csv))
		return error_set(err, STATUS_BAD_INPUT,
			"advise: expected --sweep with --config, --output and --csv, found none");
	if (command->sweep && command->problems.count > 1)
		return error_set(err, STATUS_BAD_INPUT,
			"advise: expected one -p with --sweep, found %zu", command->problems.count);
	if (command->config && command->families.count != 1)
		return error_set(err, STATUS_BAD_INPUT,
			"advise: expected the --family of --config, found %zu",
			command->families.count);
	return STATUS_OK;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct advise_command *command = options_;
	char **roots = roots_find(&command->common.paths);
	struct context bench = {0};
	const struct operation *operation = NULL;
	enum status status = check_options(command, err);

	if (status == STATUS_OK)
		status = common_bench(&command->common, &command->bench, positional->items[0], true,
			false, roots, &bench, err);
	if (status == STATUS_OK)
		status = catalogue_operation(
			&bench.catalogue, positional->items[0], &operation, err);
	for (size_t i = 0; i < command->families.count && status == STATUS_OK; i++) {
		const struct family *family;

		status = catalogue_family(
			&bench.catalogue, operation, command->families.items[i], &family, err);
	}
	if (status == STATUS_OK && command->sweep)
		status = advise_sweep(command, &bench, operation, err);
	for (size_t i = 0; !command->sweep && i < command->problems.count && status == STATUS_OK;
		i++)
		status =
			advise_problem(command, &bench, operation, command->problems.items[i], err);
	context_release(&bench);
	roots_free(roots);
	return status;
}

const struct command command_advise = {
	.name = "advise",
	.summary =
		"Tell which sizes near the asked ones are better, how much, why and at what cost",
	.arguments = "OPERATION -p PROBLEM | OPERATION [-p PROBLEM] --sweep N=1024:4096:64",
	.description = "Looks at sizes rounded up and down and at rows further apart: what "
		       "alignment, tile\n"
		       "waste and waves do there. On a GPU the asked problem and the best of them "
		       "are tuned\n"
		       "and measured side by side; without one times are predicted, and the answer "
		       "says so.\n"
		       "\n"
		       "With --sweep one configuration (the best in the middle of the sweep, or "
		       "--config) and\n"
		       "its neighbours run over all sizes; the plot shows where a wave of tiles "
		       "more begins.",
	.examples = "  tiletune advise gemm -p M=4096,N=1793,K=4096,dtype=bf16,b_layout=kn\n"
		    "  tiletune advise gemm -p batch=16,seq=1000,N=4096,K=4096,dtype=bf16 --json\n"
		    "  tiletune advise gemm --sweep M=N=K=1024:4096:32 -o sweep.svg",
	.options = advise_option_table,
	.options_size = sizeof(struct advise_command),
	.positional_min = 1,
	.positional_max = 1,
	.run = run,
};
