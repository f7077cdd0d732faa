/* SPDX-License-Identifier: MIT */
#include "tune/select.h"

static bool meets(const struct contender *fastest, const struct contender *other)
{
	/* half of the floor on each side: two exact numbers 1% apart just touch */
	double widen_fastest = 0.5 * SELECT_TIE_RATIO * fastest->median_us + fastest->place_us;
	double widen_other = 0.5 * SELECT_TIE_RATIO * other->median_us + other->place_us;

	return other->ci95_low_us - widen_other <= fastest->ci95_high_us + widen_fastest;
}

static bool preferred(const struct contender *a, const struct contender *b)
{
	const double same_prediction_ratio = 0.01;

	if (a->incumbent != b->incumbent)
		return a->incumbent;
	if (a->predicted_us < b->predicted_us * (1 - same_prediction_ratio))
		return true;
	if (b->predicted_us < a->predicted_us * (1 - same_prediction_ratio))
		return false;
	if (a->smem_bytes < b->smem_bytes || a->smem_bytes > b->smem_bytes)
		return a->smem_bytes < b->smem_bytes;
	if (a->regs_per_thread < b->regs_per_thread || a->regs_per_thread > b->regs_per_thread)
		return a->regs_per_thread < b->regs_per_thread;
	return a->order < b->order;
}

size_t select_winner(const struct contender *contenders, size_t count, bool *tied)
{
	size_t fastest = 0, winner;

	for (size_t i = 1; i < count; i++)
		if (contenders[i].median_us < contenders[fastest].median_us)
			fastest = i;
	winner = fastest;
	for (size_t i = 0; i < count; i++) {
		tied[i] = meets(&contenders[fastest], &contenders[i]);
		if (tied[i] && preferred(&contenders[i], &contenders[winner]))
			winner = i;
	}
	return winner;
}
