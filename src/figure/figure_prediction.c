/* SPDX-License-Identifier: MIT
 *
 * Predicted against measured: what the model said before anything ran.
 */
#include <math.h>

#include "figure/figure.h"

enum {
	LEFT = 62,
	RIGHT = 466,
	TOP = 34,
	BOTTOM = 276
};

static bool draw(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	double low = INFINITY, high = 0;
	struct figure_axis x, y;
	size_t count = 0;

	if (part->part || entry->predicted)
		return false;
	for (size_t i = 0; i < entry->candidate_count; i++) {
		double measured = figure_time_us(entry, i),
		       predicted = figure_predicted_us(entry, i);

		if (isnan(measured) || isnan(predicted))
			continue;
		low = fmin(low, fmin(measured, predicted));
		high = fmax(high, fmax(measured, predicted));
		count++;
	}
	if (count < 2)
		return false;
	text_append(&part->title, "Predicted against measured");
	text_append(&part->caption,
		"On the line the model was right; below it the kernel was faster "
		"than predicted. The band is a factor of 1.25 either way.");
	x = figure_axis_new(true, low, high, LEFT, RIGHT, "predicted, µs");
	y = figure_axis_new(true, low, high, BOTTOM, TOP, "measured, µs");
	figure_legend(part, LEFT, 16);
	canvas_path_open(canvas, "band");
	canvas_path_to(canvas, true, LEFT, figure_axis_at(&y, x.low));
	canvas_path_to(canvas, false, LEFT, figure_axis_at(&y, x.low * 1.25));
	canvas_path_to(canvas, false, figure_axis_at(&x, x.high / 1.25), TOP);
	canvas_path_to(canvas, false, RIGHT, TOP);
	canvas_path_to(canvas, false, RIGHT, figure_axis_at(&y, x.high / 1.25));
	canvas_path_to(canvas, false, figure_axis_at(&x, x.low * 1.25), BOTTOM);
	canvas_path_close(canvas);
	figure_axis_bottom(canvas, &x, TOP, BOTTOM);
	figure_axis_left(canvas, &y, LEFT, RIGHT);
	canvas_line(canvas, "roof", LEFT, BOTTOM, RIGHT, TOP);
	figure_scatter(part, &x, &y, figure_predicted_us, figure_time_us, "dots");
	if (entry->winner_index != SIZE_MAX) {
		double predicted = figure_predicted_us(entry, entry->winner_index);
		double measured = figure_time_us(entry, entry->winner_index);

		if (!isnan(predicted) && !isnan(measured))
			figure_winner(canvas, figure_axis_at(&x, predicted),
				figure_axis_at(&y, measured));
	}
	figure_axis_data(canvas, "x", "predicted", &x);
	figure_axis_data(canvas, "y", "time", &y);
	return true;
}

const struct figure figure_prediction = {.name = "prediction", .draw = draw};
