/* SPDX-License-Identifier: MIT */
#include "figure/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "figure/canvas.h"

bool chart_range(const struct chart *chart, double *low, double *high)
{
	const double margin_ratio = 0.05;
	double least = INFINITY, most = -INFINITY;

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->count; i++) {
			double y = chart->series[s].y[i];

			if (!isfinite(y))
				continue;
			least = y < least ? y : least;
			most = y > most ? y : most;
		}
	if (!isfinite(least))
		return false;
	*high = most + margin_ratio * fabs(most);
	*low = least > most / 2 ? least - 2 * margin_ratio * most : 0;
	if (least < 0)
		*low = least - margin_ratio * fabs(least);
	if (!(*high > *low))
		*high = *low + 1;
	return true;
}

/* ---- in a terminal ---- */
static const char symbols[] = "*o+x.~";

struct grid {
	const struct chart *chart;
	size_t columns, rows;
	double x_low, x_high, y_low, y_high;
	char *cells;
};

static size_t column_of(const struct grid *grid, double x)
{
	double at = (x - grid->x_low) / (grid->x_high - grid->x_low) * (double)(grid->columns - 1);

	return (size_t)(at + 0.5);
}

/* Row 0 is the top one. */
static size_t row_of(const struct grid *grid, double y)
{
	double at = (y - grid->y_low) / (grid->y_high - grid->y_low) * (double)(grid->rows - 1);

	return grid->rows - 1 - (size_t)(at + 0.5);
}

static void put(struct grid *grid, double x, double y, char symbol)
{
	grid->cells[row_of(grid, y) * grid->columns + column_of(grid, x)] = symbol;
}

static void fill(struct grid *grid)
{
	const struct chart *chart = grid->chart;

	memset(grid->cells, ' ', grid->columns * grid->rows);
	for (size_t i = 0; i < chart->mark_count; i++)
		for (size_t row = 0; row < grid->rows; row++)
			grid->cells[row * grid->columns + column_of(grid, chart->marks[i].x)] = '|';
	for (size_t s = chart->series_count; s-- > 0;)
		for (size_t i = 0; i < chart->count; i++)
			if (isfinite(chart->series[s].y[i]))
				put(grid, chart->x[i], chart->series[s].y[i],
					symbols[s % (sizeof(symbols) - 1)]);
}

static void print_rows(const struct grid *grid, struct text *text)
{
	const size_t rows_per_tick = 4;

	for (size_t row = 0; row < grid->rows; row++) {
		double y = grid->y_high -
			   (grid->y_high - grid->y_low) * (double)row / (double)(grid->rows - 1);
		size_t length = grid->columns;

		if (row % rows_per_tick == 0 || row + 1 == grid->rows)
			text_appendf(text, "%10.4g |", y);
		else
			text_appendf(text, "%10s |", "");
		while (length && grid->cells[row * grid->columns + length - 1] == ' ')
			length--;
		text_append_bytes(text, grid->cells + row * grid->columns, length);
		text_append_char(text, '\n');
	}
}

static void print_bottom(const struct grid *grid, struct text *text)
{
	const double ticks = 6;
	double step = figure_axis_step(grid->x_low, grid->x_high, ticks);
	CLEANUP(memory_free) char *labels = memory_zeroed(grid->columns + 32, 1);
	size_t free_from = 0, length = 0;

	memset(labels, ' ', grid->columns + 16);
	for (double x = ceil(grid->x_low / step) * step; x <= grid->x_high; x += step) {
		char label[32];
		size_t at = column_of(grid, x), size;

		size = (size_t)snprintf(label, sizeof(label), "%.8g", x);
		if (at < free_from || size > 12)
			continue;
		memcpy(labels + at, label, size);
		length = at + size;
		free_from = length + 2;
	}
	labels[length] = '\0';
	text_appendf(text, "%10s +", "");
	for (size_t i = 0; i < grid->columns; i++)
		text_append_char(text, '-');
	text_appendf(text, "\n%10s  %s\n", "", labels);
}

void chart_plot(const struct chart *chart, size_t columns, size_t rows, struct text *text)
{
	struct grid grid = {.chart = chart, .columns = columns, .rows = rows};

	text_appendf(text, "%s\n", chart->title);
	if (chart->subtitle)
		text_appendf(text, "%s\n", chart->subtitle);
	if (!chart->count || columns < 2 || rows < 2 ||
		!chart_range(chart, &grid.y_low, &grid.y_high)) {
		text_append(text, "  nothing to draw\n");
		return;
	}
	grid.x_low = chart->x[0];
	grid.x_high = chart->x[chart->count - 1];
	if (!(grid.x_high > grid.x_low))
		grid.x_high = grid.x_low + 1;
	grid.cells = memory_zeroed(columns * rows + 1, 1);
	fill(&grid);
	text_appendf(text, "  %s\n", chart->y_label);
	print_rows(&grid, text);
	print_bottom(&grid, text);
	for (size_t s = 0; s < chart->series_count; s++)
		text_appendf(text, "%10s  %c %s\n", s ? "" : chart->x_label,
			symbols[s % (sizeof(symbols) - 1)], chart->series[s].name);
	if (chart->mark_count && chart->mark_label)
		text_appendf(text, "%10s  | %s\n", "", chart->mark_label);
	free(grid.cells);
}

