/* SPDX-License-Identifier: MIT
 *
 * Roofline: speed against arithmetic intensity, under the ceilings of memory and of each pipe that
 * the problem's element type has on this device.
 */
#include <math.h>

#include "report/comparison.h"
#include "figure/figure.h"

static double intensity_of(const struct report_entry *entry, size_t candidate)
{
	const struct launch_score *longest =
		report_longest(&entry->candidates[candidate].evaluation->score);

	return longest && longest->arithmetic_intensity > 0 ? longest->arithmetic_intensity : NAN;
}

static double tflops_of(const struct report_entry *entry, size_t candidate)
{
	return entry->flop / figure_time_us(entry, candidate) * 1e-6;
}

struct range {
	double low_x, high_x, low_y, high_y;
};

static void widen(struct range *range, double x, double y)
{
	range->low_x = fmin(range->low_x, x);
	range->high_x = fmax(range->high_x, x);
	range->low_y = fmin(range->low_y, y);
	range->high_y = fmax(range->high_y, y);
}

static struct range range_of(
	const struct report_entry *entry, const struct ceiling *ceilings, size_t count)
{
	const struct launch_score *winner = report_longest(&entry->winner.score);
	struct range range = {INFINITY, 0, INFINITY, 0};

	figure_range(entry, intensity_of, tflops_of, &range.low_x, &range.high_x);
	figure_range(entry, tflops_of, intensity_of, &range.low_y, &range.high_y);
	if (entry->has_winner && winner && isfinite(winner->arithmetic_intensity) &&
		winner->arithmetic_intensity > 0 && entry->winner.tflops > 0)
		widen(&range, winner->arithmetic_intensity, entry->winner.tflops);
	/* the ridge of the highest roof is what the picture is about */
	if (range.high_x > 0 && count)
		widen(&range, ceilings[0].tflops * 1e12 / entry->spec->dram_bytes_per_s,
			ceilings[0].tflops);
	return range;
}

static void draw_memory(struct canvas *canvas, const struct device_spec *spec,
	const struct figure_axis *x, const struct figure_axis *y, double top_tflops)
{
	double slope = spec->dram_bytes_per_s * 1e-12; /* TFLOP/s per FLOP/B */
	double from = fmax(x->low, y->low / slope), to = fmin(x->high, top_tflops / slope);
	double at_x, at_y;

	if (to <= from)
		return;
	canvas_line(canvas, "roof", figure_axis_at(x, from), figure_axis_at(y, from * slope),
		figure_axis_at(x, to), figure_axis_at(y, to * slope));
	/* beside the line, on its right */
	at_x = figure_axis_at(x, sqrt(from * to));
	at_y = figure_axis_at(y, sqrt(from * to) * slope);
	canvas_text(canvas, "t roof-label", fmin(at_x + 8, FIGURE_RIGHT - 130),
		fmin(at_y + 14, FIGURE_BOTTOM - 6), "DRAM %.3g TB/s",
		spec->dram_bytes_per_s * 1e-12);
}

static void draw_ceiling(struct canvas *canvas, const struct device_spec *spec,
	const struct ceiling *ceiling, const struct figure_axis *x, const struct figure_axis *y)
{
	double ridge = ceiling->tflops * 1e12 / spec->dram_bytes_per_s;
	double at_y = figure_axis_at(y, ceiling->tflops);
	double from = figure_axis_at(x, fmax(x->low, ridge));

	if (ceiling->tflops < y->low || from >= FIGURE_RIGHT)
		return;
	canvas_line(canvas, "roof", from, at_y, FIGURE_RIGHT, at_y);
}

/* Above the line; on top of the candidates, so that it can be read. */
static void label_ceiling(struct canvas *canvas, const struct device_spec *spec,
	const struct ceiling *ceiling, const struct figure_axis *x, const struct figure_axis *y)
{
	if (ceiling->tflops >= y->low && ceiling->tflops * 1e12 / spec->dram_bytes_per_s < x->high)
		canvas_text(canvas, "t roof-label e", FIGURE_RIGHT,
			figure_axis_at(y, ceiling->tflops) - 5, "%s %.0f", ceiling->brief,
			ceiling->tflops);
}

/* Its time in the search, as of the other candidates, where that is known. */
static void draw_winner(
	struct figure_part *part, const struct figure_axis *x, const struct figure_axis *y)
{
	const struct report_entry *entry = part->entry;
	const struct launch_score *longest = report_longest(&entry->winner.score);
	double intensity = longest ? longest->arithmetic_intensity : NAN;
	double tflops = entry->winner.tflops;

	if (entry->winner_index != SIZE_MAX && !isnan(tflops_of(entry, entry->winner_index)))
		tflops = tflops_of(entry, entry->winner_index);
	if (entry->has_winner && intensity > 0 && tflops > 0)
		figure_winner(
			&part->canvas, figure_axis_at(x, intensity), figure_axis_at(y, tflops));
}

static void draw_sustained(struct figure_part *part, const struct ceiling *ceiling,
	const struct figure_axis *x, const struct figure_axis *y)
{
	double ridge = ceiling->sustained_tflops * 1e12 / part->entry->spec->dram_bytes_per_s;
	double at_y = figure_axis_at(y, ceiling->sustained_tflops);

	if (ceiling->sustained_tflops <= 0 || ceiling->sustained_tflops > 0.97 * ceiling->tflops ||
		ridge >= x->high)
		return;
	canvas_line(&part->canvas, "roof soft", figure_axis_at(x, fmax(x->low, ridge)), at_y,
		FIGURE_RIGHT, at_y);
	text_appendf(&part->caption,
		" Dashed: the same at the clock that dense tensor load usually leaves (%.2f GHz, "
		"%.0f TFLOP/s).",
		part->entry->spec->tensor_clock_hz * 1e-9, ceiling->sustained_tflops);
}

static bool draw(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	struct ceiling ceilings[CEILINGS_MAX];
	size_t count = ceilings_find(entry, ceilings);
	struct range range = range_of(entry, ceilings, count);
	struct figure_axis x, y;

	if (part->part || range.high_x <= 0 || entry->flop <= 0)
		return false;
	text_append(&part->title, "Roofline");
	text_appendf(&part->caption,
		"Speed against the FLOP that each byte from DRAM serves (traffic as the model "
		"counts it)%s.",
		entry->spec ? ", below the device's ceilings at its boost clock"
			    : "; no sheet of this device is known, so ceilings are missing");
	x = figure_axis_new(true, range.low_x / 1.5, range.high_x * 1.5, FIGURE_LEFT, FIGURE_RIGHT,
		"FLOP per byte from DRAM");
	y = figure_axis_new(
		true, range.low_y / 1.3, range.high_y * 1.4, FIGURE_BOTTOM, FIGURE_TOP, "TFLOP/s");
	figure_plot(part, &x, "arithmetic_intensity", &y, "tflops");
	if (count)
		draw_memory(canvas, entry->spec, &x, &y, ceilings[0].tflops);
	for (size_t i = 0; i < count; i++)
		draw_ceiling(canvas, entry->spec, &ceilings[i], &x, &y);
	if (count)
		draw_sustained(part, &ceilings[0], &x, &y);
	figure_scatter(part, &x, &y, intensity_of, tflops_of, "dots");
	for (size_t i = 0; i < count; i++)
		label_ceiling(canvas, entry->spec, &ceilings[i], &x, &y);
	draw_winner(part, &x, &y);
	return true;
}

const struct figure figure_roofline = {.name = "roofline", .draw = draw};
