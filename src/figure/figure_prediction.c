/* SPDX-License-Identifier: MIT
 *
 * Predicted against measured: what the model said before anything ran.
 */
#include <math.h>

#include "figure/figure.h"

static bool draw(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	double low = INFINITY, high = 0;
	struct figure_axis x, y;

	if (part->part || entry->predicted)
		return false;
	if (figure_range(entry, figure_time_us, figure_predicted_us, &low, &high) < 2)
		return false;
	figure_range(entry, figure_predicted_us, figure_time_us, &low, &high);
	text_append(&part->title, "Predicted against measured");
	text_append(&part->caption,
		"On the line the model was right; below it the kernel was faster "
		"than predicted. The band is a factor of 1.25 either way.");
	x = figure_axis_new(true, low, high, FIGURE_LEFT, FIGURE_RIGHT, "predicted, µs");
	y = figure_axis_new(true, low, high, FIGURE_BOTTOM, FIGURE_TOP, "measured, µs");
	canvas_path_open(canvas, "band");
	canvas_path_to(canvas, true, FIGURE_LEFT, figure_axis_at(&y, x.low));
	canvas_path_to(canvas, false, FIGURE_LEFT, figure_axis_at(&y, x.low * 1.25));
	canvas_path_to(canvas, false, figure_axis_at(&x, x.high / 1.25), FIGURE_TOP);
	canvas_path_to(canvas, false, FIGURE_RIGHT, FIGURE_TOP);
	canvas_path_to(canvas, false, FIGURE_RIGHT, figure_axis_at(&y, x.high / 1.25));
	canvas_path_to(canvas, false, figure_axis_at(&x, x.low * 1.25), FIGURE_BOTTOM);
	canvas_path_close(canvas);
	figure_plot(part, &x, "predicted", &y, "time");
	canvas_line(canvas, "roof", FIGURE_LEFT, FIGURE_BOTTOM, FIGURE_RIGHT, FIGURE_TOP);
	figure_scatter(part, &x, &y, figure_predicted_us, figure_time_us, "dots");
	if (entry->winner_index != SIZE_MAX) {
		double predicted = figure_predicted_us(entry, entry->winner_index);
		double measured = figure_time_us(entry, entry->winner_index);

		if (!isnan(predicted) && !isnan(measured))
			figure_winner(canvas, figure_axis_at(&x, predicted),
				figure_axis_at(&y, measured));
	}
	return true;
}

const struct figure figure_prediction = {.name = "prediction", .draw = draw};
