/* SPDX-License-Identifier: MIT */
#include "figure/canvas.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "figure/assets.h"
#include "report/format.h"

void canvas_release(struct canvas *canvas)
{
	text_release(&canvas->body);
	text_release(&canvas->attributes);
}

void canvas_number(struct text *text, double value)
{
	char digits[48];

	snprintf(digits, sizeof(digits), "%.1f", value);
	if (string_ends_with(digits, ".0"))
		digits[strlen(digits) - 2] = '\0';
	text_append(text, strcmp(digits, "-0") == 0 ? "0" : digits);
}

static void attribute(struct canvas *canvas, const char *name, double value)
{
	text_appendf(&canvas->body, " %s=\"", name);
	canvas_number(&canvas->body, value);
	text_append_char(&canvas->body, '"');
}

void canvas_line(
	struct canvas *canvas, const char *class, double x1, double y1, double x2, double y2)
{
	canvas_path_open(canvas, class);
	canvas_path_to(canvas, true, x1, y1);
	canvas_path_to(canvas, false, x2, y2);
	canvas_path_close(canvas);
}

void canvas_rect(
	struct canvas *canvas, const char *class, double x, double y, double width, double height)
{
	text_appendf(&canvas->body, "<rect class=\"%s\"", class);
	attribute(canvas, "x", x);
	attribute(canvas, "y", y);
	attribute(canvas, "width", width);
	attribute(canvas, "height", height);
	text_append(&canvas->body, "/>");
}

void canvas_circle(struct canvas *canvas, const char *class, double x, double y, double radius)
{
	text_appendf(&canvas->body, "<circle class=\"%s\"", class);
	attribute(canvas, "cx", x);
	attribute(canvas, "cy", y);
	attribute(canvas, "r", radius);
	text_append(&canvas->body, "/>");
}

void canvas_text(
	struct canvas *canvas, const char *class, double x, double y, const char *format, ...)
{
	struct text string = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&string, format, args);
	va_end(args);
	text_appendf(&canvas->body, "<text class=\"%s\"", class);
	attribute(canvas, "x", x);
	attribute(canvas, "y", y);
	text_append_char(&canvas->body, '>');
	format_xml(&canvas->body, text_string(&string));
	text_append(&canvas->body, "</text>");
	text_release(&string);
}

void canvas_text_up(
	struct canvas *canvas, const char *class, double x, double y, const char *string)
{
	text_appendf(&canvas->body, "<text class=\"%s\" transform=\"translate(", class);
	canvas_number(&canvas->body, x);
	text_append_char(&canvas->body, ' ');
	canvas_number(&canvas->body, y);
	text_append(&canvas->body, ") rotate(-90)\">");
	format_xml(&canvas->body, string);
	text_append(&canvas->body, "</text>");
}

void canvas_group_open(struct canvas *canvas, const char *format, ...)
{
	struct text string = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&string, format, args);
	va_end(args);
	text_append(&canvas->body, "<g><title>");
	format_xml(&canvas->body, text_string(&string));
	text_append(&canvas->body, "</title>");
	text_release(&string);
}

void canvas_group_close(struct canvas *canvas)
{
	text_append(&canvas->body, "</g>");
}

void canvas_write(
	const struct canvas *canvas, const char *name, const char *title, struct text *svg)
{
	text_appendf(svg, "<svg class=\"figure\" viewBox=\"0 0 %.0f %.0f\"", canvas->width,
		canvas->height);
	if (canvas->standalone)
		text_appendf(svg,
			" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
			"height=\"%.0f\"",
			canvas->width, canvas->height);
	else
		text_appendf(svg, " style=\"max-width:%.0fpx\"", 1.3 * canvas->width);
	text_appendf(svg, " data-figure=\"%s\"%s role=\"img\" aria-label=\"", name,
		text_string(&canvas->attributes));
	format_xml(svg, title);
	text_append(svg, "\">");
	if (canvas->standalone) {
		text_appendf(svg,
			"<style>:root{%s}@media (prefers-color-scheme:dark){:root{%s}}%s</style>%s",
			asset_palette_light_css, asset_palette_dark_css, asset_figure_css,
			asset_patterns_svg);
		text_appendf(svg, "<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>",
			canvas->width, canvas->height);
	}
	text_appendf(svg, "%s</svg>\n", text_string(&canvas->body));
}

