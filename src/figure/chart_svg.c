/* SPDX-License-Identifier: MIT
 *
 * A chart as SVG.
 */
#include <math.h>
#include <string.h>

#include "figure/chart.h"

enum {
	WIDTH = 960,
	NAME_MAX_SHOWN = 112, /* characters of 11px that are sure to fit */
	HEIGHT = 460,
	LEFT = 72,
	RIGHT = 24,
	TOP = 64,
	BOTTOM = 84,
	LEGEND_LINE = 18,
	MARK_LABEL_ROOM = 26,
};

static const char style[] =
	"<style>"
	"svg{font:13px system-ui,sans-serif;background:#fff;color:#222}"
	".a{stroke:#888;stroke-width:1}.g{stroke:#ddd;stroke-width:1}"
	".m{stroke:#b58900;stroke-width:1;stroke-dasharray:2 3}"
	".l{fill:none;stroke-linejoin:round}text{fill:#222}.s{font-size:11px;fill:#666}"
	".k{font-size:10px;fill:#8a6a00}"
	"@media(prefers-color-scheme:dark){svg{background:#16181c}text{fill:#ddd}.g{stroke:#333}"
	".s{fill:#999}.k{fill:#d0a53a}}"
	"</style>\n";
static const char *const colours[] = {
	"#1f6feb", "#d1495b", "#2a9d5c", "#8e5bc0", "#e08a1e", "#3aa6b9"};

struct frame {
	const struct chart *chart;
	double x_low, x_high, y_low, y_high;
	double height; /* with the legend */
	struct text *svg;
};

static void escape(struct text *svg, const char *string)
{
	for (; *string; string++) {
		switch (*string) {
		case '&':
			text_append(svg, "&amp;");
			break;
		case '<':
			text_append(svg, "&lt;");
			break;
		case '>':
			text_append(svg, "&gt;");
			break;
		case '"':
			text_append(svg, "&quot;");
			break;
		default:
			text_append_char(svg, *string);
		}
	}
}

static void put_text(struct text *svg, const char *class, const char *anchor, double x, double y,
	const char *string)
{
	text_appendf(svg, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
		anchor, x, y);
	escape(svg, string);
	text_append(svg, "</text>\n");
}

static void put_line(
	struct text *svg, const char *class, double x1, double y1, double x2, double y2)
{
	text_appendf(svg, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
		class, x1, y1, x2, y2);
}

