/* SPDX-License-Identifier: MIT */
#include "report/report_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/comparison.h"

/* In ASCII, as all output for a terminal. */
static void time_of(struct text *table, double time_us)
{
	bool in_ms = time_us >= 1e4;

	text_appendf(table, "%s %s", format_number(in_ms ? time_us / 1e3 : time_us).text,
		in_ms ? "ms" : "us");
}

static void heading(const struct report_entry *entry, struct text *table)
{
	const struct run *run = entry->run;

	text_appendf(table, "%s: %s", entry->label,
		entry->device ? entry->device->name : "unknown device");
	if (run && run->driver && *run->driver)
		text_appendf(table, ", driver %s", run->driver);
	if (run && run->nvrtc)
		text_appendf(table, ", %s", run->nvrtc);
	if (run)
		text_appendf(table, ", %s", run->date);
	text_append(table, "\n");
}

static void outcomes(const struct report_entry *entry, struct text *table)
{
	const char *separator = "";

	if (!entry->candidate_count)
		return;
	text_append(table, "  outcomes: ");
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (entry->outcomes[i]) {
			text_appendf(table, "%s%s %zu", separator, outcome_name((enum outcome)i),
				entry->outcomes[i]);
			separator = ", ";
		}
	if (entry->legal > 0)
		text_appendf(table, " of %.0f legal", entry->legal);
	text_append(table, "\n");
}

static void model(const struct report_entry *entry, struct text *table)
{
	const struct tuned_model *quality = &entry->quality;

	if (!quality->measured)
		return;
	text_appendf(table,
		"  model: rank correlation %.2f over %" PRIu64
		" measured, the fastest is its number "
		"%" PRIu64 "; regret of its first 1/4/8/16: %.1f/%.1f/%.1f/%.1f%%\n",
		quality->rank_correlation, quality->measured, quality->rank_of_best,
		100 * quality->regret[0], 100 * quality->regret[1], 100 * quality->regret[2],
		100 * quality->regret[3]);
}

static void problem(const struct report_entry *entry, struct text *table)
{
	const struct report_result *winner = &entry->winner;
	const struct launch_score *launch = report_longest(&winner->score);

	text_appendf(table, "\n%s %s\n", entry->operation, entry->title);
	if (!entry->has_winner) {
		text_append(table, "  no candidate has a time\n");
		outcomes(entry, table);
		return;
	}
	text_append(table, "  ");
	time_of(table, winner->time_us);
	if (winner->tflops > 0)
		text_appendf(table, ", %.1f TFLOP/s", winner->tflops);
	text_appendf(table, "%s: %s {%s}\n", entry->predicted ? " (predicted)" : "", winner->family,
		winner->configuration);
	if (launch)
		text_appendf(table,
			"  %.0f tiles in %.0f wave%s (%.2f exactly), %d block%s per SM (%s), bound "
			"by "
			"%s\n",
			launch->tiles, launch->waves, launch->waves > 1 ? "s" : "",
			launch->waves_exact, launch->blocks_per_sm,
			launch->blocks_per_sm == 1 ? "" : "s",
			occupancy_limiter_name(launch->occupancy_limiter),
			bound_kind_name(launch->bound));
	for (size_t i = 0; i < entry->family_count; i++) {
		if (strcmp(entry->families[i].family, winner->family) == 0)
			continue;
		text_appendf(table, "  best of %s: ", entry->families[i].family);
		time_of(table, entry->families[i].time_us);
		text_appendf(table, ", %.2f times as long\n",
			entry->families[i].time_us / winner->time_us);
	}
	outcomes(entry, table);
	model(entry, table);
}

static void compare(const struct report *report, struct text *table)
{
	struct comparison comparison;

	comparison_make(report, &comparison);
	if (comparison.count)
		text_append(table, "\nThe same problem in several files:\n");
	for (size_t i = 0; i < comparison.count; i++) {
		const struct comparison_row *row = &comparison.rows[i];

		text_appendf(table, "  %s %s: %s ", row->first->operation, row->first->title,
			row->first->label);
		time_of(table, row->first->winner.time_us);
		text_appendf(table, ", %s ", row->second->label);
		time_of(table, row->second->winner.time_us);
		text_appendf(table, ": x%.3f, %s\n", row->ratio, row->verdict);
	}
	comparison_release(&comparison);
}

void report_table(const struct report *report, struct text *table)
{
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *entry = &report->entries[i];

		if (!i || entry->label != report->entries[i - 1].label ||
			entry->run != report->entries[i - 1].run) {
			text_append(table, i ? "\n" : "");
			heading(entry, table);
		}
		problem(entry, table);
	}
	compare(report, table);
}
