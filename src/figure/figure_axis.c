/* SPDX-License-Identifier: MIT
 *
 * Scales, ticks and axes.
 */
#include <math.h>

#include "base/memory.h"
#include "figure/figure.h"

enum {
	TICKS_MAX = 24
};

struct figure_axis figure_axis_new(
	bool log, double low, double high, double from, double to, const char *title)
{
	struct figure_axis axis = {
		.log = log, .low = low, .high = high, .from = from, .to = to, .title = title};

	if (log) {
		double margin = fmax(0.04 * (log10(high) - log10(low)), 0.02);

		axis.low = pow(10, log10(low) - margin);
		axis.high = pow(10, log10(high) + margin);
	} else if (high <= low) {
		axis.high = low + 1;
	}
	return axis;
}

double figure_axis_at(const struct figure_axis *axis, double value)
{
	double share = axis->log ? (log10(value) - log10(axis->low)) /
					   (log10(axis->high) - log10(axis->low))
				 : (value - axis->low) / (axis->high - axis->low);

	return axis->from + share * (axis->to - axis->from);
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` steps make `span`. */
static double step_of(double span, double wanted)
{
	double raw = span / wanted, power = pow(10, floor(log10(raw)));
	double digit = raw / power;

	return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
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
	const double decades = log10(axis->high / axis->low);
	size_t count = 0;

	if (!axis->log || log10(axis->high / axis->low) < 0.5) {
		double step = step_of(axis->high - axis->low, wanted);

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

static void label_tick(struct text *label, double value)
{
	if (fabs(value) >= 10000 && fmod(value, 1000) == 0)
		text_appendf(label, "%.0fk", value / 1000);
	else if (value == rint(value))
		text_appendf(label, "%.0f", value + 0.0); /* no "-0" */
	else
		text_appendf(label, "%.3g", value);
}

void figure_axis_bottom(
	struct canvas *canvas, const struct figure_axis *axis, double top, double bottom)
{
	double ticks[TICKS_MAX];
	size_t count = ticks_of(axis, fabs(axis->to - axis->from) / 70, ticks);

	for (size_t i = 0; i < count; i++) {
		double x = figure_axis_at(axis, ticks[i]);
		struct text label = {0};

		canvas_line(canvas, "grid", x, top, x, bottom);
		label_tick(&label, ticks[i]);
		canvas_text(canvas, "t m c", x, bottom + 16, "%s", text_string(&label));
		text_release(&label);
	}
	canvas_line(canvas, "axis", axis->from, bottom, axis->to, bottom);
	canvas_text(canvas, "t c", (axis->from + axis->to) / 2, bottom + 34, "%s", axis->title);
}

void figure_axis_left(
	struct canvas *canvas, const struct figure_axis *axis, double left, double right)
{
	double ticks[TICKS_MAX];
	size_t count = ticks_of(axis, fabs(axis->to - axis->from) / 45, ticks);

	for (size_t i = 0; i < count; i++) {
		double y = figure_axis_at(axis, ticks[i]);
		struct text label = {0};

		canvas_line(canvas, "grid", left, y, right, y);
		label_tick(&label, ticks[i]);
		canvas_text(canvas, "t m e", left - 6, y + 4, "%s", text_string(&label));
		text_release(&label);
	}
	canvas_text_up(canvas, "t c", 14, (axis->from + axis->to) / 2, axis->title);
}

void figure_axis_data(
	struct canvas *canvas, const char *name, const char *column, const struct figure_axis *axis)
{
	text_appendf(&canvas->attributes, " data-%s=\"%s %d %.6g %.6g %.6g %.6g\"", name, column,
		axis->log, axis->low, axis->high, axis->from, axis->to);
}
