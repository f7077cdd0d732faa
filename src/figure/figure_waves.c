/* SPDX-License-Identifier: MIT
 *
 * Wave pictures. Over sizes: time and number of waves of each size's winner, edges marked, and one
 * configuration held fixed where it was measured at several sizes; one part per sweep. Of one
 * problem: how full each wave of the winner is, and of each family's best.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/figure.h"
#include "report/comparison.h"
#include "report/format.h"

enum {
	LEFT = 66,
	MARGIN = 14,
	WIDTH = 480,
	WIDTH_MANY = 760, /* with more sizes than fit side by side */
	MANY = 12,
	TOP = 34,
	MIDDLE = 214, /* end of the upper panel */
	LOWER = 240,  /* start of the lower one */
	BOTTOM = 330,
	PARTS_MAX = 4
};

struct fixed {
	const struct report_result *result; /* whose configuration; NULL: none */
	double tuned_for;
	size_t count; /* sizes at which it was measured */
};

/* Time of this configuration (NULL: the winner's) in an entry, or NAN. */
static double time_of(const struct report_entry *entry, const struct report_result *result)
{
	if (!result)
		return entry->winner.time_us;
	if (strcmp(entry->winner.family, result->family) == 0 &&
		strcmp(entry->winner.configuration, result->configuration) == 0)
		return entry->winner.time_us;
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (strcmp(entry->candidates[i].evaluation->configuration, result->configuration) ==
				0 &&
			strcmp(entry->candidates[i].evaluation->family, result->family) == 0)
			return figure_time_us(entry, i);
	return NAN;
}

static struct fixed fixed_of(const struct size_group *group)
{
	struct fixed best = {0};

	for (size_t i = group->count; i-- > 0;) {
		struct fixed fixed = {.result = &group->points[i].entry->winner,
			.tuned_for = group->points[i].size};

		for (size_t k = 0; k < group->count; k++)
			fixed.count += isnan(time_of(group->points[k].entry, fixed.result)) ? 0 : 1;
		if (fixed.count > best.count)
			best = fixed;
	}
	if (best.count < 3)
		best.result = NULL;
	return best;
}

static double waves_of(const struct report_entry *entry, const struct report_result *result)
{
	const struct launch_score *longest = report_longest(&entry->winner.score);

	(void)result;
	return longest ? longest->waves : NAN;
}

/* A line with a marker at each size where there is a value. result: whose times; NULL: of each
 * size's winner. */
static void draw_line(struct canvas *canvas, const struct size_group *group, size_t series,
	double (*value)(const struct report_entry *entry, const struct report_result *result),
	const struct report_result *result, const struct figure_axis *x,
	const struct figure_axis *y)
{
	const size_t marker = series ? 1 : 0;
	char class[32];
	bool start = true;

	snprintf(class, sizeof(class), "l%zu%s", series, series == 1 ? " dashed" : "");
	canvas_path_open(canvas, class);
	for (size_t i = 0; i < group->count; i++) {
		const double at = value(group->points[i].entry, result);

		if (isnan(at))
			continue;
		canvas_path_to(canvas, start, figure_axis_at(x, group->points[i].size),
			figure_axis_at(y, at));
		start = false;
	}
	canvas_path_close(canvas);
	snprintf(class, sizeof(class), "s%zu", series);
	canvas_path_open(canvas, class);
	for (size_t i = 0; i < group->count; i++) {
		const double at = value(group->points[i].entry, result);

		if (!isnan(at))
			canvas_path_marker(canvas, marker, figure_axis_at(x, group->points[i].size),
				figure_axis_at(y, at), series ? 5 : 7);
	}
	canvas_path_close(canvas);
}

/* Where one more wave starts between two sizes that are near each other. */
static size_t draw_edges(
	struct canvas *canvas, const struct size_group *group, const struct figure_axis *x)
{
	size_t edges = 0;

	for (size_t i = 1; i < group->count; i++) {
		const struct size_point *before = &group->points[i - 1], *here = &group->points[i];
		double at = (figure_axis_at(x, before->size) + figure_axis_at(x, here->size)) / 2;

		if (here->size > 1.3 * before->size ||
			!(waves_of(here->entry, NULL) > waves_of(before->entry, NULL)))
			continue;
		canvas_line(canvas, "edge", at, TOP, at, BOTTOM);
		edges++;
	}
	return edges;
}

/* Places under the pointer: the text there. */
static void draw_targets(struct figure_part *part, const struct size_group *group,
	const struct figure_axis *x, const struct figure_axis *y)
{
	struct text *body = &part->canvas.body;

	for (size_t i = 0; i < group->count; i++) {
		const struct report_entry *entry = group->points[i].entry;
		const struct report_result *winner = &entry->winner;

		format_put(body, format_xml, "<g class=\"cell\" data-tip=\"%s=%.0f: %s",
			group->keys, group->points[i].size, format_time(winner->time_us).text);
		if (winner->tflops > 0)
			text_appendf(body, ", %s TFLOP/s", format_number(winner->tflops).text);
		format_put(body, format_xml, "&#10;%.0f waves&#10;%s&#10;%s\">",
			waves_of(entry, NULL), winner->family, winner->configuration);
		canvas_circle(&part->canvas, "target", figure_axis_at(x, group->points[i].size),
			figure_axis_at(y, winner->time_us), 9);
		text_append(body, "</g>");
	}
}

