/* SPDX-License-Identifier: MIT
 *
 * One problem's answer: winner, speed, why.
 */
#include <math.h>
#include <string.h>

#include "report/ceiling.h"
#include "html/html.h"
#include "report/format.h"

static void stat(struct text *page, const char *label, const char *value, const char *note)
{
	text_append(page, "<div class=\"stat\"><span class=\"label\">");
	html_text(page, label);
	text_append(page, "</span><span class=\"value\">");
	html_text(page, value);
	text_append(page, "</span><span class=\"note\">");
	html_text(page, note);
	text_append(page, "</span></div>");
}

static void stat_time(const struct report_entry *entry, struct text *page)
{
	const struct report_result *winner = &entry->winner;
	struct text value = {0}, note = {0};

	format_time(&value, winner->time_us);
	if (entry->predicted) {
		text_append(&note, "predicted by the model, not measured");
	} else if (winner->samples > 1) {
		text_append(&note, "95% interval ");
		format_number(&note, winner->low_us);
		text_append(&note, " to ");
		format_time(&note, winner->high_us);
		text_appendf(&note, ", %lld samples", (long long)winner->samples);
	}
	stat(page, entry->predicted ? "Predicted time" : "Time", value.data, text_string(&note));
	text_release(&value);
	text_release(&note);
}

static void stat_speed(const struct report_entry *entry, struct text *page)
{
	const struct report_result *winner = &entry->winner;
	struct ceiling ceilings[CEILINGS_MAX];
	struct text value = {0}, note = {0};

	if (winner->tflops <= 0)
		return;
	format_number(&value, winner->tflops);
	text_append(&value, " TFLOP/s");
	if (ceilings_find(entry, ceilings))
		text_appendf(&note, "%.0f%% of %.0f, the peak of %s at boost clock",
			100 * winner->tflops / ceilings[0].tflops, ceilings[0].tflops,
			ceilings[0].name);
	stat(page, "Speed", value.data, text_string(&note));
	text_release(&value);
	text_release(&note);
}

static void stat_memory(const struct report_entry *entry, struct text *page)
{
	struct text value = {0}, note = {0};

	if (entry->winner.gb_per_s <= 0)
		return;
	format_number(&value, entry->winner.gb_per_s);
	text_append(&value, " GB/s");
	text_append(&note, "of what must be read and written once");
	if (entry->spec)
		text_appendf(&note, "; %.0f%% of DRAM's %.2f TB/s",
			100e9 * entry->winner.gb_per_s / entry->spec->dram_bytes_per_s,
			entry->spec->dram_bytes_per_s * 1e-12);
	stat(page, "Memory", value.data, note.data);
	text_release(&value);
	text_release(&note);
}

/* ---- why ---- */
static void why_waves(const struct launch_score *launch, struct text *page)
{
	text_appendf(page,
		"<li><b>%.0f tiles</b> run in <b>%.0f wave%s</b> of %.0f (%.2f exactly): %.0f%% of "
		"the slots are busy",
		launch->tiles, launch->waves, launch->waves > 1 ? "s" : "", launch->slots_per_wave,
		launch->waves_exact, 100 * launch->wave_efficiency_ratio);
	if (launch->tile_efficiency_ratio < 0.9995)
		text_appendf(page, "; %.1f%% of the work falls outside of the problem at its edges",
			100 * (1 - launch->tile_efficiency_ratio));
	text_append(page, ".</li>");
}

static void why_resources(
	const struct report_result *winner, const struct launch_score *launch, struct text *page)
{
	struct text smem = {0};

	format_bytes(&smem, (double)launch->smem_bytes);
	text_appendf(page,
		"<li><b>%d block%s per SM</b> (occupancy %.0f%%, limited by %s): %d registers per "
		"thread%s, %s of shared memory",
		launch->blocks_per_sm, launch->blocks_per_sm == 1 ? "" : "s",
		100 * launch->occupancy_ratio, occupancy_limiter_name(launch->occupancy_limiter),
		launch->regs_per_thread, winner->score.regs_estimated ? " (estimated)" : "",
		smem.data);
	if (winner->spill_bytes > 0)
		text_appendf(page, ", <b>%lld bytes spilled</b>", (long long)winner->spill_bytes);
	if (launch->bank_conflict_ratio > 1.005)
		text_appendf(page, ", bank conflicts cost a factor of %.2f",
			launch->bank_conflict_ratio);
	if (launch->lines_per_row_ratio > 1.005)
		text_appendf(page, ", misaligned rows touch %.0f%% more cache lines",
			100 * (launch->lines_per_row_ratio - 1));
	text_append(page, ".</li>");
	text_release(&smem);
}

