/* SPDX-License-Identifier: MIT */
#include "advise/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "score/traffic.h"

const double advice_gain_least_ratio = 0.01;
const char *const advice_reason_kinds[] = {[REASON_FAMILY] = "family",
	[REASON_ALIGNMENT] = "alignment",
	[REASON_LINES] = "lines",
	[REASON_TILES] = "tiles",
	[REASON_WAVES] = "waves",
	NULL};

double advice_gain_ratio(const struct advice_row *row)
{
	bool same_work = !row->variant || row->variant->kind == VARIANT_PAD ||
			 row->variant->kind == VARIANT_PITCH;

	return same_work ? row->net_gain_ratio : row->throughput_gain_ratio;
}

/* Smaller differences explain nothing. */
static const double notable_ratio = 0.005;

static void add(struct advice_row *row, enum advice_reason_kind kind, char *text)
{
	row->reasons = memory_resize(row->reasons, row->reason_count + 1, sizeof(*row->reasons));
	row->reasons[row->reason_count++] = (struct advice_reason){.kind = kind, .text = text};
}

/* Why a family is not among those of a problem: the line that names it, without its name. */
static char *why_left_out(const struct candidate_list *candidates, const char *family)
{
	size_t length = strlen(family);

	for (const char *line = candidates->left_out; line && *line;
		line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, family, length) == 0 && line[length] == ' ')
			return string_copy_bytes(
				line + length + 1, strcspn(line, "\n") - length - 1);
	return NULL;
}

static void explain_family(const struct advice_row *asked, struct advice_row *row)
{
	const char *before = asked->best_of.best->evaluation.family;
	const char *now = row->best_of.best->evaluation.family;
	static const char refusal[] = "does not apply: needs ";
	char *why;

	if (strcmp(before, now) == 0)
		return;
	why = why_left_out(&asked->best_of.candidates, now);
	if (why && strncmp(why, refusal, strlen(refusal)) == 0)
		memmove(why, why + strlen(refusal), strlen(why + strlen(refusal)) + 1);
	add(row, REASON_FAMILY,
		why ? string_format("%s can do this; the asked sizes, where %s does not hold, are "
				    "left to %s",
			      now, why, before)
		    : string_format("%s is faster here than %s", now, before));
	free(why);
}

/* The largest power of two, up to a cache line, that divides the distance between rows. */
static unsigned pitch_alignment(uint64_t pitch_bytes)
{
	unsigned alignment = 1;

	while (alignment < ALIGNMENT_LINE_BYTES && pitch_bytes % (2 * alignment) == 0)
		alignment *= 2;
	return alignment;
}

static void explain_alignment(const struct advice_row *asked, struct advice_row *row)
{
	const struct plan *before = &asked->best_of.best->plan;
	const struct plan *now = &row->best_of.best->plan;

	for (size_t i = 0; i < now->tensor_count; i++) {
		const struct plan_buffer *old = &before->buffers[i], *new = &now->buffers[i];
		uint64_t old_bytes = old->ld * (uint64_t)dtype_size(old->dtype);
		uint64_t new_bytes = new->ld *(uint64_t)dtype_size(new->dtype);

		if (pitch_alignment(new_bytes) > pitch_alignment(old_bytes))
			add(row, REASON_ALIGNMENT,
				string_format(
					"rows of %s begin every %llu bytes, a multiple of %u, "
					"instead of %llu, a multiple of %u",
					new->name, (unsigned long long)new_bytes,
					pitch_alignment(new_bytes), (unsigned long long)old_bytes,
					pitch_alignment(old_bytes)));
	}
}

static void explain_score(const struct advice_row *asked, struct advice_row *row)
{
	const struct score *old = &asked->best_of.best->evaluation.score;
	const struct score *new = &row->best_of.best->evaluation.score;
	const struct launch_score *before, *now;

	if (!old->launch_count || !new->launch_count)
		return;
	before = &old->launches[old->longest];
	now = &new->launches[new->longest];
	if (before->lines_per_row_ratio > now->lines_per_row_ratio + notable_ratio)
		add(row, REASON_LINES,
			string_format(
				"a tile's row touches %.2f times the cache lines it needs, not "
				"%.2f",
				now->lines_per_row_ratio, before->lines_per_row_ratio));
	if (now->tile_efficiency_ratio > before->tile_efficiency_ratio + notable_ratio)
		add(row, REASON_TILES,
			string_format("%.1f%% of the tiles' area is used, not %.1f%%",
				100 * now->tile_efficiency_ratio,
				100 * before->tile_efficiency_ratio));
	if (now->wave_efficiency_ratio > before->wave_efficiency_ratio + notable_ratio ||
		now->waves < before->waves)
		add(row, REASON_WAVES,
			string_format("%.0f tiles in %.0f wave%s (%.2f exactly), not %.0f in %.0f "
				      "(%.2f)",
				now->tiles, now->waves, now->waves > 1 ? "s" : "", now->waves_exact,
				before->tiles, before->waves, before->waves_exact));
}

void advice_explain(const struct advice_row *asked, struct advice_row *row)
{
	if (!asked->best_of.best || !row->best_of.best)
		return;
	explain_alignment(asked, row);
	explain_family(asked, row);
	explain_score(asked, row);
}
