/* SPDX-License-Identifier: MIT */
#include "figure/figure_axis.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

enum {
	TICKS_MAX = 24,
	LABEL_SIZE = 32
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
	const double decades = log10(axis->high / axis->low);
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
