/* SPDX-License-Identifier: MIT */
#include "figure/figure.h"

#include <math.h>
#include <stdio.h>

/* One line per figure, in order of the page. */
/* clang-format off */
#define FIGURES(row) \
	row(comparison) \
	row(waves) \
	row(heatmap) \
	row(wave_fill) \
	row(roofline) \
	row(prediction) \
	row(progress) \
	row(outcomes)
/* clang-format on */
#define DECLARE(name) extern const struct figure figure_##name;
#define ADDRESS(name) &figure_##name,
FIGURES(DECLARE)
const struct figure *const figures[] = {FIGURES(ADDRESS) NULL};

double figure_time_us(const struct report_entry *entry, size_t candidate)
{
	double time_us = report_time_us(&entry->candidates[candidate]);

	return isfinite(time_us) ? time_us : NAN;
}

double figure_predicted_us(const struct report_entry *entry, size_t candidate)
{
	double time_us = report_predicted_us(&entry->candidates[candidate]);

	return isfinite(time_us) ? time_us : NAN;
}

double figure_legend_item(struct canvas *canvas, const char *class, size_t series, double x,
	double y, const char *label)
{
	double length = 0;

	canvas_path_open(canvas, class);
	canvas_path_marker(canvas, series, x + 5, y - 4, 8);
	canvas_path_close(canvas);
	canvas_text(canvas, "t", x + 14, y, "%s", label);
	for (const char *at = label; *at; at++)
		length += (*at & 0xc0) != 0x80; /* characters of UTF-8 */
	return x + 14 + 8.3 * length + 22;
}

static bool has_points(const struct report_entry *entry, size_t family)
{
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].family == family && entry->candidates[i].measured_rank)
			return true;
	return false;
}

void figure_plot(struct figure_part *part, const struct figure_axis *x, const char *x_column,
	const struct figure_axis *y, const char *y_column)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	double at = FIGURE_LEFT;

	for (size_t i = 0; i < entry->family_name_count; i++) {
		char class[16];

		if (!has_points(entry, i))
			continue;
		snprintf(class, sizeof(class), "s%zu", i % FIGURE_SERIES);
		at = figure_legend_item(canvas, class, i, at, 16, entry->family_names[i]);
	}
	figure_axis_bottom(canvas, x, FIGURE_TOP, FIGURE_BOTTOM);
	figure_axis_left(canvas, y, FIGURE_LEFT, FIGURE_RIGHT);
	figure_axis_data(canvas, "x", x_column, x);
	figure_axis_data(canvas, "y", y_column, y);
}

size_t figure_range(const struct report_entry *entry, figure_value *value, figure_value *needed,
	double *low, double *high)
{
	size_t count = 0;

	for (size_t i = 0; i < entry->candidate_count; i++) {
		const double number = value(entry, i);

		if (!(number > 0 && isfinite(number) && needed(entry, i) > 0))
			continue;
		*low = fmin(*low, number);
		*high = fmax(*high, number);
		count++;
	}
	return count;
}

void figure_winner(struct canvas *canvas, double x, double y)
{
	canvas_circle(canvas, "ring", x, y, 8);
}

void figure_scatter(struct figure_part *part, const struct figure_axis *x,
	const struct figure_axis *y, figure_value *x_of, figure_value *y_of, const char *class)
{
	const struct report_entry *entry = part->entry;
	bool many = entry->candidate_count > 2000;
	double size = many ? 4 : 6;

	for (size_t family = 0; family < entry->family_name_count; family++) {
		struct canvas_points *points =
			canvas_points_new(part->canvas.width, part->canvas.height, many);
		char series[64];
		bool open = false;

		snprintf(series, sizeof(series), "s%zu %s", family % FIGURE_SERIES, class);
		for (size_t i = 0; i < entry->candidate_count; i++) {
			double value_x = x_of(entry, i), value_y = y_of(entry, i);
			double at_x, at_y;

			if (entry->candidates[i].family != family || isnan(value_x) ||
				isnan(value_y))
				continue;
			at_x = figure_axis_at(x, value_x);
			at_y = figure_axis_at(y, value_y);
			if (!canvas_points_take(points, at_x, at_y))
				continue;
			if (!open)
				canvas_path_open(&part->canvas, series);
			open = true;
			canvas_path_marker(&part->canvas, family, at_x, at_y, size);
		}
		if (open)
			canvas_path_close(&part->canvas);
		canvas_points_free(points);
	}
}

bool figure_render(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, size_t part, bool standalone, struct text *svg,
	struct text *title, struct text *caption, double *width)
{
	struct figure_part drawn = {.report = report,
		.entry = entry,
		.part = part,
		.canvas = {
			.width = FIGURE_WIDTH, .height = FIGURE_HEIGHT, .standalone = standalone}};
	bool done = figure->draw(&drawn);

	if (done) {
		canvas_write(&drawn.canvas, figure->name, text_string(&drawn.title), svg);
		*width = drawn.canvas.width;
		text_append(title, text_string(&drawn.title));
		text_append(caption, text_string(&drawn.caption));
	}
	canvas_release(&drawn.canvas);
	text_release(&drawn.title);
	text_release(&drawn.caption);
	return done;
}
