/* SPDX-License-Identifier: MIT
 *
 * Search progress: every candidate in the order of evaluation, and the best so far.
 */
#include <math.h>

#include "figure/figure.h"
#include "report/format.h"

/* Seconds are known, and of one run: they never go back. */
static bool has_clock(const struct report_entry *entry)
{
	double before = 0;

	for (size_t i = 0; i < entry->candidate_count; i++) {
		double at_s = entry->candidates[i].evaluation->at_s;

		if (at_s <= 0 || at_s < before)
			return false;
		before = at_s;
	}
	return true;
}

static double order_of(const struct report_entry *entry, size_t candidate)
{
	(void)entry;
	return (double)candidate + 1;
}

static double seconds_of(const struct report_entry *entry, size_t candidate)
{
	return entry->candidates[candidate].evaluation->at_s;
}

static void draw_best(struct figure_part *part, figure_value *when, const struct figure_axis *x,
	const struct figure_axis *y)
{
	const struct report_entry *entry = part->entry;
	double best = INFINITY;

	canvas_path_open(&part->canvas, "best");
	for (size_t i = 0; i < entry->candidate_count; i++) {
		double time_us = report_time_us(&entry->candidates[i]);
		double at = figure_axis_at(x, when(entry, i));

		if (time_us >= best)
			continue;
		if (isfinite(best))
			canvas_path_to(&part->canvas, false, at, figure_axis_at(y, best));
		canvas_path_to(&part->canvas, isinf(best), at, figure_axis_at(y, time_us));
		best = time_us;
	}
	canvas_path_to(&part->canvas, false,
		figure_axis_at(x, when(entry, entry->candidate_count - 1)),
		figure_axis_at(y, best));
	canvas_path_close(&part->canvas);
}

/* Ticks below the axis where a candidate gave no time. */
static size_t draw_failures(
	struct figure_part *part, figure_value *when, const struct figure_axis *x)
{
	const struct report_entry *entry = part->entry;
	struct canvas_points *points =
		canvas_points_new(part->canvas.width, part->canvas.height, false);
	size_t failures = 0;

	for (size_t i = 0; i < entry->candidate_count; i++) {
		double at = figure_axis_at(x, when(entry, i));

		if (isfinite(report_time_us(&entry->candidates[i])))
			continue;
		if (!failures++)
			canvas_path_open(&part->canvas, "fail-tick");
		if (!canvas_points_take(points, at, FIGURE_BOTTOM))
			continue;
		canvas_path_to(&part->canvas, true, at, FIGURE_BOTTOM - 6);
		text_append(&part->canvas.body, "v6");
	}
	if (failures)
		canvas_path_close(&part->canvas);
	canvas_points_free(points);
	return failures;
}

/* The evaluation after which the best was within 1% of the end's. */
static size_t found_at(const struct report_entry *entry)
{
	double best = report_time_us(&entry->candidates[entry->best]);
	size_t i = 0;

	while (report_time_us(&entry->candidates[i]) > 1.01 * best)
		i++;
	return i + 1;
}

static bool draw(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	double low = INFINITY, high = 0;
	struct figure_axis x, y;
	const bool timed = has_clock(entry);
	figure_value *when;
	size_t failures;

	if (part->part || entry->ok_count < 2)
		return false;
	figure_range(entry, figure_time_us, figure_time_us, &low, &high);
	when = timed ? seconds_of : order_of;
	x = figure_axis_new(false, 0, when(entry, entry->candidate_count - 1) * 1.01, FIGURE_LEFT,
		FIGURE_RIGHT, timed ? "seconds since the search began" : "evaluation");
	y = figure_axis_new(true, low, high, FIGURE_BOTTOM - 10, FIGURE_TOP, "time, µs");
	figure_plot(part, &x, timed ? "at_s" : "order", &y, "time");
	figure_scatter(part, &x, &y, when, figure_time_us, "faint dots");
	failures = draw_failures(part, when, &x);
	draw_best(part, when, &x, &y);
	text_append(&part->title, "Search progress");
	text_appendf(&part->caption,
		"The line is the best so far: within 1%% of the end after %zu of %zu evaluations.",
		found_at(entry), entry->candidate_count);
	if (timed)
		text_appendf(&part->caption, " That was after %s s of %s s.",
			format_number(seconds_of(entry, found_at(entry) - 1)).text,
			format_number(seconds_of(entry, entry->candidate_count - 1)).text);
	if (failures)
		text_appendf(
			&part->caption, " Ticks at the bottom: %zu that gave no time.", failures);
	return true;
}

const struct figure figure_progress = {.name = "progress", .draw = draw};
