/* SPDX-License-Identifier: MIT */
#include "tune/select.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

static bool meets(const struct comparable *fastest, const struct comparable *other)
{
	/* half of the floor on each side: two exact numbers 1% apart just touch */
	double widen_fastest = 0.5 * SELECT_TIE_RATIO * fastest->median_us + fastest->place_us;
	double widen_other = 0.5 * SELECT_TIE_RATIO * other->median_us + other->place_us;

	return other->ci95_low_us - widen_other <= fastest->ci95_high_us + widen_fastest;
}

static double prediction_step(const struct comparable *comparable)
{
	return floor(log(comparable->predicted_us) / SELECT_PREDICTION_RATIO);
}

bool select_prefers(const struct comparable *a, const struct comparable *b)
{
	const double step_a = prediction_step(a), step_b = prediction_step(b);
	const bool is_measured = !(a->predicted_us > 0);

	if (a->incumbent != b->incumbent)
		return a->incumbent;
	if (step_a < step_b || step_a > step_b)
		return step_a < step_b;
	if (a->is_planned != b->is_planned)
		return a->is_planned;
	if (a->smem_bytes < b->smem_bytes || a->smem_bytes > b->smem_bytes)
		return (a->smem_bytes > b->smem_bytes) == is_measured;
	if (a->regs_per_thread < b->regs_per_thread || a->regs_per_thread > b->regs_per_thread)
		return a->regs_per_thread < b->regs_per_thread;
	return a->order < b->order;
}

static bool same_kernel(const struct comparable *a, const struct comparable *b)
{
	return a == b ||
	       (a->kernel_hash && b->kernel_hash && strcmp(a->kernel_hash, b->kernel_hash) == 0);
}

/* Of all, or of the launches of one kernel. */
static size_t fastest_of(
	const struct comparable *comparables, size_t count, const struct comparable *kernel)
{
	size_t fastest = kernel ? (size_t)(kernel - comparables) : 0;

	for (size_t i = 0; i < count; i++)
		if ((!kernel || same_kernel(&comparables[i], kernel)) &&
			comparables[i].median_us < comparables[fastest].median_us)
			fastest = i;
	return fastest;
}

size_t select_winner(const struct comparable *comparables, size_t count, bool *tied)
{
	size_t fastest = fastest_of(comparables, count, NULL), preferred = fastest, winner;

	for (size_t i = 0; i < count; i++) {
		tied[i] = meets(&comparables[fastest], &comparables[i]);
		if (tied[i] && select_prefers(&comparables[i], &comparables[preferred]))
			preferred = i;
	}
	winner = fastest = fastest_of(comparables, count, &comparables[preferred]);
	for (size_t i = 0; i < count; i++)
		if (same_kernel(&comparables[i], &comparables[preferred]) &&
			meets(&comparables[fastest], &comparables[i]) &&
			select_prefers(&comparables[i], &comparables[winner]))
			winner = i;
	tied[winner] = true;
	return winner;
}

bool select_may_win(const struct comparable *comparables, size_t count, size_t which)
{
	/* what a measurement in one load may be off by */
	const double surely_slower_ratio = 0.003;
	const struct comparable *fastest = &comparables[fastest_of(comparables, count, NULL)];
	const struct comparable *asked = &comparables[which];

	if (asked == fastest)
		return true; /* it says what is tied */
	if (!meets(fastest, asked) &&
		asked->median_us > fastest->median_us * (1 + 2 * SELECT_TIE_RATIO))
		return false;
	for (size_t i = 0; i < count; i++)
		if (comparables[i].median_us * (1 + surely_slower_ratio) <= asked->median_us &&
			select_prefers(&comparables[i], asked) &&
			(same_kernel(&comparables[i], asked) ||
				comparables[i].median_us <=
					fastest->median_us * (1 + SELECT_TIE_RATIO)))
			return false;
	return true;
}

static size_t common_rounds(const struct rounds *rounds, size_t count)
{
	size_t common = SIZE_MAX;

	for (size_t i = 0; i < count; i++)
		common = rounds[i].count < common ? rounds[i].count : common;
	return common;
}

size_t select_fastest(const struct rounds *rounds, size_t count)
{
	const size_t common = common_rounds(rounds, count);
	double best_us = INFINITY;
	size_t fastest = 0;

	for (size_t i = 0; i < count; i++) {
		const double median_us = statistics_quantile(rounds[i].samples_us, common, 0.5);

		if (median_us < best_us)
			fastest = i;
		best_us = fmin(best_us, median_us);
	}
	return fastest;
}

struct interval select_ratio(
	const struct rounds *rounds, const struct rounds *over, enum confidence confidence)
{
	const size_t count = rounds->count < over->count ? rounds->count : over->count;
	CLEANUP(memory_free) double *ratios = memory_zeroed(count, sizeof(*ratios));

	for (size_t i = 0; i < count; i++)
		ratios[i] = rounds->samples_us[i] / over->samples_us[i];
	return statistics_interval(ratios, count, confidence);
}

void select_pair_rounds(struct comparable *comparables, const struct rounds *rounds, size_t count)
{
	size_t fastest;
	double base_us;

	if (common_rounds(rounds, count) < SELECT_ROUNDS_MIN)
		return;
	fastest = select_fastest(rounds, count);
	base_us = comparables[fastest].median_us;
	for (size_t i = 0; i < count; i++) {
		const struct interval ratio =
			select_ratio(&rounds[i], &rounds[fastest], CONFIDENCE_95);

		comparables[i].median_us = base_us * ratio.value;
		comparables[i].ci95_low_us = base_us * ratio.low;
		comparables[i].ci95_high_us = base_us * ratio.high;
	}
}
