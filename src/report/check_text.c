/* SPDX-License-Identifier: MIT
 *
 * A check as a table for the terminal.
 */
#include <string.h>

#include "report/check_report.h"

void check_report_title(const struct check_row *row, struct text *text)
{
	const char *end = row->problem;

	for (int keys = 0; keys < 4 && end && *end; keys++) {
		end = strchr(end, ',');
		end = end ? end + 1 : NULL;
	}
	text_appendf(text, "%s ", row->operation);
	if (end)
		text_append_bytes(text, row->problem, (size_t)(end - 1 - row->problem));
	else
		text_append(text, row->problem);
}

void check_report_counts(const struct check *check, struct text *text)
{
	static const enum check_verdict order[] = {CHECK_FAILED, CHECK_SLOWER, CHECK_UNCLEAR,
		CHECK_NOT_COMPARABLE, CHECK_SAME, CHECK_FASTER};
	bool any = false;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		size_t count = check_count(check, order[i]);

		if (!count)
			continue;
		text_appendf(
			text, "%s%zu %s", any ? ", " : "", count, check_verdict_name(order[i]));
		any = true;
	}
}

static void append_identity(const struct check *check, struct text *text)
{
	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];

		text_appendf(text, "  differs: %s: %s -> %s%s\n", check_trait_name(item->trait),
			item->baseline, item->now,
			check->options.allowed & 1u << item->trait ? "" : " (not allowed)");
	}
}

static void append_row(const struct check_row *row, struct text *text)
{
	text_appendf(text, "%-14s ", check_verdict_name(row->verdict));
	check_report_title(row, text);
	text_appendf(text, "  %s", row->family);
	if (row->now.blocks && row->baseline_us > 0)
		text_appendf(text, "  %.2f -> %.2f us", row->baseline_us, row->now.time_us);
	else if (row->now.blocks)
		text_appendf(text, "  %.2f us", row->now.time_us);
	text_appendf(text, "\n               %s\n", row->reason);
	if (row->better)
		text_appendf(text, "               better: %s\n", row->better);
}

void check_report_text(const struct check *check, struct text *text)
{
	text_appendf(text, "check of %s on %s", check->baseline->path,
		device_spec(check->bench->device)->title);
	if (check->measures)
		text_appendf(text, ", threshold %.3g%%, confidence %.4g%%\n",
			100 * check->options.threshold_ratio,
			100 * check->options.confidence_ratio);
	else
		text_append(text, ": resources only, nothing is timed\n");
	append_identity(check, text);
	for (size_t i = 0; i < check->row_count; i++)
		append_row(&check->rows[i], text);
	check_report_counts(check, text);
	text_append_char(text, '\n');
}
