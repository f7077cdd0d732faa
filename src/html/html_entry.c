/* SPDX-License-Identifier: MIT
 *
 * One problem: its winner, its figures, its tables.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "html/html.h"
#include "report/format.h"

enum {
	RANKS_SHOWN = 12,
	REASONS_SHOWN = 15
};

/* ---- how the model ranked what was measured ---- */
static void quality(const struct report_entry *entry, struct text *page)
{
	const struct report_quality *model = &entry->quality;

	text_appendf(page,
		"<p>Over %zu measured candidates: rank correlation <b>%.2f</b>, the fastest stands "
		"at place <b>%zu</b> of the model's list. Measuring only the model's first ",
		model->measured, model->rank_correlation, model->rank_of_best);
	for (int i = 0; i < REPORT_TOPS; i++)
		text_appendf(page, "%s%zu", i ? (i == REPORT_TOPS - 1 ? " or " : ", ") : "",
			report_tops[i]);
	text_append(page, " would have cost ");
	for (int i = 0; i < REPORT_TOPS; i++)
		text_appendf(page, "%s<b>%.1f%%</b>",
			i ? (i == REPORT_TOPS - 1 ? " or " : ", ") : "", 100 * model->regret[i]);
	text_append(page, ".</p>\n");
}

static const struct report_candidate *ranked(const struct report_entry *entry, size_t rank)
{
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].measured_rank == rank)
			return &entry->candidates[i];
	return NULL;
}

void html_ranks(const struct report_entry *entry, struct text *page)
{
	if (entry->predicted || (!entry->quality.measured && entry->ok_count < 2))
		return;
	text_append(page,
		"<div class=\"card wide\"><h3>The model's rank beside the measured one</h3>\n");
	if (entry->quality.measured)
		quality(entry, page);
	if (entry->ok_count)
		text_append(page,
			"<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">"
			"<thead><tr><th scope=\"col\">Measured</th><th scope=\"col\">Model</th>"
			"<th scope=\"col\">Time</th><th scope=\"col\">Predicted</th>"
			"<th scope=\"col\">Family</th><th scope=\"col\">Configuration</th>"
			"</tr></thead><tbody>\n");
	for (size_t rank = 1; rank <= RANKS_SHOWN && rank <= entry->ok_count; rank++) {
		const struct report_candidate *candidate = ranked(entry, rank);

		text_append(page, "<tr>");
		html_cell(page, "n", "%zu", rank);
		html_cell(page, "n", "%zu", candidate->model_rank);
		html_time_cell(page, report_time_us(candidate));
		html_time_cell(page, candidate->evaluation->score.launch_count
					     ? candidate->evaluation->score.predicted_time_us
					     : INFINITY);
		html_cell(page, NULL, "%s", candidate->evaluation->family);
		html_cell(page, "mono", "%s", candidate->evaluation->configuration);
		text_append(page, "</tr>\n");
	}
	if (entry->ok_count)
		text_append(page, "</tbody></table></div>");
	text_append(page, "</div>\n");
}

/* ---- why candidates failed ---- */
static int compare_reasons(const void *a_, const void *b_)
{
	const struct evaluation *a = *(const struct evaluation *const *)a_;
	const struct evaluation *b = *(const struct evaluation *const *)b_;
	int order = (a->outcome > b->outcome) - (a->outcome < b->outcome);

	return order ? order : strcmp(a->detail ? a->detail : "", b->detail ? b->detail : "");
}

struct reason {
	const struct evaluation *example;
	size_t count;
};

static int compare_counts(const void *a_, const void *b_)
{
	const struct reason *a = a_, *b = b_;

	return (a->count < b->count) - (a->count > b->count);
}

/* Outcomes other than ok by their words, most frequent first. */
static size_t find_reasons(const struct report_entry *entry, struct reason *reasons)
{
	const struct evaluation **list =
		memory_zeroed(entry->candidate_count + 1, sizeof(struct evaluation *));
	size_t failed = 0, count = 0;

	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].evaluation->outcome != OUTCOME_OK)
			list[failed++] = entry->candidates[i].evaluation;
	qsort(list, failed, sizeof(struct evaluation *), compare_reasons);
	for (size_t i = 0; i < failed; i++) {
		if (!i || compare_reasons(&list[i - 1], &list[i]) != 0)
			reasons[count++].example = list[i];
		reasons[count - 1].count++;
	}
	qsort(reasons, count, sizeof(*reasons), compare_counts);
	free(list);
	return count;
}

