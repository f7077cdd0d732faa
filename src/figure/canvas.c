/* SPDX-License-Identifier: MIT */
#include "figure/canvas.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/format.h"

void canvas_release(struct canvas *canvas)
{
	text_release(&canvas->body);
	text_release(&canvas->attributes);
}

/* What a file says may be any number, and what is drawn of it lies near the figure. */
static double within(double value, double low, double high)
{
	return value > low ? fmin(value, high) : low; /* NaN: low */
}

void canvas_number(struct text *text, double value)
{
	char digits[48];

	snprintf(digits, sizeof(digits), "%.1f", isnan(value) ? 0 : within(value, -1e5, 1e5));
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
	va_list args;

	text_appendf(&canvas->body, "<text class=\"%s\"", class);
	attribute(canvas, "x", x);
	attribute(canvas, "y", y);
	text_append_char(&canvas->body, '>');
	va_start(args, format);
	format_put_args(&canvas->body, format_xml, format, args);
	va_end(args);
	text_append(&canvas->body, "</text>");
}

void canvas_text_up(
	struct canvas *canvas, const char *class, double x, double y, const char *string)
{
	text_appendf(&canvas->body, "<text class=\"%s\" transform=\"translate(", class);
	canvas_number(&canvas->body, x);
	text_append_char(&canvas->body, ' ');
	canvas_number(&canvas->body, y);
	format_put(&canvas->body, format_xml, ") rotate(-90)\">%s</text>", string);
}

