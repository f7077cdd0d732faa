/* SPDX-License-Identifier: MIT
 *
 * Explains by the differences between both winners why a variant is faster.
 */
#include "advise/advise.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "score/traffic.h"

double tensor_bytes(const struct plan_buffer *tensor)
{
	return tensor->rows ? ((double)(tensor->rows - 1) * (double)tensor->ld +
				      (double)tensor->columns) *
				      (double)dtype_size(tensor->dtype)
			    : 0;
}

/* Smaller differences do not explain a gain. */
static const double notable_ratio = 0.005;

static void add(struct advice *row, const char *kind, char *text)
{
	row->reasons = memory_resize(row->reasons, row->reason_count + 1, sizeof(*row->reasons));
	row->reasons[row->reason_count++] = (struct advice_reason){.kind = kind, .text = text};
}

static void explain_family(const struct device_spec *device, const struct catalogue *catalogue,
	const struct advice *asked, struct advice *row)
{
	const char *before = asked->entry->winner.result.family,
		   *now = row->entry->winner.result.family;
	CLEANUP(text_release) struct text why = {0};
	const struct family *family;
	bool applies = true;

	if (strcmp(before, now) == 0 ||
		catalogue_family(catalogue, asked->problem->operation, now, &family, NULL) !=
			STATUS_OK ||
		family_applies(family, asked->problem, device, &applies, &why, NULL) != STATUS_OK)
		return;
	add(row, "family",
		applies ? string_format("for these sizes %s is faster than %s", now, before)
			: string_format("%s can compute these sizes, but not the requested ones, "
					"where %s does not hold; those need %s",
				  now, text_string(&why), before));
}

/* The largest power of two, up to a cache line, that divides the pitch. */
static unsigned pitch_alignment(uint64_t pitch_bytes)
{
	unsigned alignment = 1;

	while (alignment < ALIGNMENT_LINE_BYTES && pitch_bytes % (2 * alignment) == 0)
		alignment *= 2;
	return alignment;
}

static void explain_alignment(const struct advice *asked, struct advice *row)
{
	for (size_t i = 0; i < row->problem->operation->tensor_count; i++) {
		const struct plan_buffer *old = &asked->tensors[i], *now = &row->tensors[i];
		const uint64_t old_bytes = old->ld * (uint64_t)dtype_size(old->dtype);
		const uint64_t now_bytes = now->ld * (uint64_t)dtype_size(now->dtype);

		if (pitch_alignment(now_bytes) > pitch_alignment(old_bytes))
			add(row, "alignment",
				string_format("rows of %s begin every %" PRIu64
					      " bytes, a multiple of %u, instead of %" PRIu64
					      ", a multiple of %u",
					now->name, now_bytes, pitch_alignment(now_bytes), old_bytes,
					pitch_alignment(old_bytes)));
	}
}

static void explain_score(const struct advice *asked, struct advice *row)
{
	const struct score *old = &asked->entry->winner.result.score;
	const struct score *new = &row->entry->winner.result.score;
	const struct launch_score *before, *now;

	if (!old->launch_count || !new->launch_count)
		return;
	before = &old->launches[old->longest];
	now = &new->launches[new->longest];
	if (before->lines_per_row_ratio > now->lines_per_row_ratio + notable_ratio)
		add(row, "lines",
			string_format(
				"a tile's row touches %.2f times the cache lines it needs, not "
				"%.2f",
				now->lines_per_row_ratio, before->lines_per_row_ratio));
	if (now->tile_efficiency_ratio > before->tile_efficiency_ratio + notable_ratio)
		add(row, "tiles",
			string_format("%.1f%% of the tiles' area is used, not %.1f%%",
				100 * now->tile_efficiency_ratio,
				100 * before->tile_efficiency_ratio));
	if (now->wave_efficiency_ratio > before->wave_efficiency_ratio + notable_ratio ||
		now->waves < before->waves)
		add(row, "waves",
			string_format("%.0f tiles in %.2f waves, not %.0f in %.2f", now->tiles,
				now->waves_exact, before->tiles, before->waves_exact));
}

void advice_explain(const struct device_spec *device, const struct catalogue *catalogue,
	const struct advice *asked, struct advice *row)
{
	explain_alignment(asked, row);
	explain_family(device, catalogue, asked, row);
	explain_score(asked, row);
}
