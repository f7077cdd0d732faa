/* SPDX-License-Identifier: MIT
 *
 * Wave picture of one problem: how full each wave of the winner is, and of each family's best.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/figure.h"

enum {
	LEFT = 12,
	RIGHT = 468,
	TOP = 18,
	ROW_HEIGHT = 62,
	BAR_HEIGHT = 26,
	WAVES_DRAWN = 24 /* more are drawn as one */
};

static void draw_bar(struct canvas *canvas, const struct launch_score *launch, double y)
{
	double waves = launch->waves > 0 ? launch->waves : 1;
	double last = launch->waves_exact - (waves - 1); /* how full the last one is */
	double drawn = fmin(waves, WAVES_DRAWN), width = (RIGHT - LEFT) / drawn;
	double gap = drawn > 12 ? 1 : 2;

	for (double i = 0; i < drawn; i++) {
		double share = i == drawn - 1 ? last : 1;
		double x = LEFT + i * width;

		canvas_rect(canvas, "slots", x, y, width - gap, BAR_HEIGHT);
		canvas_rect(canvas, share < 0.999 ? "busy tail" : "busy", x, y,
			fmax((width - gap) * share, 1), BAR_HEIGHT);
	}
	if (waves > drawn)
		canvas_text(canvas, "t k5 c", LEFT + (drawn / 2) * width, y + 18,
			"%.0f full waves before the last", waves - 1);
}

/* "4 waves: 512 tiles on 132 slots" */
static void draw_row(
	struct figure_part *part, const struct report_result *result, double y, bool winner)
{
	const struct launch_score *launch = report_longest(&result->score);
	struct canvas *canvas = &part->canvas;

	canvas_text(canvas, winner ? "t strong" : "t", LEFT, y, "%s%s", winner ? "★ " : "",
		result->family);
	canvas_text(canvas, "t m e", RIGHT, y, "%.2f waves of %.0f tiles, %.0f%% busy",
		launch->waves_exact, launch->slots_per_wave, 100 * launch->wave_efficiency_ratio);
	draw_bar(canvas, launch, y + 7);
}

static bool has_waves(const struct report_result *result)
{
	return report_longest(&result->score) && report_longest(&result->score)->waves > 0;
}

static bool draw(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	double y = TOP;

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

const struct figure figure_wave_fill = {.name = "wave-fill", .draw = draw};
