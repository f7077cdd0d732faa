/* SPDX-License-Identifier: MIT
 *
 * A check as Markdown: a verdict, a table, what differs.
 */
#include "report/check_report.h"

/* What would end a cell, or begin a tag. */
static void append_cell(struct text *text, const char *cell)
{
	for (; *cell; cell++) {
		if (*cell == '|')
			text_append(text, "\\|");
		else if (*cell == '<')
			text_append(text, "&lt;");
		else
			text_append_char(text, *cell == '\n' ? ' ' : *cell);
	}
}

static const char *mark(enum check_verdict verdict)
{
	static const char *const marks[CHECK_VERDICT_COUNT] = {
		[CHECK_SAME] = "✅",
		[CHECK_FASTER] = "🚀",
		[CHECK_SLOWER] = "🔴",
		[CHECK_UNCLEAR] = "❔",
		[CHECK_NOT_COMPARABLE] = "➖",
		[CHECK_FAILED] = "💥",
	};

	return marks[verdict];
}

static void append_row(const struct check_row *row, struct text *text)
{
	struct text title = {0};

	check_report_title(row, &title);
	text_appendf(text, "| %s %s | ", mark(row->verdict), check_verdict_name(row->verdict));
	append_cell(text, title.data);
	text_append(text, " | `");
	append_cell(text, row->family);
	text_append(text, "` | ");
	if (row->baseline_us > 0)
		text_appendf(text, "%.2f", row->baseline_us);
	text_append(text, " | ");
	if (row->now.blocks)
		text_appendf(text, "%.2f", row->now.time_us);
	text_append(text, " | ");
	if (row->slowdown.value > 0)
		text_appendf(text, "%+.1f%%", 100 * (row->slowdown.value - 1));
	text_append(text, " | ");
	append_cell(text, row->reason);
	if (row->better) {
		text_append(text, "; better: ");
		append_cell(text, row->better);
	}
	text_append(text, " |\n");
	text_release(&title);
}

void check_report_markdown(const struct check *check, struct text *text)
{
	text_append(text, "### tiletune check: ");
	check_report_counts(check, text);
	text_append(text, "\n\nBaseline `");
	append_cell(text, check->baseline->path);
	text_append(text, "` on ");
	append_cell(text, device_spec(check->bench->device)->title);
	if (check->measures)
		text_appendf(text, ", threshold %.3g%%, confidence %.4g%%.\n\n",
			100 * check->options.threshold_ratio,
			100 * check->options.confidence_ratio);
	else
		text_append(text, "; kernels were compiled, not timed.\n\n");
	text_append(text, "| verdict | problem | family | baseline µs | now µs | time | why |\n"
			  "|---|---|---|---:|---:|---:|---|\n");
	for (size_t i = 0; i < check->row_count; i++)
		append_row(&check->rows[i], text);
	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];

		text_appendf(text, "%s- %s: ", i ? "" : "\nNot as in the baseline:\n\n",
			check_trait_name(item->trait));
		append_cell(text, item->baseline);
		text_append(text, " → ");
		append_cell(text, item->now);
		text_append(text,
			check->options.allowed & 1u << item->trait ? "\n" : " (not allowed)\n");
	}
}
