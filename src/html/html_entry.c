/* SPDX-License-Identifier: MIT */
#include "html/html_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "html/html_data.h"
#include "html/html.h"
#include "report/comparison.h"
#include "report/format.h"
#include "report/report_candidate.h"

enum {
	RANKS_SHOWN = 12,
	REASONS_SHOWN = 15,
	REASON_BYTES_MAX = 300
};

/* ---- speed ---- */
static void stat(struct text *page, const char *label, const char *value, const struct text *note)
{
	html_put(page,
		"<div class=\"stat\"><span class=\"label\">%s</span><span class=\"value\">%s</span>"
		"<span class=\"note\">%s</span></div>",
		label, value, text_string(note));
}

static void stat_time(const struct report_entry *entry, struct text *page)
{
	const struct report_result *winner = &entry->winner;
	CLEANUP(text_release) struct text note = {0};

	if (entry->predicted)
		text_append(&note, "predicted by the model, not measured");
	else if (winner->samples > 1)
		text_appendf(&note, "95%% interval %s to %s, %lld samples",
			format_number(winner->low_us).text, format_time(winner->high_us).text,
			(long long)winner->samples);
	stat(page, entry->predicted ? "Predicted time" : "Time", format_time(winner->time_us).text,
		&note);
}

static void stat_speed(const struct report_entry *entry, struct text *page)
{
	const struct report_result *winner = &entry->winner;
	CLEANUP(text_release) struct text value = {0}, note = {0};
	struct ceiling ceilings[CEILINGS_MAX];

	if (winner->tflops <= 0)
		return;
	text_appendf(&value, "%s TFLOP/s", format_number(winner->tflops).text);
	if (ceilings_find(entry, ceilings))
		text_appendf(&note, "%.0f%% of %.0f, the peak of %s at boost clock",
			100 * winner->tflops / ceilings[0].tflops, ceilings[0].tflops,
			ceilings[0].name);
	stat(page, "Speed", value.data, &note);
}

static void stat_memory(const struct report_entry *entry, struct text *page)
{
	CLEANUP(text_release) struct text value = {0}, note = {0};

	if (entry->winner.gb_per_s <= 0)
		return;
	text_appendf(&value, "%s GB/s", format_number(entry->winner.gb_per_s).text);
	text_append(&note, "of what must be read and written once");
	if (entry->spec)
		text_appendf(&note, "; %.0f%% of DRAM's %.2f TB/s",
			100e9 * entry->winner.gb_per_s / entry->spec->dram_bytes_per_s,
			entry->spec->dram_bytes_per_s * 1e-12);
	stat(page, "Memory", value.data, &note);
}

/* ---- why ---- */
static void why_waves(const struct launch_score *launch, struct text *page)
{
	html_put(page,
		"<li><b>%.0f tiles</b> run in <b>%.0f wave%s</b> of %.0f (%.2f exactly): %.0f%% of "
		"the slots are busy",
		launch->tiles, launch->waves, launch->waves > 1 ? "s" : "", launch->slots_per_wave,
		launch->waves_exact, 100 * launch->wave_efficiency_ratio);
	if (launch->tile_efficiency_ratio < 0.9995)
		html_put(page, "; %.1f%% of the work falls outside of the problem at its edges",
			100 * (1 - launch->tile_efficiency_ratio));
	text_append(page, ".</li>");
}

static void why_resources(
	const struct report_result *winner, const struct launch_score *launch, struct text *page)
{
	html_put(page,
		"<li><b>%d block%s per SM</b> (occupancy %.0f%%, limited by %s): %d registers per "
		"thread%s, %s of shared memory",
		launch->blocks_per_sm, launch->blocks_per_sm == 1 ? "" : "s",
		100 * launch->occupancy_ratio, occupancy_limiter_names[launch->occupancy_limiter],
		launch->regs_per_thread, winner->score.regs_estimated ? " (estimated)" : "",
		format_bytes((double)launch->smem_bytes).text);
	if (winner->spill_bytes > 0)
		html_put(page, ", <b>%.0f bytes spilled</b>", (double)winner->spill_bytes);
	if (launch->bank_conflict_ratio > 1.005)
		html_put(page, ", bank conflicts cost a factor of %.2f",
			launch->bank_conflict_ratio);
	if (launch->lines_per_row_ratio > 1.005)
		html_put(page, ", misaligned rows touch %.0f%% more cache lines",
			100 * (launch->lines_per_row_ratio - 1));
	text_append(page, ".</li>");
}