static void draw_group(struct figure_part *part, const struct size_group *group)
{
	struct canvas *canvas = &part->canvas;
	double right = canvas->width - MARGIN;
	struct fixed fixed = fixed_of(group);
	double low = INFINITY, high = 0, waves = 1;
	double first = group->points[0].size, last = group->points[group->count - 1].size;
	struct figure_axis x, y, y_waves;
	double legend;

	for (size_t i = 0; i < group->count; i++) {
		const struct report_entry *entry = group->points[i].entry;
		double held = fixed.result ? time_of(entry, fixed.result) : NAN;

		low = fmin(low, entry->winner.time_us);
		high = fmax(high, fmax(entry->winner.time_us, held));
		waves = fmax(waves, waves_of(entry, NULL));
	}
	x = figure_axis_new(last > 6 * first, first - 0.03 * (last - first),
		last + 0.03 * (last - first), LEFT, right, group->keys);
	if (x.log) {
		x.low = first / 1.1;
		x.high = last * 1.1;
	}
	x.powers_of_two = true;
	y = figure_axis_new(
		high > 5 * low, high > 5 * low ? low : 0, high * 1.05, MIDDLE, TOP, "time, µs");
	y_waves = figure_axis_new(
		waves > 40, waves > 40 ? 1 : 0, waves * 1.08, BOTTOM, LOWER, "waves");
	figure_axis_bottom(canvas, &x, TOP, BOTTOM);
	figure_axis_left(canvas, &y, LEFT, right);
	figure_axis_left(canvas, &y_waves, LEFT, right);
	if (draw_edges(canvas, group, &x))
		text_append(&part->caption, " Dotted lines: edges at which one more wave starts.");
	draw_line(canvas, group, 2, waves_of, NULL, &x, &y_waves);
	legend = figure_legend_item(canvas, "s0", 0, LEFT, 16, "winner of each size");
	if (fixed.result) {
		char label[64];

		draw_line(canvas, group, 1, time_of, fixed.result, &x, &y);
		snprintf(label, sizeof(label), "winner of %.0f at every size", fixed.tuned_for);
		legend = figure_legend_item(canvas, "s1", 1, legend, 16, label);
	}
	figure_legend_item(canvas, "s2", 1, legend, 16, "waves");
	draw_line(canvas, group, 0, time_of, NULL, &x, &y);
	draw_targets(part, group, &x, &y);
}

static bool draw_waves(struct figure_part *part)
{
	struct size_group_list groups;
	const struct size_group *group;
	bool found;

	size_groups_find(part->report, &groups);
	found = part->part < groups.count && part->part < PARTS_MAX;
	if (found) {
		group = &groups.items[part->part];
		part->canvas.width = group->count > MANY ? WIDTH_MANY : WIDTH;
		part->canvas.height = BOTTOM + 44;
		text_appendf(&part->title, "Time and waves over %s", group->keys);
		text_appendf(&part->caption, "%s, %s.", group->points[0].entry->operation,
			group->others);
		draw_group(part, group);
	}
	size_groups_release(&groups);
	return found;
}

const struct figure figure_waves = {.name = "waves", .of_report = true, .draw = draw_waves};

/* ---- waves of one problem ---- */
enum {
	FILL_LEFT = 12,
	FILL_RIGHT = 468,
	FILL_TOP = 18,
	ROW_HEIGHT = 62,
	BAR_HEIGHT = 26,
	WAVES_DRAWN = 24 /* more are drawn as one */
};

static void draw_bar(struct canvas *canvas, const struct launch_score *launch, double y)
{
	double waves = launch->waves > 0 ? launch->waves : 1;
	double last = launch->waves_exact - (waves - 1); /* how full the last one is */
	double drawn = fmin(waves, WAVES_DRAWN), width = (FILL_RIGHT - FILL_LEFT) / drawn;
	double gap = drawn > 12 ? 1 : 2;

	for (double i = 0; i < drawn; i++) {
		double share = i == drawn - 1 ? last : 1;
		double x = FILL_LEFT + i * width;

		canvas_rect(canvas, "slots", x, y, width - gap, BAR_HEIGHT);
		canvas_rect(canvas, share < 0.999 ? "busy tail" : "busy", x, y,
			fmax((width - gap) * share, 1), BAR_HEIGHT);
	}
	if (waves > drawn)
		canvas_text(canvas, "t k5 c", FILL_LEFT + (drawn / 2) * width, y + 18,
			"%.0f full waves before the last", waves - 1);
}

/* "4 waves: 512 tiles on 132 slots" */
static void draw_row(
	struct figure_part *part, const struct report_result *result, double y, bool winner)
{
	const struct launch_score *launch = report_longest(&result->score);
	struct canvas *canvas = &part->canvas;

	canvas_text(canvas, winner ? "t strong" : "t", FILL_LEFT, y, "%s%s", winner ? "★ " : "",
		result->family);
	canvas_text(canvas, "t m e", FILL_RIGHT, y, "%.2f waves of %.0f tiles, %.0f%% busy",
		launch->waves_exact, launch->slots_per_wave, 100 * launch->wave_efficiency_ratio);
	draw_bar(canvas, launch, y + 7);
}

static bool has_waves(const struct report_result *result)
{
	return report_longest(&result->score) && report_longest(&result->score)->waves > 0;
}

static bool draw_fill(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	double y = FILL_TOP;

	if (part->part || !entry->has_winner || !has_waves(&entry->winner))
		return false;
	draw_row(part, &entry->winner, y, true);
	for (size_t i = 0; i < entry->family_count; i++) {
		if (strcmp(entry->families[i].family, entry->winner.family) == 0 ||
			!has_waves(&entry->families[i]))
			continue;
		y += ROW_HEIGHT;
		draw_row(part, &entry->families[i], y, false);
	}
	part->canvas.height = y + ROW_HEIGHT - 22;
	text_append(&part->title, "Waves");
	text_append(&part->caption,
		"Each box is one wave: as many tiles as the GPU holds at once. What is not filled "
		"in the last one is time in which multiprocessors wait.");
	return true;
}

const struct figure figure_wave_fill = {.name = "wave-fill", .draw = draw_fill};
