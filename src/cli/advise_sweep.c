/* SPDX-License-Identifier: MIT
 *
 * tiletune advise --sweep: the saw-tooth, drawn.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/advise_options.h"
#include "cli/run_record.h"
#include "figure/chart.h"
#include "advise/sweep.h"

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
	char **mark_labels;
	char *title, *subtitle;
};

typedef double tflops_of(const struct sweep *sweep, size_t series, size_t point);

static void add_line(struct drawing *drawing, const struct sweep *sweep, size_t series,
	tflops_of *value, const char *what, enum chart_style style)
{
	size_t line = drawing->chart.series_count++, count = sweep->problems.count;

	drawing->y[line] = memory_zeroed(count + 1, sizeof(double));
	for (size_t i = 0; i < count; i++)
		drawing->y[line][i] = value(sweep, series, i);
	drawing->names[line] = string_format("%s %s {%s}", what,
		family_name(sweep->series[series].family), sweep->series[series].configuration);
	drawing->series[line] = (struct chart_series){
		.name = drawing->names[line], .y = drawing->y[line], .style = style};
}

static void add_marks(struct drawing *drawing, const struct sweep *sweep)
{
	size_t count = sweep->problems.count;

	drawing->marks = memory_zeroed(count + 1, sizeof(*drawing->marks));
	drawing->mark_labels = memory_zeroed(count + 1, sizeof(char *));
	for (size_t i = 1; i < count; i++) {
		size_t mark = drawing->chart.mark_count;

		if (!sweep_is_wave_edge(sweep, 0, i))
			continue;
		drawing->mark_labels[mark] =
			string_format("%.0f", sweep->series[0].values[i].waves);
		drawing->marks[mark] = (struct chart_mark){
			.x = drawing->x[i], .label = drawing->mark_labels[mark]};
		drawing->chart.mark_count++;
	}
}

static void drawing_open(struct drawing *drawing, const struct sweep *sweep)
{
	size_t count = sweep->problems.count;

	*drawing = (struct drawing){0};
	drawing->x = memory_zeroed(count + 1, sizeof(double));
	for (size_t i = 0; i < count; i++)
		drawing->x[i] = (double)sweep->x[i];
	if (sweep->measured)
		add_line(drawing, sweep, 0, sweep_measured_tflops, "measured:", CHART_LINE);
	add_line(drawing, sweep, 0, sweep_predicted_tflops,
		"predicted:", sweep->measured ? CHART_DASHED : CHART_LINE);
	for (size_t s = 1; s < sweep->series_count; s++)
		add_line(drawing, sweep, s,
			sweep->measured ? sweep_measured_tflops : sweep_predicted_tflops,
			sweep->measured ? "measured:" : "predicted:", CHART_THIN);
	add_marks(drawing, sweep);
	drawing->title = string_format("%s, %s on %s, %s", operation_name(sweep->operation),
		sweep->range, device_spec(sweep->bench->device)->title,
		sweep->measured ? "measured" : "predicted, not measured");
	drawing->subtitle = string_format("first size: %s", sweep->problems.items[0]->text);
	drawing->chart.title = drawing->title;
	drawing->chart.subtitle = drawing->subtitle;
	drawing->chart.x_label = sweep->label;
	drawing->chart.y_label = "TFLOP/s";
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
	for (size_t i = 0; i < drawing->chart.mark_count; i++)
		free(drawing->mark_labels[i]);
	free(drawing->marks);
	free(drawing->mark_labels);
	free(drawing->x);
	free(drawing->title);
	free(drawing->subtitle);
}

static void show_progress(void *context, size_t done, size_t total)
{
	(void)context;
	fprintf(stderr, "\r\033[K%zu of %zu sizes%s", done, total, done == total ? "\r\033[K" : "");
}

static enum status write_files(const struct advise_command *command, const struct sweep *sweep,
	const struct drawing *drawing, struct error *err)
{
	struct text text = {0};
	enum status status = STATUS_OK;

	if (command->output) {
		chart_svg(&drawing->chart, &text);
		status = common_write(command->output, text_string(&text), err);
	}
	text_clear(&text);
	if (status == STATUS_OK && command->csv) {
		sweep_to_csv(sweep, &text);
		status = common_write(command->csv, text_string(&text), err);
	}
	text_release(&text);
	return status;
}

/* What the machine gets on stdout leaves no room for the plot there. */
static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static enum status print(const struct advise_command *command, const struct sweep *sweep,
	const struct drawing *drawing, struct error *err)
{
	struct text plot = {0};
	enum status status = STATUS_OK;

	if (command->common.json) {
		struct json *json = sweep_to_json(sweep);
		char id[RUN_ID_SIZE];

		run_new_id(id);
		json_put(json, "run", run_tuned_json(sweep->bench, id));
		status = common_write_json("-", json, err);
		json_free(json);
		return status;
	}
	chart_plot(&drawing->chart, PLOT_COLUMNS, PLOT_ROWS, &plot);
	fputs(text_string(&plot),
		is_stdout(command->output) || is_stdout(command->csv) ? stderr : stdout);
	text_release(&plot);
	return status;
}

enum status advise_sweep(const struct advise_command *command, struct context *bench,
	const struct operation *operation, struct error *err)
{
	struct sweep_options options = {.families = command->families.items,
		.configuration = command->config,
		.interrupted = &common_interrupted,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL};
	struct sweep sweep;
	struct drawing drawing;
	enum status status = sweep_run(&sweep, bench, operation,
		command->problems.count ? command->problems.items[0] : NULL, command->sweep,
		&options, err);

	if (status != STATUS_BAD_INPUT)
		common_notices(bench);
	if (status == STATUS_OK) {
		drawing_open(&drawing, &sweep);
		status = write_files(command, &sweep, &drawing, err);
		if (status == STATUS_OK)
			status = print(command, &sweep, &drawing, err);
		drawing_release(&drawing);
	}
	sweep_release(&sweep);
	return status;
}