static const char *bound_words(enum bound_kind bound)
{
	static const char *const words[] = {[BOUND_TENSOR] = "the tensor cores",
		[BOUND_FP32] = "the CUDA cores",
		[BOUND_MUFU] = "special functions",
		[BOUND_INSTRUCTIONS] = "the issue of instructions",
		[BOUND_SMEM] = "shared memory",
		[BOUND_L2] = "the L2 cache",
		[BOUND_DRAM] = "device memory",
		[BOUND_LATENCY] = "latency"};

	return words[bound];
}

static void why_right(
	const struct report_entry *entry, const struct report_result *winner, struct text *page)
{
	if (!entry->predicted && winner->verified != VERIFIED_REFERENCE)
		html_put(page, "<li><b>verified: %s</b>: its result was compared with %s.</li>",
			verified_names[winner->verified], verified_words[winner->verified]);
}

static void why_bound(
	const struct report_entry *entry, const struct launch_score *launch, struct text *page)
{
	double predicted = entry->winner.score.predicted_time_us;

	html_put(page, "<li>By the model it is bound by <b>%s</b>", bound_words(launch->bound));
	if (!entry->predicted && isfinite(predicted))
		html_put(page, "; predicted %s, %.0f%% %s than measured",
			format_time(predicted).text,
			100 * fabs(predicted / entry->winner.time_us - 1),
			predicted > entry->winner.time_us ? "more" : "less");
	text_append(page, ".</li>");
}

static void why_others(const struct report_entry *entry, struct text *page)
{
	if (entry->tied_count)
		html_put(page,
			"<li>%zu other configuration%s tied with it, within 1%% or noise; a fixed "
			"rule chose.</li>",
			entry->tied_count, entry->tied_count == 1 ? " is" : "s are");
	for (size_t i = 0; i < entry->family_count; i++) {
		const struct report_result *other = &entry->families[i];

		if (strcmp(other->family, entry->winner.family) != 0)
			html_put(page,
				"<li>The best of <b>%s</b> takes %s, <b>%.2f times</b> as "
				"long.</li>",
				other->family, format_time(other->time_us).text,
				other->time_us / entry->winner.time_us);
	}
}

static void why_search(const struct report_entry *entry, struct text *page)
{
	double median = 0;

	if (entry->ok_count < 3)
		return;
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].measured_rank == (entry->ok_count + 1) / 2)
			median = report_time_us(&entry->candidates[i]);
	html_put(page,
		"<li>Of %zu candidates with a time the median takes <b>%.2f times</b> as long as "
		"the fastest",
		entry->ok_count, median / report_time_us(&entry->candidates[entry->best]));
	if (entry->legal > (double)entry->candidate_count)
		html_put(page, "; %zu of %.0f legal ones were evaluated", entry->candidate_count,
			entry->legal);
	text_append(page, ".</li>");
}

/* "BM=128,BN=256" as a row of chips; what serves the steps of a composite family is a sentence. */
static void configuration(const char *list, struct text *page)
{
	struct pair pair;

	if (strchr(list, '{')) {
		html_put(page, "<span class=\"steps\">%s</span>", list);
		return;
	}
	text_append(page, "<span class=\"chips\">");
	while (pair_next(&list, &pair))
		html_put(page, "<span class=\"chip\">%.*s=<b>%.*s</b></span> ", pair.name_length,
			pair.name, pair.value_length, pair.value);
	text_append(page, "</span>");
}

