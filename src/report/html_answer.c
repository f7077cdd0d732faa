/* SPDX-License-Identifier: MIT
 *
 * The answer first: one problem's winner, or a table of all winners.
 */
#include <string.h>

#include "report/ceiling.h"
#include "report/html.h"

/* Share of the fastest pipe at boost clock, as a bar. */
static void peak_cell(const struct report_entry *entry, struct text *page)
{
	struct ceiling ceilings[CEILINGS_MAX];
	double share = ceilings_find(entry, ceilings)
			       ? 100 * entry->winner.tflops / ceilings[0].tflops
			       : 0;

	if (share > 0)
		text_appendf(page, "<td class=\"n peak\" style=\"--share:%.0f%%\">%.0f%%</td>",
			share, share);
	else
		text_append(page, "<td></td>");
}

static void answer_row(const struct report_entry *entry, bool labels, struct text *page)
{
	const struct launch_score *launch = report_longest(&entry->winner.score);

	text_append(page, "<tr><th scope=\"row\"><a href=\"#");
	html_text(page, entry->slug);
	text_append(page, "\">");
	html_text(page, entry->operation);
	text_append_char(page, ' ');
	html_text(page, entry->title);
	text_append(page, "</a></th>");
	if (labels)
		html_cell(page, NULL, "%s", entry->label);
	if (!entry->has_winner) {
		text_append(page, "<td colspan=\"7\">no candidate has a time</td></tr>\n");
		return;
	}
	html_time_cell(page, entry->winner.time_us);
	html_cell(page, "n", "%.1f", entry->winner.tflops);
	peak_cell(entry, page);
	html_cell(page, NULL, "%s", entry->winner.family);
	if (launch) {
		html_cell(page, "n", "%.2f", launch->waves_exact);
		html_cell(page, NULL, "%s", bound_kind_name(launch->bound));
	} else {
		text_append(page, "<td></td><td></td>");
	}
	html_cell(page, "mono", "%s", entry->winner.configuration);
	text_append(page, "</tr>\n");
}

static void answer_table(const struct report *report, struct text *page)
{
	static const char *const heads[] = {
		"Time", "TFLOP/s", "Of peak", "Family", "Waves", "Bound", "Configuration"};
	bool labels = false;

	for (size_t i = 1; i < report->entry_count; i++)
		labels |= report->entries[i].label != report->entries[0].label;
	text_append(page, "<div class=\"card scroll\" tabindex=\"0\"><table class=\"sortable\">"
			  "<thead><tr><th scope=\"col\">Problem</th>");
	if (labels)
		text_append(page, "<th scope=\"col\">File</th>");
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		text_appendf(page, "<th scope=\"col\">%s</th>", heads[i]);
	text_append(page, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < report->entry_count; i++)
		answer_row(&report->entries[i], labels, page);
	text_append(page, "</tbody></table></div>\n");
}

static void timing(const struct report *report, struct text *page)
{
	size_t predicted = 0;

	for (size_t i = 0; i < report->entry_count; i++)
		predicted += report->entries[i].predicted;
	if (!predicted)
		text_append(page, "; all times measured");
	else if (predicted == report->entry_count)
		text_append(page, "; all times <b>predicted</b> by the model");
	else
		text_appendf(page, "; %zu of the times <b>predicted</b> by the model", predicted);
}

void html_answer(const struct report *report, struct text *page)
{
	const struct report_entry *first = &report->entries[0];

	text_append(page, "<section id=\"answer\"><h1>");
	if (report->entry_count == 1) {
		html_text(page, first->operation);
		text_append(page, " <span class=\"problem\">");
		html_text(page, first->title);
		text_append(page, "</span>");
	} else {
		text_appendf(page, "%zu problems, tuned", report->entry_count);
	}
	text_append(page, "</h1>\n<p class=\"where\">on ");
	html_text(page, html_device_name(first));
	for (size_t i = 1; i < report->entry_count; i++) {
		bool new = true;

		for (size_t k = 0; k < i; k++)
			new &= strcmp(html_device_name(&report->entries[k]),
				       html_device_name(&report->entries[i])) != 0;
		if (new) {
			text_append(page, " and ");
			html_text(page, html_device_name(&report->entries[i]));
		}
	}
	timing(report, page);
	text_append(page, "</p>\n");
	if (report->entry_count == 1)
		html_winner(first, page);
	else
		answer_table(report, page);
	text_append(page, "</section>\n");
}
