/* SPDX-License-Identifier: MIT
 *
 * tiletune advise: which sizes near the requested ones are better, and times over a range of sizes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advise/advise.h"
#include "advise/sweep.h"
#include "base/memory.h"
#include "cli/common.h"
#include "cli/show.h"
#include "figure/chart.h"

struct advise_command {
	struct common_options common;
	struct device_choice device;
	struct string_list problems, families;
	const char *sweep, *config, *output, *csv;
	double budget_s;
};

#define AT(member) offsetof(struct advise_command, member)

static const struct option advise_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM",
		"M=4096,N=1793,K=4096,dtype=bf16; one value per key"),
	OPTION("sweep", 0, STRING, sweep, "RANGE",
		"N=1024:4096:64 or M=N=K=1024:4096:32: draw time over size"),
	OPTION("family", 'f', STRINGS, families, "NAME", "only this family; may be repeated"),
	OPTION("config", 'c', STRING, config, "CONFIG",
		"of a sweep: this configuration, BM=128,...; needs --family"),
	OPTION("budget", 'b', BUDGET, budget_s, "TIME",
		"on a GPU: time for each of the few searches"),
	OPTION("output", 'o', STRING, output, "FILE", "of a sweep: the figure as SVG"),
	OPTION("csv", 0, STRING, csv, "FILE", "of a sweep: its numbers"),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

enum {
	ROWS_SHOWN = 3, /* of each kind; --json has them all */
};

/* ---- one problem ---- */
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

static void print_candidate(const struct advice_row *row, const char *indent)
{
	const struct evaluation *evaluation = &row->best_of.best->evaluation;

	printf("%s%.2f us, ", indent, row->best_of.time_us);
	show_speed(stdout, row->best_of.problem, &evaluation->score, row->best_of.time_us);
	printf("  %s {%s}", evaluation->family, evaluation->configuration);
	show_learned(stdout, row->best_of.best->candidate.bound);
	putchar('\n');
}

