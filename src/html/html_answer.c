/* SPDX-License-Identifier: MIT
 *
 * The answer first: one problem's winner, or a table of all winners.
 */
#include <string.h>

#include "report/ceiling.h"
#include "html/html.h"
#include "report/format.h"

/* On a narrow screen the cells of a row stand below each other, each with its label. */
static void open_cell(struct text *page, const char *label, const char *attributes)
{
	text_appendf(page, "<td data-label=\"%s\"%s>", label, attributes);
}

static void cell(struct text *page, const char *label, const char *text)
{
	open_cell(page, label, "");
	html_text(page, text);
	text_append(page, "</td>");
}

static void number_cell(struct text *page, const char *label, int decimals, double number)
{
	struct text text = {0};

	text_appendf(&text, "%.*f", decimals, number);
	open_cell(page, label, " class=\"n\"");
	html_text(page, text.data);
	text_append(page, "</td>");
	text_release(&text);
}

static void time_cell(struct text *page, double time_us)
{
	struct text text = {0};

	format_time(&text, time_us);
	text_appendf(page, "<td data-label=\"Time\" class=\"n\" data-value=\"%.6g\">%s</td>",
		time_us, text.data);
	text_release(&text);
}

/* Share of the fastest pipe at boost clock, as a bar. */
static void peak_cell(const struct report_entry *entry, struct text *page)
{
	struct ceiling ceilings[CEILINGS_MAX];
	double share = ceilings_find(entry, ceilings)
			       ? 100 * entry->winner.tflops / ceilings[0].tflops
			       : 0;

	if (share > 0)
		text_appendf(page,
			"<td data-label=\"Of peak\" class=\"n peak\" "
			"style=\"--share:%.0f%%\">%.0f%%</td>",
			share, share);
	else
		text_append(page, "<td></td>");
}

static void answer_row(const struct report_entry *entry, bool labels, struct text *page)
{
	const struct launch_score *launch = report_longest(&entry->winner.score);

	text_append(page, "<tr><th scope=\"row\" class=\"breaks\"><a href=\"#");
	html_text(page, entry->slug);
	text_append(page, "\">");
	html_text(page, entry->operation);
	text_append_char(page, ' ');
	html_list(page, entry->title);
	text_append(page, "</a></th>");
	if (labels)
		cell(page, "File", entry->label);
	if (!entry->has_winner) {
		text_append(page, "<td colspan=\"7\">no candidate has a time</td></tr>\n");
		return;
	}
	time_cell(page, entry->winner.time_us);
	number_cell(page, "TFLOP/s", 1, entry->winner.tflops);
	peak_cell(entry, page);
	cell(page, "Family", entry->winner.family);
	if (launch) {
		number_cell(page, "Waves", 2, launch->waves_exact);
		cell(page, "Bound", bound_kind_name(launch->bound));
	} else {
		text_append(page, "<td></td><td></td>");
	}
	open_cell(page, "Configuration", " class=\"mono breaks\"");
	html_list(page, entry->winner.configuration);
	text_append(page, "</td></tr>\n");
}

static void answer_table(const struct report *report, struct text *page)
{
	static const char *const heads[] = {
		"Time", "TFLOP/s", "Of peak", "Family", "Waves", "Bound", "Configuration"};
	bool labels = false;

	for (size_t i = 1; i < report->entry_count; i++)
		labels |= report->entries[i].label != report->entries[0].label;
	text_append(page,
		"<div class=\"card scroll\" tabindex=\"0\"><table class=\"sortable answers\">"
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