static double place_x(const struct frame *frame, double x)
{
	return LEFT + (x - frame->x_low) / (frame->x_high - frame->x_low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *frame, double y)
{
	return HEIGHT - BOTTOM -
	       (y - frame->y_low) / (frame->y_high - frame->y_low) * (HEIGHT - TOP - BOTTOM);
}

static void draw_axes(const struct frame *frame)
{
	const size_t ticks_x = 10, ticks_y = 6;
	struct text *svg = frame->svg;
	double step_x = chart_tick(frame->x_low, frame->x_high, ticks_x);
	double step_y = chart_tick(frame->y_low, frame->y_high, ticks_y);
	struct text label = {0};

	for (double y = ceil(frame->y_low / step_y) * step_y; y <= frame->y_high; y += step_y) {
		put_line(svg, "g", LEFT, place_y(frame, y), WIDTH - RIGHT, place_y(frame, y));
		text_clear(&label);
		text_appendf(&label, "%.6g", y);
		put_text(svg, "s", "end", LEFT - 8, place_y(frame, y) + 4, text_string(&label));
	}
	for (double x = ceil(frame->x_low / step_x) * step_x; x <= frame->x_high; x += step_x) {
		put_line(svg, "a", place_x(frame, x), HEIGHT - BOTTOM, place_x(frame, x),
			HEIGHT - BOTTOM + 5);
		text_clear(&label);
		text_appendf(&label, "%.8g", x);
		put_text(svg, "s", "middle", place_x(frame, x), HEIGHT - BOTTOM + 19,
			text_string(&label));
	}
	text_release(&label);
	put_line(svg, "a", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
	put_line(svg, "a", LEFT, TOP, LEFT, HEIGHT - BOTTOM);
	put_text(svg, "s", "middle", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 37,
		frame->chart->x_label);
	text_appendf(svg,
		"<text class=\"s\" text-anchor=\"middle\" transform=\"translate(16 %.1f) "
		"rotate(-90)\">",
		(TOP + HEIGHT - BOTTOM) / 2.0);
	escape(svg, frame->chart->y_label);
	text_append(svg, "</text>\n");
}

static void draw_marks(const struct frame *frame)
{
	const struct chart *chart = frame->chart;
	double labelled = -INFINITY;

	for (size_t i = 0; i < chart->mark_count; i++) {
		double x = place_x(frame, chart->marks[i].x);

		put_line(frame->svg, "m", x, TOP, x, HEIGHT - BOTTOM);
		if (x - labelled < MARK_LABEL_ROOM || !chart->marks[i].label)
			continue;
		put_text(frame->svg, "k", "middle", x, TOP - 4, chart->marks[i].label);
		labelled = x;
	}
}

static void draw_path(const struct frame *frame, size_t index)
{
	static const char *const strokes[] = {[CHART_LINE] = "stroke-width=\"1.8\"",
		[CHART_DASHED] = "stroke-width=\"1.4\" stroke-dasharray=\"5 4\"",
		[CHART_THIN] = "stroke-width=\"0.9\" stroke-opacity=\"0.75\""};
	const struct chart_series *series = &frame->chart->series[index];
	const char *colour = colours[index % (sizeof(colours) / sizeof(colours[0]))];
	bool drawing = false;

	text_appendf(frame->svg, "<path class=\"l\" stroke=\"%s\" %s d=\"", colour,
		strokes[series->style]);
	for (size_t i = 0; i < frame->chart->count; i++) {
		if (!isfinite(series->y[i])) {
			/* a thin line may have its points far apart */
			drawing &= series->style == CHART_THIN;
			continue;
		}
		text_appendf(frame->svg, "%s%.1f %.1f", drawing ? " L" : " M",
			place_x(frame, frame->chart->x[i]), place_y(frame, series->y[i]));
		drawing = true;
	}
	text_append(frame->svg, "\"/>\n");
	if (series->style == CHART_DASHED)
		return;
	for (size_t i = 0; i < frame->chart->count; i++)
		if (isfinite(series->y[i]))
			text_appendf(frame->svg,
				"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"><title>"
				"%.8g: %.5g</title></circle>\n",
				place_x(frame, frame->chart->x[i]), place_y(frame, series->y[i]),
				series->style == CHART_LINE ? 1.8 : 1.1, colour, frame->chart->x[i],
				series->y[i]);
}

/* A series' name, as much as there is room for; all of it under the pointer. */
static void put_name(struct text *svg, double x, double y, const char *name)
{
	struct text shown = {0};
	size_t length = strlen(name);

	text_append_bytes(&shown, name, length < NAME_MAX_SHOWN ? length : NAME_MAX_SHOWN);
	if (length > NAME_MAX_SHOWN)
		text_append(&shown, " ...");
	text_append(svg, "<g><title>");
	escape(svg, name);
	text_append(svg, "</title>");
	put_text(svg, "s", "start", x, y, text_string(&shown));
	text_append(svg, "</g>\n");
	text_release(&shown);
}

static void draw_legend(const struct frame *frame)
{
	const struct chart *chart = frame->chart;
	double y = HEIGHT - BOTTOM + 58;

	for (size_t s = 0; s < chart->series_count; s++, y += LEGEND_LINE) {
		text_appendf(frame->svg,
			"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" "
			"stroke-width=\"2\"%s/>\n",
			LEFT, y - 4, LEFT + 26, y - 4,
			colours[s % (sizeof(colours) / sizeof(colours[0]))],
			chart->series[s].style == CHART_DASHED ? " stroke-dasharray=\"5 4\"" : "");
		put_name(frame->svg, LEFT + 34, y, chart->series[s].name);
	}
	if (chart->mark_count && chart->mark_label) {
		put_line(frame->svg, "m", LEFT, y - 4, LEFT + 26, y - 4);
		put_text(frame->svg, "s", "start", LEFT + 34, y, chart->mark_label);
	}
}

void chart_svg(const struct chart *chart, struct text *svg)
{
	struct frame frame = {.chart = chart, .svg = svg};
	size_t legend = chart->series_count + (chart->mark_count ? 1 : 0);

	frame.height = HEIGHT - 26 + (double)(legend * LEGEND_LINE);
	text_appendf(svg,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
		"height=\"%.0f\">\n",
		WIDTH, frame.height, WIDTH, frame.height);
	text_append(svg, style);
	put_text(svg, "t", "start", LEFT, 22, chart->title);
	put_text(svg, "s", "start", LEFT, 40, chart->subtitle ? chart->subtitle : "");
	if (chart->count && chart_range(chart, &frame.y_low, &frame.y_high)) {
		frame.x_low = chart->x[0];
		frame.x_high = chart->x[chart->count - 1];
		if (!(frame.x_high > frame.x_low))
			frame.x_high = frame.x_low + 1;
		draw_axes(&frame);
		draw_marks(&frame);
		for (size_t s = chart->series_count; s-- > 0;)
			draw_path(&frame, s);
		draw_legend(&frame);
	}
	text_append(svg, "</svg>\n");
}