static void print_cost(const struct advice_row *asked, const struct advice_row *row)
{
	double with_copy_us = row->best_of.time_us + row->copy_us;

	printf("      costs %.1f%% more %s and %+.2f MiB of memory; net gain %+.1f%%",
		100 * (row->work / asked->work - 1), row->flop > 0 ? "FLOP" : "bytes",
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

	printf("%s %s on %s, %s\n", advise->operation->name, asked->best_of.problem->text,
		device_spec(advise->context->device)->title,
		advise->measured ? "measured" : "predicted, not measured");
	print_candidate(asked, "  as requested: ");
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

/* ---- searches: a means; what they find is said once, side by side ---- */
struct tuning {
	const struct advise_command *command;
	struct show show;
};

static enum status tune_quickly(
	void *context, struct problem_list *problems, struct tuned *tuned, struct error *err)
{
	struct tuning *tuning = context;
	struct session session = {.context = tuning->show.context,
		.problems = problems,
		.effort = effort_find("quick"),
		.budget_s = tuning->command->budget_s,
		.pool = {.families = tuning->command->families.items, .score = true},
		.seed = 1,
		.tuned = tuned,
		.run_id = "advise",
		.interrupted = &common_interrupted,
		.observer = show_observer(&tuning->show),
		.keep_going = true};

	session.observer.begin = NULL;
	session.observer.end = NULL;
	return session_run(&session, err);
}

static enum status advise_problem(const struct advise_command *command, struct context *context,
	const struct operation *operation, const char *text, struct error *err)
{
	struct tuning tuning = {.command = command,
		.show = {.out = stderr, .context = context, .progress = isatty(STDERR_FILENO)}};
	struct advise_options options = {.families = command->families.items,
		.tune = tune_quickly,
		.tune_context = &tuning,
		.interrupted = &common_interrupted};
	CLEANUP(advise_release) struct advise advise = {0};
	enum status status;

	common_graceful = 1;
	status = advise_run(&advise, context, operation, text, &options, err);

	if (status != STATUS_BAD_INPUT)
		common_notices(context);
	TRY(status);
	if (command->common.json) {
		CLEANUP(run_release) struct run run = run_now(context);
		CLEANUP(json_release) struct json *json = advise_to_json(&advise, &run);

		return common_write_json("-", json, err);
	}
	print_advice(&advise);
	return STATUS_OK;
}

/* ---- a sweep, drawn ---- */
enum {
	PLOT_COLUMNS = 84,
	PLOT_ROWS = 21,
	LINES_MAX = 2 * SWEEP_SERIES_MAX,
};

/* A chart and what it borrows from. */
struct drawing {
	struct chart chart;
	double *x;
	double *y[LINES_MAX];
	char *names[LINES_MAX];
	struct chart_series series[LINES_MAX];
	struct chart_mark *marks;
	char *title, *subtitle;
};

static void add_line(struct drawing *drawing, const struct sweep *sweep, size_t series,
	bool measured, enum chart_style style)
{
	size_t line = drawing->chart.series_count++, count = sweep->problems.count;

	drawing->y[line] = memory_zeroed(count + 1, sizeof(double));
	for (size_t i = 0; i < count; i++) {
		const struct sweep_value *value = &sweep->series[series].values[i];
		const double time_us = measured ? value->time.median : value->predicted_us;
		const double rate = sweep->flop[i] > 0 ? sweep->flop[i] / time_us * 1e-6
						       : sweep->bytes[i] / time_us * 1e-3;
		const bool known = measured ? value->is_measured
					    : value->is_legal && isfinite(time_us) && time_us > 0;

		drawing->y[line][i] = known ? rate : NAN;
	}
	drawing->names[line] = string_format("%s %s {%s}",
		measured ? "measured:" : "predicted:", sweep->series[series].family->name,
		sweep->series[series].configuration);
	drawing->series[line] = (struct chart_series){
		.name = drawing->names[line], .y = drawing->y[line], .style = style};
}

static void add_marks(struct drawing *drawing, const struct sweep *sweep)
{
	drawing->marks = memory_zeroed(sweep->problems.count + 1, sizeof(*drawing->marks));
	for (size_t i = 1; i < sweep->problems.count; i++)
		if (sweep_is_wave_edge(sweep, 0, i))
			drawing->marks[drawing->chart.mark_count++] = (struct chart_mark){
				drawing->x[i], sweep->series[0].values[i].waves};
}

static void drawing_open(struct drawing *drawing, const struct sweep *sweep)
{
	size_t count = sweep->problems.count;

	drawing->x = memory_zeroed(count + 1, sizeof(double));
	for (size_t i = 0; i < count; i++)
		drawing->x[i] = (double)sweep->x[i];
	if (sweep->measured)
		add_line(drawing, sweep, 0, true, CHART_LINE);
	add_line(drawing, sweep, 0, false, sweep->measured ? CHART_DASHED : CHART_LINE);
	for (size_t s = 1; s < sweep->series_count; s++)
		add_line(drawing, sweep, s, sweep->measured, CHART_THIN);
	add_marks(drawing, sweep);
	drawing->title = string_format("%s, %s on %s, %s", sweep->operation->name, sweep->range,
		device_spec(sweep->context->device)->title,
		sweep->measured ? "measured" : "predicted, not measured");
	drawing->subtitle = string_format("first size: %s", sweep->problems.items[0]->text);
	drawing->chart.title = drawing->title;
	drawing->chart.subtitle = drawing->subtitle;
	drawing->chart.x_label = sweep->label;
	drawing->chart.y_label = sweep->flop[0] > 0 ? "TFLOP/s" : "GB/s";
	drawing->chart.x = drawing->x;
	drawing->chart.count = count;
	drawing->chart.series = drawing->series;
	drawing->chart.marks = drawing->marks;
	drawing->chart.mark_label =
		"another number of waves of the first configuration begins (how many)";
}

static void drawing_release(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->chart.series_count; i++) {
		free(drawing->y[i]);
		free(drawing->names[i]);
	}
	free(drawing->marks);
	free(drawing->x);
	free(drawing->title);
	free(drawing->subtitle);
}

static void sweep_progress(void *context, size_t done, size_t total)
{
	(void)context;
	fprintf(stderr, "\r\033[K%zu of %zu sizes%s", done, total, done == total ? "\r\033[K" : "");
}

static enum status write_files(const struct advise_command *command, const struct sweep *sweep,
	const struct drawing *drawing, struct error *err)
{
	CLEANUP(text_release) struct text svg = {0}, csv = {0};

	if (command->output) {
		chart_svg(&drawing->chart, &svg);
		TRY(common_write(command->output, text_string(&svg), err));
	}
	if (command->csv) {
		sweep_to_csv(sweep, &csv);
		TRY(common_write(command->csv, text_string(&csv), err));
	}
	return STATUS_OK;
}

/* A file on stdout sends the plot to stderr. */
static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static enum status print_sweep(const struct advise_command *command, const struct sweep *sweep,
	const struct drawing *drawing, struct error *err)
{
	CLEANUP(text_release) struct text plot = {0};

	if (command->common.json) {
		CLEANUP(run_release) struct run run = run_now(sweep->context);
		CLEANUP(json_release) struct json *json = sweep_to_json(sweep, &run);

		return common_write_json("-", json, err);
	}
	chart_plot(&drawing->chart, PLOT_COLUMNS, PLOT_ROWS, &plot);
	fputs(text_string(&plot),
		is_stdout(command->output) || is_stdout(command->csv) ? stderr : stdout);
	return STATUS_OK;
}

static enum status sweep(const struct advise_command *command, struct context *context,
	const struct operation *operation, struct error *err)
{
	struct sweep_options options = {.families = command->families.items,
		.configuration = command->config,
		.interrupted = &common_interrupted,
		.progress = isatty(STDERR_FILENO) ? sweep_progress : NULL};
	CLEANUP(sweep_release) struct sweep found = {0};
	CLEANUP(drawing_release) struct drawing drawing = {0};
	enum status status;

	common_graceful = 1;
	status = sweep_run(&found, context, operation,
		command->problems.count ? command->problems.items[0] : NULL, command->sweep,
		&options, err);

	if (status != STATUS_BAD_INPUT)
		common_notices(context);
	TRY(status);
	drawing_open(&drawing, &found);
	TRY(write_files(command, &found, &drawing, err));
	return print_sweep(command, &found, &drawing, err);
}

/* ---- the command ---- */
static enum status check_options(
	const struct advise_command *command, const struct string_list *inputs, struct error *err)
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
	TRY(common_expect_output("output", command->output, inputs, err));
	TRY(common_expect_output("csv", command->csv, inputs, err));
	if (command->config && command->families.count != 1)
		return error_set(err, STATUS_BAD_INPUT,
			"advise: expected the --family of --config, found %zu",
			command->families.count);
	return STATUS_OK;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct advise_command *command = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&command->common.paths);
	CLEANUP(common_context_release) struct context context = {0};
	const struct operation *operation;

	TRY(check_options(command, common_own_kernel(positional), err));
	TRY(common_open(
		&command->device, positional->items[0], true, false, &folders, &context, err));
	TRY(catalogue_operation(&context.catalogue, positional->items[0], &operation, err));
	TRY(common_check_families(&context.catalogue, operation, command->families.items, err));
	if (command->sweep)
		return sweep(command, &context, operation, err);
	for (size_t i = 0; i < command->problems.count; i++)
		TRY(advise_problem(command, &context, operation, command->problems.items[i], err));
	return STATUS_OK;
}

const struct command command_advise = {
	.name = "advise",
	.summary = "Tell which sizes near the requested ones are better, how much, why and at what "
		   "cost",
	.arguments = "OPERATION -p PROBLEM | OPERATION [-p PROBLEM] --sweep N=1024:4096:64",
	.description =
		"Looks at sizes rounded up and down and at rows further apart: what alignment,\n"
		"tile waste and waves do there. On a GPU the asked problem and the best of them\n"
		"are tuned and measured side by side; without one times are predicted, and the\n"
		"answer says so.\n"
		"\n"
		"With --sweep one configuration (the best in the middle of the sweep, or\n"
		"--config) and its neighbours run over all sizes; the plot shows where a wave of\n"
		"tiles more begins.",
	.examples = "  tiletune advise gemm -p M=4096,N=1793,K=4096,dtype=bf16,b_layout=kn\n"
		    "  tiletune advise gemm -p batch=16,seq=1000,N=4096,K=4096,dtype=bf16 --json\n"
		    "  tiletune advise gemm --sweep M=N=K=1024:4096:32 -o sweep.svg",
	.options = advise_option_table,
	.options_size = sizeof(struct advise_command),
	.positional_min = 1,
	.positional_max = 1,
	.run = run,
};
