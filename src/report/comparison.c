/* SPDX-License-Identifier: MIT */
#include "report/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tune/select.h"

static bool same_problem(const struct report_entry *a, const struct report_entry *b)
{
	return strcmp(a->operation, b->operation) == 0 && strcmp(a->problem, b->problem) == 0;
}

static struct comparison_row row_of(
	const struct report_entry *first, const struct report_entry *second)
{
	const struct report_result *a = &first->winner, *b = &second->winner;
	struct comparison_row row = {
		.first = first, .second = second, .ratio = b->time_us / a->time_us};

	row.low = a->high_us > 0 && b->low_us > 0 ? b->low_us / a->high_us : row.ratio;
	row.high = a->low_us > 0 && b->high_us > 0 ? b->high_us / a->low_us : row.ratio;
	/* the floor that ties have everywhere: what differs between two runs of one binary */
	row.verdict = row.high < 1 - SELECT_TIE_RATIO  ? "faster"
		      : row.low > 1 + SELECT_TIE_RATIO ? "slower"
						       : "same";
	if (first->predicted != second->predicted)
		row.verdict = "not comparable: one is predicted";
	return row;
}

void comparison_make(const struct report *report, struct comparison *comparison)
{
	*comparison = (struct comparison){0};
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *second = &report->entries[i], *first = NULL;

		for (size_t k = 0; k < i && !first; k++)
			if (same_problem(&report->entries[k], second) &&
				report->entries[k].has_winner)
				first = &report->entries[k];
		if (!first || !second->has_winner)
			continue;
		ARRAY_GROW(comparison->rows, comparison->count, comparison->capacity);
		comparison->rows[comparison->count++] = row_of(first, second);
		comparison->devices_differ |=
			strcmp(report_device_name(first), report_device_name(second)) != 0;
	}
}

void comparison_release(struct comparison *comparison)
{
	free(comparison->rows);
	*comparison = (struct comparison){0};
}
