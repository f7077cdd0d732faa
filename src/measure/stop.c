/* SPDX-License-Identifier: MIT */
#include "measure/stop.h"

#include <math.h>

#include "base/statistics.h"

/* Noise counts as stable when the spread of the first two thirds and of all agree this well. */
static const double stable_ratio = 0.05;
static const double noisy_ratio = 0.10;
static const size_t noisy_samples = 6; /* fewer give no interval, only minimum and maximum */

double stop_half_interval_ratio(const double *samples_us, size_t count)
{
	double low = 0, high = 0, median;

	if (count == 0)
		return INFINITY;
	statistics_median_interval(samples_us, count, 0.95, &low, &high);
	median = statistics_quantile(samples_us, count, 0.5);
	return median > 0 ? (high - low) / 2 / median : INFINITY;
}

static double spread_ratio(const double *samples_us, size_t count)
{
	double median = statistics_quantile(samples_us, count, 0.5);
	double spread = statistics_quantile(samples_us, count, 0.75) -
			statistics_quantile(samples_us, count, 0.25);

	return median > 0 ? spread / median : INFINITY;
}

static bool noise_is_stable(const double *samples_us, size_t count)
{
	double before, now;

	if (count < STOP_STABLE_SAMPLES)
		return false;
	before = spread_ratio(samples_us, count * 2 / 3);
	now = spread_ratio(samples_us, count);
	return fabs(now - before) <= stable_ratio * now;
}

static bool all_above(const double *samples_us, size_t count, double limit_us)
{
	for (size_t i = 0; i < count; i++)
		if (samples_us[i] <= limit_us)
			return false;
	return true;
}

enum stop stop_decide(const struct stop_rule *rule, const double *samples_us, size_t count)
{
	if (rule->give_up_us > 0 && count >= STOP_GIVE_UP_SAMPLES && count < rule->rounds_max &&
		all_above(samples_us, count, rule->give_up_us))
		return STOP_GIVE_UP;
	if (count >= rule->rounds_max)
		return STOP_FULL;
	if (count < rule->rounds_min || count == 0)
		return STOP_NOT_YET;
	if (rule->target_ratio <= 0)
		return STOP_NOT_YET;
	if (stop_half_interval_ratio(samples_us, count) <= rule->target_ratio)
		return STOP_PRECISE;
	return noise_is_stable(samples_us, count) ? STOP_STABLE : STOP_NOT_YET;
}

bool stop_is_noisy(const double *samples_us, size_t count)
{
	return count >= noisy_samples && stop_half_interval_ratio(samples_us, count) > noisy_ratio;
}