static const char *bound_words(enum bound_kind bound)
{
	switch (bound) {
	case BOUND_TENSOR:
		return "the tensor cores";
	case BOUND_FP32:
		return "the CUDA cores";
	case BOUND_MUFU:
		return "special functions";
	case BOUND_INSTRUCTIONS:
		return "the issue of instructions";
	case BOUND_SMEM:
		return "shared memory";
	case BOUND_L2:
		return "the L2 cache";
	case BOUND_DRAM:
		return "device memory";
	case BOUND_LATENCY:
		return "latency";
	}
	return bound_kind_name(bound);
}

static void why_bound(
	const struct report_entry *entry, const struct launch_score *launch, struct text *page)
{
	double predicted = entry->winner.score.predicted_time_us;

	text_appendf(page, "<li>By the model it is bound by <b>%s</b>", bound_words(launch->bound));
	if (!entry->predicted && isfinite(predicted)) {
		text_append(page, "; predicted ");
		format_time(page, predicted);
		text_appendf(page, ", %.0f%% %s than measured",
			100 * fabs(predicted / entry->winner.time_us - 1),
			predicted > entry->winner.time_us ? "more" : "less");
	}
	text_append(page, ".</li>");
}

static void why_others(const struct report_entry *entry, struct text *page)
{
	if (entry->tied_count)
		text_appendf(page,
			"<li>%zu other configuration%s tied with it, within 1%% or noise; a fixed "
			"rule chose.</li>",
			entry->tied_count, entry->tied_count == 1 ? " is" : "s are");
	for (size_t i = 0; i < entry->family_count; i++) {
		const struct report_result *other = &entry->families[i];

		if (strcmp(other->family, entry->winner.family) == 0)
			continue;
		text_append(page, "<li>The best of <b>");
		html_text(page, other->family);
		text_append(page, "</b> takes ");
		format_time(page, other->time_us);
		text_appendf(page, ", <b>%.2f times</b> as long.</li>",
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
	text_appendf(page,
		"<li>Of %zu candidates with a time the median takes <b>%.2f times</b> as long as "
		"the fastest",
		entry->ok_count, median / report_time_us(&entry->candidates[entry->best]));
	if (entry->legal > (double)entry->candidate_count)
		text_appendf(page, "; %zu of %.0f legal ones were evaluated",
			entry->candidate_count, entry->legal);
	text_append(page, ".</li>");
}

void html_winner(const struct report_entry *entry, struct text *page)
{
	const struct report_result *winner = &entry->winner;
	const struct launch_score *launch = report_longest(&winner->score);

	if (!entry->has_winner) {
		text_append(page, "<p>No candidate has a time.</p>\n");
		return;
	}
	if (!entry->json.node)
		text_append(page, "<p class=\"notice\">The search did not end: this is the best so "
				  "far.</p>\n");
	text_append(page, "<div class=\"answer\"><div class=\"stats\">");
	stat_time(entry, page);
	stat_speed(entry, page);
	stat_memory(entry, page);
	text_append(page, "</div><div class=\"winner-line\"><span class=\"family\">");
	html_text(page, winner->family);
	text_append(page, "</span> ");
	html_configuration(page, winner->configuration);
	text_append(page, "</div><ul class=\"why\">");
	if (launch) {
		why_waves(launch, page);
		why_resources(winner, launch, page);
		why_bound(entry, launch, page);
	}
	why_others(entry, page);
	why_search(entry, page);
	text_append(page, "</ul></div>\n");
}