void html_reasons(const struct report_entry *entry, struct text *page)
{
	struct reason *reasons = memory_zeroed(entry->candidate_count + 1, sizeof(*reasons));
	size_t count = find_reasons(entry, reasons);

	if (count)
		text_append(page,
			"<div class=\"card\"><h3>Why candidates dropped out</h3><div "
			"class=\"scroll\" "
			"tabindex=\"0\"><table><thead><tr><th scope=\"col\">Outcome</th>"
			"<th scope=\"col\">Count</th><th scope=\"col\">Reason</th></tr></thead>"
			"<tbody>\n");
	for (size_t i = 0; i < count && i < REASONS_SHOWN; i++) {
		const struct evaluation *example = reasons[i].example;
		const char *words =
			example->detail ? example->detail : outcome_summary(example->outcome);

		text_append(page, "<tr>");
		html_cell(page, NULL, "%s", outcome_name(example->outcome));
		html_cell(page, "n", "%zu", reasons[i].count);
		html_cell(page, "words", "%.*s%s", 300, words, strlen(words) > 300 ? " ..." : "");
		text_append(page, "</tr>\n");
	}
	if (count)
		text_append(page, "</tbody></table></div>");
	if (count > REASONS_SHOWN)
		text_appendf(
			page, "<p>and %zu more reasons, in the journal</p>", count - REASONS_SHOWN);
	if (count)
		text_append(page, "</div>\n");
	free(reasons);
}

/* ---- the whole ---- */
static void candidates(const struct report_entry *entry, size_t index, struct text *page)
{
	if (!entry->candidate_count)
		return;
	text_appendf(page,
		"<div class=\"card wide candidates\" data-entry=\"%zu\"><h3>All %zu candidates</h3>"
		"<noscript><p>The table needs JavaScript; the journal holds the "
		"same.</p></noscript>"
		"</div>\n",
		index, entry->candidate_count);
	html_data(entry, index, page);
}

static void body(const struct report *report, const struct report_entry *entry, size_t index,
	struct text *page)
{
	bool room = page->length < HTML_BYTES_MAX * 9 / 10;

	text_appendf(page, "<div class=\"figures\" data-owner=\"%zu\">\n", index);
	if (!room)
		text_append(page,
			"<p class=\"notice\">Figures and candidates are left out: the page "
			"has reached its size. Report on fewer problems at once.</p>\n");
	for (const struct figure *const *figure = figures; *figure && room; figure++)
		if (!(*figure)->of_report)
			html_figure(*figure, report, entry, page);
	if (!entry->candidate_count)
		text_append(page,
			"<p class=\"notice\">No journal lies beside the tuned file: without "
			"one there is nothing to say of the other candidates.</p>\n");
	html_reasons(entry, page);
	html_ranks(entry, page);
	html_rules(entry, page);
	if (room)
		candidates(entry, index, page);
	text_append(page, "</div>\n");
}

static void summary(const struct report_entry *entry, struct text *page)
{
	text_append(page, "<summary><h2>");
	html_text(page, entry->operation);
	text_append(page, " <span class=\"problem\">");
	html_text(page, entry->title);
	text_append(page, "</span></h2><span class=\"brief\">");
	if (entry->has_winner) {
		struct text brief = {0};

		format_time(&brief, entry->winner.time_us);
		text_appendf(&brief, " · %s", entry->winner.family);
		html_text(page, brief.data);
		text_release(&brief);
	}
	text_append(page, "</span></summary>\n");
}

void html_entry(const struct report *report, size_t index, struct text *page)
{
	const struct report_entry *entry = &report->entries[index];

	if (report->entry_count == 1) {
		text_append(page, "<div class=\"entry\" id=\"");
		html_text(page, entry->slug);
		text_append(page, "\">\n");
		body(report, entry, index, page);
		text_append(page, "</div>\n");
		return;
	}
	text_appendf(page, "<details class=\"entry\"%s id=\"", index ? "" : " open");
	html_text(page, entry->slug);
	text_append(page, "\">");
	summary(entry, page);
	html_winner(entry, page);
	body(report, entry, index, page);
	text_append(page, "</details>\n");
}