/* ---- paths ---- */
void canvas_path_open(struct canvas *canvas, const char *class)
{
	text_appendf(&canvas->body, "<path class=\"%s\" d=\"", class);
}

void canvas_path_to(struct canvas *canvas, bool start, double x, double y)
{
	text_append_char(&canvas->body, start ? 'M' : 'L');
	canvas_number(&canvas->body, x);
	text_append_char(&canvas->body, ' ');
	canvas_number(&canvas->body, y);
}

void canvas_path_close(struct canvas *canvas)
{
	text_append(&canvas->body, "\"/>");
}

void canvas_path_marker(struct canvas *canvas, size_t series, double x, double y, double size)
{
	struct text *body = &canvas->body;
	double half = size / 2;

	switch (series % 6) {
	case 0: /* circle: two arcs */
		canvas_path_to(canvas, true, x - half, y);
		text_appendf(body, "a%.3g %.3g 0 1 0 %.3g 0a%.3g %.3g 0 1 0 %.3g 0", half, half,
			size, half, half, -size);
		break;
	case 1: /* square */
		canvas_path_to(canvas, true, x - half, y - half);
		text_appendf(body, "h%.3gv%.3gh%.3gz", size, size, -size);
		break;
	case 2: /* triangle */
		canvas_path_to(canvas, true, x, y - 0.6 * size);
		text_appendf(body, "l%.3g %.3gh%.3gz", 0.6 * size, size, -1.2 * size);
		break;
	case 3: /* diamond */
		canvas_path_to(canvas, true, x, y - 0.65 * size);
		text_appendf(body, "l%.3g %.3gl%.3g %.3gl%.3g %.3gz", 0.65 * size, 0.65 * size,
			-0.65 * size, 0.65 * size, -0.65 * size, -0.65 * size);
		break;
	case 4: /* triangle upside down */
		canvas_path_to(canvas, true, x, y + 0.6 * size);
		text_appendf(body, "l%.3g %.3gh%.3gz", -0.6 * size, -size, 1.2 * size);
		break;
	default: /* plus */
		canvas_path_to(canvas, true, x - size / 6, y - half);
		text_appendf(body, "h%.3gv%.3gh%.3gv%.3gh%.3gv%.3gh%.3gv%.3gh%.3gv%.3gh%.3gz",
			size / 3, size / 3, size / 3, size / 3, -size / 3, size / 3, -size / 3,
			-size / 3, -size / 3, -size / 3, size / 3);
	}
}

/* ---- points ---- */
struct canvas_points {
	double per_unit;
	size_t columns, rows;
	uint8_t *taken;
};

struct canvas_points *canvas_points_new(double width, double height, bool many)
{
	struct canvas_points *points = memory_zeroed(1, sizeof(*points));

	points->per_unit = many ? 0.4 : 0.8; /* a marker is about five units wide */
	points->columns = (size_t)(width * points->per_unit) + 1;
	points->rows = (size_t)(height * points->per_unit) + 1;
	points->taken = memory_zeroed(points->columns, points->rows);
	return points;
}

bool canvas_points_take(struct canvas_points *points, double x, double y)
{
	double column = floor(x * points->per_unit), row = floor(y * points->per_unit);
	uint8_t *taken;

	if (!(column >= 0 && row >= 0 && column < (double)points->columns &&
		    row < (double)points->rows))
		return false;
	taken = &points->taken[(size_t)row * points->columns + (size_t)column];
	if (*taken)
		return false;
	*taken = 1;
	return true;
}

void canvas_points_free(struct canvas_points *points)
{
	free(points->taken);
	free(points);
}
