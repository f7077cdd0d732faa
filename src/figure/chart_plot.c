/* SPDX-License-Identifier: MIT
 *
 * A chart in a terminal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "figure/chart.h"

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
	const size_t ticks = 6;
	double step = chart_tick(grid->x_low, grid->x_high, ticks);
	char *labels = memory_zeroed(grid->columns + 32, 1);
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
	free(labels);
}

void chart_plot(const struct chart *chart, size_t columns, size_t rows, struct text *text)
{
	struct grid grid = {.chart = chart, .columns = columns, .rows = rows};

	text_appendf(text, "%s\n", chart->title);
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