void html_winner(const struct report_entry *entry, struct text *page)
{
	const struct report_result *winner = &entry->winner;
	const struct launch_score *launch = report_longest(&winner->score);

	if (!entry->has_winner) {
		text_append(page, "<p>No candidate has a time.</p>\n");
		return;
	}
	if (!entry->tuned)
		text_append(page, "<p class=\"notice\">The search did not end: this is the best so "
				  "far.</p>\n");
	text_append(page, "<div class=\"answer\"><div class=\"stats\">");
	stat_time(entry, page);
	stat_speed(entry, page);
	stat_memory(entry, page);
	html_put(page, "</div><div class=\"winner-line\"><span class=\"family\">%s</span> ",
		winner->family);
	configuration(winner->configuration, page);
	text_append(page, "</div><ul class=\"why\">");
	if (launch) {
		why_waves(launch, page);
		why_resources(winner, launch, page);
		why_bound(entry, launch, page);
		why_right(entry, winner, page);
	}
	why_others(entry, page);
	why_search(entry, page);
	text_append(page, "</ul></div>\n");
}

/* ---- how the model ranked what was measured ---- */
static void quality(const struct report_entry *entry, struct text *page)
{
	const struct tuned_model *model = &entry->quality;

	html_put(page,
		"<p>Over %zu measured candidates: rank correlation <b>%.2f</b>, the fastest is "
		"number <b>%zu</b> of the model's list. Measuring only the model's first ",
		(size_t)model->measured, model->rank_correlation, (size_t)model->rank_of_best);
	for (int i = 0; i < TUNED_TOPS; i++)
		html_put(page, "%s%zu", i ? (i == TUNED_TOPS - 1 ? " or " : ", ") : "",
			tuned_tops[i]);
	text_append(page, " would have cost ");
	for (int i = 0; i < TUNED_TOPS; i++)
		html_put(page, "%s<b>%.1f%%</b>", i ? (i == TUNED_TOPS - 1 ? " or " : ", ") : "",
			100 * model->regret[i]);
	text_append(page, ".</p>\n");
}

static const struct report_candidate *ranked(const struct report_entry *entry, size_t rank)
{
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].measured_rank == rank)
			return &entry->candidates[i];
	return NULL;
}

static void ranks(const struct report_entry *entry, struct text *page)
{
	if (entry->predicted || (!entry->quality.measured && entry->ok_count < 2))
		return;
	text_append(page,
		"<div class=\"card wide\"><h3>The model's rank beside the measured one</h3>\n");
	if (entry->quality.measured)
		quality(entry, page);
	if (entry->ok_count)
		html_table_open(
			page, "sortable", "Measured|Model|Time|Predicted|Family|Configuration");
	for (size_t rank = 1; rank <= RANKS_SHOWN && rank <= entry->ok_count; rank++) {
		const struct report_candidate *candidate = ranked(entry, rank);

		html_put(page, "<tr><td class=\"n\">%zu</td><td class=\"n\">%zu</td>", rank,
			candidate->model_rank);
		html_time_cell(page, "", report_time_us(candidate));
		html_time_cell(page, "", report_predicted_us(candidate));
		html_put(page, "<td>%s</td><td class=\"mono\">%s</td></tr>\n",
			candidate->evaluation->family, candidate->evaluation->configuration);
	}
	if (entry->ok_count)
		html_table_close(page);
	text_append(page, "</div>\n");
}

