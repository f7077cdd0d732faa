/* SPDX-License-Identifier: MIT
 *
 * Outcomes of the candidates, by kind and family, and the reasons that were given.
 */
#include <math.h>
#include <stdio.h>

#include "figure/figure.h"

enum {
	LEFT = 130,
	RIGHT = 420,
	TOP = 34,
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
	double x = LEFT;

	canvas_text(canvas, "t e", LEFT - 8, y + 14, "%s", outcome_name(outcome));
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

static bool draw(struct figure_part *part)
{
	const struct report_entry *entry = part->entry;
	struct canvas *canvas = &part->canvas;
	size_t most = 0;
	double y = TOP, x = LEFT;

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
		draw_row(part, (enum outcome)i, (RIGHT - LEFT) / (double)most, y);
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

const struct figure figure_outcomes = {.name = "outcomes", .draw = draw};
