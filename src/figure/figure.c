/* SPDX-License-Identifier: MIT */
#include "figure/figure.h"

#include <math.h>
#include <stdio.h>

#include "figure/assets.h"

const struct figure *const figures[] = {
	&figure_comparison,
	&figure_waves,
	&figure_heatmap,
	&figure_wave_fill,
	&figure_roofline,
	&figure_prediction,
	&figure_progress,
	&figure_outcomes,
	NULL,
};

double figure_time_us(const struct report_entry *entry, size_t candidate)
{
	double time_us = report_time_us(&entry->candidates[candidate]);

	return isfinite(time_us) ? time_us : NAN;
}

double figure_predicted_us(const struct report_entry *entry, size_t candidate)
{
	const struct score *score = &entry->candidates[candidate].evaluation->score;

	return score->launch_count && isfinite(score->predicted_time_us) ? score->predicted_time_us
									 : NAN;
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

void figure_legend(struct figure_part *part, double x, double y)
{
	const struct report_entry *entry = part->entry;

	for (size_t i = 0; i < entry->family_name_count; i++) {
		char class[16];

		if (!has_points(entry, i))
			continue;
		snprintf(class, sizeof(class), "s%zu", i % FIGURE_SERIES);
		x = figure_legend_item(&part->canvas, class, i, x, y, entry->family_names[i]);
	}
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

/* ---- the <svg> around a drawing ---- */
static void standalone_head(const struct figure_part *part, struct text *svg)
{
	text_appendf(svg, "<style>:root{%s}@media (prefers-color-scheme:dark){:root{%s}}%s</style>",
		asset_palette_light_css, asset_palette_dark_css, asset_figure_css);
	text_append(svg, asset_patterns_svg);
	text_appendf(svg, "<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>",
		part->canvas.width, part->canvas.height);
}

static void wrap(const struct figure *figure, const struct figure_part *part, struct text *svg)
{
	const struct canvas *canvas = &part->canvas;

	text_appendf(svg, "<svg class=\"figure\" viewBox=\"0 0 %.0f %.0f\"", canvas->width,
		canvas->height);
	if (canvas->standalone)
		text_appendf(svg,
			" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
			"height=\"%.0f\"",
			canvas->width, canvas->height);
	else
		text_appendf(svg, " style=\"max-width:%.0fpx\"", 1.3 * canvas->width);
	text_appendf(svg, " data-figure=\"%s\"%s role=\"img\" aria-label=\"", figure->name,
		text_string(&canvas->attributes));
	canvas_escape(svg, text_string(&part->title));
	text_append(svg, "\">");
	if (canvas->standalone)
		standalone_head(part, svg);
	text_append(svg, text_string(&canvas->body));
	text_append(svg, "</svg>\n");
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
		wrap(figure, &drawn, svg);
		*width = drawn.canvas.width;
		text_append(title, text_string(&drawn.title));
		text_append(caption, text_string(&drawn.caption));
	}
	canvas_release(&drawn.canvas);
	text_release(&drawn.title);
	text_release(&drawn.caption);
	return done;
}
