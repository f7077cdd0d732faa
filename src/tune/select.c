/* SPDX-License-Identifier: MIT */
#include "tune/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"

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
	if (a->smem_bytes < b->smem_bytes || a->smem_bytes > b->smem_bytes)
		return (a->smem_bytes > b->smem_bytes) == is_measured;
	if (a->regs_per_thread < b->regs_per_thread || a->regs_per_thread > b->regs_per_thread)
		return a->regs_per_thread < b->regs_per_thread;
	return a->order < b->order;
}

bool select_same_kernel(const struct comparable *a, const struct comparable *b)
{
	return a == b ||
	       (a->kernel_hash && b->kernel_hash && strcmp(a->kernel_hash, b->kernel_hash) == 0);
}

static size_t fastest_launch(const struct comparable *comparables, size_t count, size_t of_kernel)
{
	size_t fastest = of_kernel;

	for (size_t i = 0; i < count; i++)
		if (select_same_kernel(&comparables[i], &comparables[of_kernel]) &&
			comparables[i].median_us < comparables[fastest].median_us)
			fastest = i;
	return fastest;
}

size_t select_winner(const struct comparable *comparables, size_t count, bool *tied)
{
	size_t fastest = 0, preferred, winner;

	for (size_t i = 1; i < count; i++)
		if (comparables[i].median_us < comparables[fastest].median_us)
			fastest = i;
	preferred = fastest;
	for (size_t i = 0; i < count; i++) {
		tied[i] = meets(&comparables[fastest], &comparables[i]);
		if (tied[i] && select_prefers(&comparables[i], &comparables[preferred]))
			preferred = i;
	}
	fastest = fastest_launch(comparables, count, preferred);
	winner = fastest;
	for (size_t i = 0; i < count; i++)
		if (select_same_kernel(&comparables[i], &comparables[preferred]) &&
			meets(&comparables[fastest], &comparables[i]) &&
			select_prefers(&comparables[i], &comparables[winner]))
			winner = i;
	tied[winner] = true;
	return winner;
}

static size_t common_rounds(const struct rounds *rounds, size_t count)
{
	size_t common = rounds[0].count;

	for (size_t i = 1; i < count; i++)
		common = rounds[i].count < common ? rounds[i].count : common;
	return common;
}

/* The fastest over the rounds that all have: later ones may have been taken at another clock. */
static size_t find_fastest(const struct rounds *rounds, size_t count, size_t common)
{
	double best = statistics_summary(rounds[0].samples_us, common).median;
	size_t fastest = 0;

	for (size_t i = 1; i < count; i++) {
		double median = statistics_summary(rounds[i].samples_us, common).median;

		if (median < best) {
			best = median;
			fastest = i;
		}
	}
	return fastest;
}

void select_pair_rounds(struct comparable *comparables, const struct rounds *rounds, size_t count)
{
	size_t common = common_rounds(rounds, count), fastest;
	double base_us;
	double *ratios;

	if (common < SELECT_ROUNDS_MIN)
		return;
	fastest = find_fastest(rounds, count, common);
	base_us = comparables[fastest].median_us;
	for (size_t i = 0; i < count; i++) {
		size_t shared = rounds[i].count < rounds[fastest].count ? rounds[i].count
									: rounds[fastest].count;
		struct summary ratio;

		ratios = memory_zeroed(shared, sizeof(*ratios));
		for (size_t k = 0; k < shared; k++)
			ratios[k] = rounds[i].samples_us[k] / rounds[fastest].samples_us[k];
		ratio = statistics_summary(ratios, shared);
		comparables[i].median_us = base_us * ratio.median;
		comparables[i].ci95_low_us = base_us * ratio.ci95_low;
		comparables[i].ci95_high_us = base_us * ratio.ci95_high;
		free(ratios);
	}
}
