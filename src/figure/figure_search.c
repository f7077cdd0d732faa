/* SPDX-License-Identifier: MIT
 *
 * What a search did: every candidate in the order of evaluation and the best so far; what the model
 * said before anything ran against what was measured; outcomes by kind and family.
 */
#include <math.h>
#include <stdio.h>

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

static bool draw_progress(struct figure_part *part)
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

const struct figure figure_progress = {.name = "progress", .draw = draw_progress};

/* ---- predicted against measured ---- */
static bool draw_prediction(struct figure_part *part)
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

const struct figure figure_prediction = {.name = "prediction", .draw = draw_prediction};

/* ---- outcomes ---- */
enum {
	BARS_LEFT = 130,
	BARS_RIGHT = 420,
	BARS_TOP = 34,
	ROW_HEIGHT = 30
};

static size_t count_of(const struct report_entry *entry, enum outcome outcome, size_t family)
{
	size_t count = 0;

	for (size_t i = 0; i < entry->candidate_count; i++)
		count += entry->candidates[i].evaluation->outcome == outcome &&
			 entry->candidates[i].family == family;
	return count;
}

static void draw_row(struct figure_part *part, enum outcome outcome, double scale, double y)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	double x = BARS_LEFT;

	canvas_text(canvas, "t e", BARS_LEFT - 8, y + 14, "%s", outcome_name(outcome));
	for (size_t f = 0; f < entry->family_name_count; f++) {
		size_t count = count_of(entry, outcome, f);
		double width = (double)count * scale;
		char class[32];

		if (!count)
			continue;
		snprintf(class, sizeof(class), "s%zu bar", f % FIGURE_SERIES);
		canvas_rect(canvas, class, x, y, fmax(width - 1, 1), 20);
		x += width;
	}
	canvas_text(canvas, "t m", x + 6, y + 14, "%zu", entry->outcomes[outcome]);
}

static bool draw_outcomes(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	size_t most = 0;
	double y = BARS_TOP, x = BARS_LEFT;

	if (part->part || !entry->candidate_count)
		return false;
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (entry->outcomes[i] > most)
			most = entry->outcomes[i];
	for (size_t f = 0; f < entry->family_name_count; f++) {
		char class[16];

		snprintf(class, sizeof(class), "s%zu", f % FIGURE_SERIES);
		x = figure_legend_item(canvas, class, 1, x, 16, entry->family_names[f]);
	}
	canvas->width = fmax(canvas->width, x);
	for (int i = 0; i < OUTCOME_COUNT; i++) {
		if (!entry->outcomes[i])
			continue;
		draw_row(part, (enum outcome)i, (BARS_RIGHT - BARS_LEFT) / (double)most, y);
		y += ROW_HEIGHT;
	}
	canvas->height = y + 6;
	text_append(&part->title, "Outcomes");
	text_appendf(&part->caption, "Outcomes of %zu candidates", entry->candidate_count);
	if (entry->legal > 0)
		text_appendf(&part->caption, " of %.0f legal ones", entry->legal);
	text_append(&part->caption, ".");
	return true;
}

const struct figure figure_outcomes = {.name = "outcomes", .draw = draw_outcomes};
