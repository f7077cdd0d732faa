/* SPDX-License-Identifier: MIT */
#include "tune/pair.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"

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

void pair_contenders(struct contender *contenders, const struct rounds *rounds, size_t count)
{
	size_t common = common_rounds(rounds, count), fastest;
	double base_us;
	double *ratios;

	if (common < PAIR_ROUNDS_MIN)
		return;
	fastest = find_fastest(rounds, count, common);
	base_us = contenders[fastest].median_us;
	for (size_t i = 0; i < count; i++) {
		size_t shared = rounds[i].count < rounds[fastest].count ? rounds[i].count
									: rounds[fastest].count;
		struct summary ratio;

		ratios = memory_zeroed(shared, sizeof(*ratios));
		for (size_t k = 0; k < shared; k++)
			ratios[k] = rounds[i].samples_us[k] / rounds[fastest].samples_us[k];
		ratio = statistics_summary(ratios, shared);
		contenders[i].median_us = base_us * ratio.median;
		contenders[i].ci95_low_us = base_us * ratio.ci95_low;
		contenders[i].ci95_high_us = base_us * ratio.ci95_high;
		free(ratios);
	}
}