/* ---- SVG ---- */
enum {
	WIDTH = 960,
	LEFT = 72,
	RIGHT = WIDTH - 24,
	TOP = 64,
	BOTTOM = 376,
	LEGEND_TOP = BOTTOM + 58,
	LEGEND_LINE = 18,
	NAME_BYTES_MAX = 112, /* of a name in the legend: what is sure to fit */
	SERIES_COLOURS = 6,
	MARK_LABEL_WIDTH = 26,
};

static void draw_marks(
	struct canvas *canvas, const struct chart *chart, const struct figure_axis *x)
{
	double labelled = -INFINITY;

	for (size_t i = 0; i < chart->mark_count; i++) {
		double at = figure_axis_at(x, chart->marks[i].x);

		canvas_line(canvas, "edge", at, TOP, at, BOTTOM);
		if (at - labelled < MARK_LABEL_WIDTH)
			continue;
		canvas_text(canvas, "t m c small", at, TOP - 4, "%.0f", chart->marks[i].number);
		labelled = at;
	}
}

static const char *const line_classes[] = {
	[CHART_LINE] = "", [CHART_DASHED] = " dashed", [CHART_THIN] = " thin"};

static void draw_series(struct canvas *canvas, const struct chart *chart, size_t index,
	const struct figure_axis *x, const struct figure_axis *y)
{
	const struct chart_series *series = &chart->series[index];
	bool drawing = false;
	char class[24];

	snprintf(class, sizeof(class), "l%zu%s", index % SERIES_COLOURS,
		line_classes[series->style]);
	canvas_path_open(canvas, class);
	for (size_t i = 0; i < chart->count; i++) {
		if (isfinite(series->y[i]))
			canvas_path_to(canvas, !drawing, figure_axis_at(x, chart->x[i]),
				figure_axis_at(y, series->y[i]));
		/* a thin line may have its points far apart */
		drawing = isfinite(series->y[i]) || (drawing && series->style == CHART_THIN);
	}
	canvas_path_close(canvas);
	if (series->style == CHART_DASHED)
		return;
	snprintf(class, sizeof(class), "s%zu", index % SERIES_COLOURS);
	for (size_t i = 0; i < chart->count; i++) {
		if (!isfinite(series->y[i]))
			continue;
		canvas_group_open(canvas, "%.8g: %.5g", chart->x[i], series->y[i]);
		canvas_circle(canvas, class, figure_axis_at(x, chart->x[i]),
			figure_axis_at(y, series->y[i]), series->style == CHART_LINE ? 1.8 : 1.1);
		canvas_group_close(canvas);
	}
}

static void draw_legend(struct canvas *canvas, const struct chart *chart)
{
	double y = LEGEND_TOP;

	for (size_t s = 0; s < chart->series_count; s++, y += LEGEND_LINE) {
		const char *name = chart->series[s].name;
		char class[24];

		snprintf(class, sizeof(class), "l%zu%s", s % SERIES_COLOURS,
			line_classes[chart->series[s].style]);
		canvas_line(canvas, class, LEFT, y - 4, LEFT + 26, y - 4);
		/* all of it under the pointer */
		canvas_group_open(canvas, "%s", name);
		canvas_text(canvas, "t m small", LEFT + 34, y, "%.*s%s", NAME_BYTES_MAX, name,
			strlen(name) > NAME_BYTES_MAX ? " ..." : "");
		canvas_group_close(canvas);
	}
	if (chart->mark_count && chart->mark_label) {
		canvas_line(canvas, "edge", LEFT, y - 4, LEFT + 26, y - 4);
		canvas_text(canvas, "t m small", LEFT + 34, y, "%s", chart->mark_label);
	}
}

void chart_svg(const struct chart *chart, struct text *svg)
{
	size_t legend = chart->series_count + (chart->mark_count ? 1 : 0);
	CLEANUP(canvas_release)
	struct canvas canvas = {.width = WIDTH,
		.height = LEGEND_TOP + (double)(legend * LEGEND_LINE),
		.standalone = true};
	double low, high;

	canvas_text(&canvas, "t strong", LEFT, 22, "%s", chart->title);
	canvas_text(&canvas, "t m small", LEFT, 40, "%s", chart->subtitle ? chart->subtitle : "");
	if (chart->count && chart_range(chart, &low, &high)) {
		struct figure_axis x = figure_axis_new(false, chart->x[0],
			chart->x[chart->count - 1], LEFT, RIGHT, chart->x_label);
		struct figure_axis y =
			figure_axis_new(false, low, high, BOTTOM, TOP, chart->y_label);

		figure_axis_bottom(&canvas, &x, TOP, BOTTOM);
		figure_axis_left(&canvas, &y, LEFT, RIGHT);
		draw_marks(&canvas, chart, &x);
		for (size_t s = chart->series_count; s-- > 0;)
			draw_series(&canvas, chart, s, &x, &y);
		draw_legend(&canvas, chart);
	}
	canvas_write(&canvas, "chart", chart->title, svg);
}
