/* SPDX-License-Identifier: MIT
 *
 * Comparison: how much longer or shorter the same problem takes in another file.
 */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/comparison.h"
#include "figure/figure.h"
#include "tune/select.h"

enum {
	LEFT = 330,
	RIGHT = 710,
	WIDTH = 760,
	TOP = 32,
	ROW_HEIGHT = 30,
	ROWS_MAX = 60
};

static struct figure_axis axis_of(const struct comparison *comparison, size_t rows)
{
	double low = 0.85, high = 1.15; /* room for the numbers */

	for (size_t i = 0; i < rows; i++) {
		low = fmin(low, 0.9 * comparison->rows[i].low);
		high = fmax(high, 1.1 * comparison->rows[i].high);
	}
	return figure_axis_new(
		true, low, high, LEFT, RIGHT, "time, as a multiple of the first file's");
}

static void draw_row(struct figure_part *part, const struct comparison_row *row,
	const struct figure_axis *x, double y)
{
	struct canvas *canvas = &part->canvas;
	size_t series = report_source_index(part->report, row->second);
	double at = figure_axis_at(x, row->ratio);
	CLEANUP(text_release) struct text number = {0};
	char class[24];

	snprintf(class, sizeof(class), "l%zu", series % FIGURE_SERIES);
	canvas_text(canvas, "t e", LEFT - 10, y + 1, "%.40s", row->second->title);
	canvas_text(canvas, "t m e small", LEFT - 10, y + 13, "%.44s", row->second->label);
	canvas_line(canvas, class, figure_axis_at(x, 1), y, at, y);
	canvas_line(
		canvas, "whisker", figure_axis_at(x, row->low), y, figure_axis_at(x, row->high), y);
	snprintf(class, sizeof(class), "s%zu", series % FIGURE_SERIES);
	canvas_path_open(canvas, class);
	canvas_path_marker(canvas, series, at, y, 9);
	canvas_path_close(canvas);
	text_appendf(&number, "%.2f", row->ratio);
	/* outside of everything that is drawn */
	if (row->ratio < 1)
		canvas_text(canvas, "t e", fmin(at, figure_axis_at(x, row->low)) - 8, y + 4, "%s",
			number.data);
	else
		canvas_text(canvas, "t", fmax(at, figure_axis_at(x, row->high)) + 8, y + 4, "%s",
			number.data);
}

static bool draw(struct figure_part *part)
{
	struct canvas *canvas = &part->canvas;
	struct comparison comparison;
	struct figure_axis x;
	size_t rows;
	double bottom;

	if (part->part)
		return false;
	comparison_make(part->report, &comparison);
	rows = comparison.count < ROWS_MAX ? comparison.count : ROWS_MAX;
	if (!rows) {
		comparison_release(&comparison);
		return false;
	}
	bottom = TOP + ROW_HEIGHT * (double)rows;
	x = axis_of(&comparison, rows);
	canvas->width = WIDTH;
	canvas->height = bottom + 44;
	canvas_rect(canvas, "band", figure_axis_at(&x, 1 - SELECT_TIE_RATIO), TOP - 8,
		figure_axis_at(&x, 1 + SELECT_TIE_RATIO) - figure_axis_at(&x, 1 - SELECT_TIE_RATIO),
		bottom - TOP + 8);
	figure_axis_bottom(canvas, &x, TOP - 8, bottom);
	canvas_line(canvas, "roof", figure_axis_at(&x, 1), TOP - 8, figure_axis_at(&x, 1), bottom);
	canvas_text(canvas, "t m e", figure_axis_at(&x, 1) - 6, TOP - 12, "faster");
	canvas_text(canvas, "t m", figure_axis_at(&x, 1) + 6, TOP - 12, "slower");
	for (size_t i = 0; i < rows; i++)
		draw_row(part, &comparison.rows[i], &x, TOP + ROW_HEIGHT * ((double)i + 0.5));
	text_append(&part->title, "Comparison");
	text_appendf(&part->caption,
		"Time of each problem as a multiple of its time in the first file that has it. "
		"Whiskers: both 95%% intervals; the band is the 1%% by which runs differ anyway.%s",
		comparison.devices_differ ? " The files are of different GPUs." : "");
	if (comparison.count > rows)
		text_appendf(
			&part->caption, " The first %zu of %zu are drawn.", rows, comparison.count);
	comparison_release(&comparison);
	return true;
}

const struct figure figure_comparison = {.name = "comparison", .of_report = true, .draw = draw};