void canvas_group_open(struct canvas *canvas, const char *format, ...)
{
	va_list args;

	text_append(&canvas->body, "<g><title>");
	va_start(args, format);
	format_put_args(&canvas->body, format_xml, format, args);
	va_end(args);
	text_append(&canvas->body, "</title>");
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

/* ---- axes ---- */
enum {
	TICKS_MAX = 24,
	LABEL_SIZE = 32
};

struct figure_axis figure_axis_new(
	bool log, double low, double high, double from, double to, const char *title)
{
	const double most = 1e30, least = log ? 1 / most : -most;
	struct figure_axis axis = {.log = log,
		.low = within(low, least, most),
		.high = within(high, least, most),
		.from = from,
		.to = to,
		.title = title};

	axis.high = fmax(axis.high, axis.low);
	if (log) {
		double margin = fmax(0.04 * log10(axis.high / axis.low), 0.02);

		axis.low *= pow(10, -margin);
		axis.high *= pow(10, margin);
	} else if (axis.high - axis.low <= 1e-9 * fabs(axis.low)) {
		axis.high = axis.low + fmax(1, 1e-6 * fabs(axis.low));
	}
	return axis;
}

double figure_axis_at(const struct figure_axis *axis, double value)
{
	double share = axis->log ? (log10(value) - log10(axis->low)) /
					   (log10(axis->high) - log10(axis->low))
				 : (value - axis->low) / (axis->high - axis->low);

	return axis->from + within(share, -1, 2) * (axis->to - axis->from);
}

double figure_axis_step(double low, double high, double most)
{
	static const double digits[] = {1, 2, 5};
	double raw = (high - low) / fmax(most, 1), power;

	if (!(raw > 0))
		return 1;
	power = pow(10, floor(log10(raw)));
	for (size_t i = 0; i < ARRAY_COUNT(digits); i++)
		if (digits[i] * power >= raw * (1 - 1e-9))
			return digits[i] * power;
	return 10 * power;
}

static size_t add_tick(const struct figure_axis *axis, double value, double *ticks, size_t count)
{
	double slack = axis->log ? 0 : 1e-9 * (axis->high - axis->low);

	if (count < TICKS_MAX && value >= axis->low - slack && value <= axis->high + slack)
		ticks[count++] = value;
	return count;
}

static size_t decade_ticks(const struct figure_axis *axis, const double *digits, size_t digit_count,
	double ticks[TICKS_MAX])
{
	size_t count = 0;

	for (double power = floor(log10(axis->low)); power <= ceil(log10(axis->high)); power++)
		for (size_t i = 0; i < digit_count; i++)
			count = add_tick(axis, digits[i] * pow(10, power), ticks, count);
	return count;
}

static size_t ticks_of(const struct figure_axis *axis, double wanted, double ticks[TICKS_MAX])
{
	static const double digits[] = {1, 1.5, 2, 3, 4, 5, 7}, whole[] = {1}, few[] = {1, 2, 5};
	const double decades = axis->log ? log10(axis->high / axis->low) : 0;
	size_t count = 0;

	if (!axis->log || decades < 0.5) {
		double step = figure_axis_step(axis->low, axis->high, 1.4 * wanted);

		for (double at = ceil(axis->low / step - 1e-9); at * step <= axis->high * 1.0001;
			at++)
			count = add_tick(axis, at * step, ticks, count);
		return count;
	}
	if (axis->powers_of_two) {
		double factor = log2(axis->high / axis->low) > 1.4 * wanted ? 4 : 2;

		for (double at = exp2(ceil(log2(axis->low))); at <= axis->high; at *= factor)
			count = add_tick(axis, at, ticks, count);
		return count;
	}
	/* as many ticks as there is room for */
	if (3 * decades > 1.6 * wanted)
		return decade_ticks(axis, whole, ARRAY_COUNT(whole), ticks);
	if (3 * decades > 0.6 * wanted)
		return decade_ticks(axis, few, ARRAY_COUNT(few), ticks);
	return decade_ticks(axis, digits, ARRAY_COUNT(digits), ticks);
}

static void label_tick(char label[LABEL_SIZE], double value)
{
	if (fabs(value) >= 10000 && fmod(value, 1000) == 0)
		snprintf(label, LABEL_SIZE, "%.0fk", value / 1000);
	else if (value == rint(value))
		snprintf(label, LABEL_SIZE, "%.0f", value + 0.0); /* no "-0" */
	else
		snprintf(label, LABEL_SIZE, "%.3g", value);
}

/* Where ticks are, and what is written at them. */
struct ticks {
	double at[TICKS_MAX];
	char labels[TICKS_MAX][LABEL_SIZE];
	size_t count;
};

static void ticks_find(const struct figure_axis *axis, double units_per_tick, struct ticks *ticks)
{
	double values[TICKS_MAX];

	ticks->count = ticks_of(axis, fabs(axis->to - axis->from) / units_per_tick, values);
	for (size_t i = 0; i < ticks->count; i++) {
		ticks->at[i] = figure_axis_at(axis, values[i]);
		label_tick(ticks->labels[i], values[i]);
	}
}

void figure_axis_bottom(
	struct canvas *canvas, const struct figure_axis *axis, double top, double bottom)
{
	struct ticks ticks;

	ticks_find(axis, 70, &ticks);
	for (size_t i = 0; i < ticks.count; i++) {
		canvas_line(canvas, "grid", ticks.at[i], top, ticks.at[i], bottom);
		canvas_text(canvas, "t m c", ticks.at[i], bottom + 16, "%s", ticks.labels[i]);
	}
	canvas_line(canvas, "axis", axis->from, bottom, axis->to, bottom);
	canvas_text(canvas, "t c", (axis->from + axis->to) / 2, bottom + 34, "%s", axis->title);
}

void figure_axis_left(
	struct canvas *canvas, const struct figure_axis *axis, double left, double right)
{
	struct ticks ticks;

	ticks_find(axis, 45, &ticks);
	for (size_t i = 0; i < ticks.count; i++) {
		canvas_line(canvas, "grid", left, ticks.at[i], right, ticks.at[i]);
		canvas_text(canvas, "t m e", left - 6, ticks.at[i] + 4, "%s", ticks.labels[i]);
	}
	canvas_text_up(canvas, "t c", 14, (axis->from + axis->to) / 2, axis->title);
}

void figure_axis_data(
	struct canvas *canvas, const char *name, const char *column, const struct figure_axis *axis)
{
	text_appendf(&canvas->attributes, " data-%s=\"%s %d %.6g %.6g %.6g %.6g\"", name, column,
		axis->log, axis->low, axis->high, axis->from, axis->to);
}