/* ---- what the operation's selection rules would have picked ---- */
static void rules(const struct report_entry *entry, struct text *page)
{
	if (!entry->tuned || !entry->tuned->rule_count)
		return;
	text_append(page, "<div class=\"card wide\"><h3>What selection rules would have "
			  "picked</h3>");
	html_table_open(page, "sortable", "Rule|Time|Loss|Timing|Family|Configuration");
	for (size_t i = 0; i < entry->tuned->rule_count; i++) {
		const struct tuned_pick *rule = &entry->tuned->rules[i];
		CLEANUP(memory_free) char *picked = named_values_text(&rule->configuration);

		html_put(page, "<tr><td>%s</td>", rule->name);
		html_time_cell(page, "", rule->time_us);
		if (isfinite(rule->regret_ratio))
			html_put(page, "<td class=\"n\">%.1f%%</td>", 100 * rule->regret_ratio);
		else
			html_put(page, "<td>%s</td>", rule->outcome ? rule->outcome : "");
		html_put(page, "<td>%s</td><td>%s</td><td class=\"mono\">%s</td></tr>\n",
			timing_names[rule->predicted], rule->family, picked);
	}
	html_table_close(page);
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
static size_t find_reasons(const struct report_entry *entry, struct reason *found)
{
	CLEANUP(memory_free)
	const struct evaluation **list =
		memory_zeroed(entry->candidate_count + 1, sizeof(struct evaluation *));
	size_t failed = 0, count = 0;

	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].evaluation->outcome != OUTCOME_OK)
			list[failed++] = entry->candidates[i].evaluation;
	qsort(list, failed, sizeof(struct evaluation *), compare_reasons);
	for (size_t i = 0; i < failed; i++) {
		if (!i || compare_reasons(&list[i - 1], &list[i]) != 0)
			found[count++].example = list[i];
		found[count - 1].count++;
	}
	qsort(found, count, sizeof(*found), compare_counts);
	return count;
}

static void reasons(const struct report_entry *entry, struct text *page)
{
	CLEANUP(memory_free)
	struct reason *found = memory_zeroed(entry->candidate_count + 1, sizeof(*found));
	size_t count = find_reasons(entry, found);

	if (!count)
		return;
	text_append(page, "<div class=\"card\"><h3>Why candidates failed</h3>");
	html_table_open(page, "", "Outcome|Count|Reason");
	for (size_t i = 0; i < count && i < REASONS_SHOWN; i++) {
		const struct evaluation *example = found[i].example;
		const char *words =
			example->detail ? example->detail : outcome_summary(example->outcome);

		html_put(page,
			"<tr><td>%s</td><td class=\"n\">%zu</td><td class=\"words\">%.*s%s</td>"
			"</tr>\n",
			outcome_name(example->outcome), found[i].count, REASON_BYTES_MAX, words,
			strlen(words) > REASON_BYTES_MAX ? " ..." : "");
	}
	html_table_close(page);
	if (count > REASONS_SHOWN)
		html_put(
			page, "<p>and %zu more reasons, in the journal</p>", count - REASONS_SHOWN);
	text_append(page, "</div>\n");
}

/* ---- the whole ---- */
static void body(const struct report *report, const struct report_entry *entry, size_t index,
	struct text *page)
{
	bool room = page->length < HTML_BYTES_MAX * 9 / 10;

	html_put(page, "<div class=\"figures\" data-owner=\"%zu\">\n", index);
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
			"one the other candidates are not known.</p>\n");
	reasons(entry, page);
	ranks(entry, page);
	rules(entry, page);
	if (room && entry->candidate_count) {
		html_put(page,
			"<div class=\"card wide candidates\" data-entry=\"%zu\"><h3>All %zu "
			"candidates</h3><noscript><p>The table needs JavaScript; the journal holds "
			"the same.</p></noscript></div>\n",
			index, entry->candidate_count);
		html_data(entry, index, page);
	}
	text_append(page, "</div>\n");
}

void html_entry(const struct report *report, size_t index, struct text *page)
{
	const struct report_entry *entry = &report->entries[index];

	if (report->entry_count == 1) {
		html_put(page, "<div class=\"entry\" id=\"%s\">\n", entry->slug);
		body(report, entry, index, page);
		text_append(page, "</div>\n");
		return;
	}
	html_put(page,
		"<details class=\"entry\"%s id=\"%s\"><summary><h2>%s <span class=\"problem\">%s"
		"</span></h2><span class=\"brief\">",
		index ? "" : " open", entry->slug, entry->operation, entry->title);
	if (entry->has_winner)
		html_put(page, "%s · %s", format_time(entry->winner.time_us).text,
			entry->winner.family);
	text_append(page, "</span></summary>\n");
	html_winner(entry, page);
	body(report, entry, index, page);
	text_append(page, "</details>\n");
}
