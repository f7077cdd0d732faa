/* SPDX-License-Identifier: MIT */
#include "check/judge.h"

#include <math.h>

#include "base/error.h"
#include "base/statistics.h"

const char *const check_verdict_names[CHECK_VERDICT_COUNT + 1] = {
	[CHECK_SAME] = "same",
	[CHECK_FASTER] = "faster",
	[CHECK_SLOWER] = "slower",
	[CHECK_UNCLEAR] = "unclear",
	[CHECK_NOT_COMPARABLE] = "not comparable",
	[CHECK_FAILED] = "failed",
};

struct check_estimate check_estimate(const double *ratios, size_t count, double confidence_ratio)
{
	struct check_estimate estimate = {.value = statistics_quantile(ratios, count, 0.5)};

	statistics_median_interval(ratios, count, confidence_ratio, &estimate.low, &estimate.high);
	return estimate;
}

struct check_estimate check_estimate_over(
	const struct check_estimate *now, const struct check_estimate *baseline)
{
	double value = now->value / baseline->value;
	double below = hypot(now->value - now->low,
		(baseline->high - baseline->value) * now->value / baseline->value);
	double above = hypot(now->high - now->value,
		(baseline->value - baseline->low) * now->value / baseline->value);

	return (struct check_estimate){.value = value,
		.low = value - below / baseline->value,
		.high = value + above / baseline->value};
}

/* How many standard deviations on both sides hold this much of a normal distribution. */
static double normal_width(double confidence_ratio)
{
	double low = 0, high = 10;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erf(middle / sqrt(2)) < confidence_ratio)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct check_estimate check_estimate_at(
	const struct check_estimate *estimate, double from_ratio, double to_ratio)
{
	double stretch = normal_width(to_ratio) / normal_width(from_ratio);

	return (struct check_estimate){.value = estimate->value,
		.low = estimate->value - (estimate->value - estimate->low) * stretch,
		.high = estimate->value + (estimate->high - estimate->value) * stretch};
}

struct check_estimate check_estimate_widened(
	const struct check_estimate *estimate, double half_width)
{
	return (struct check_estimate){.value = estimate->value,
		.low = estimate->value - hypot(estimate->value - estimate->low, half_width),
		.high = estimate->value + hypot(estimate->high - estimate->value, half_width)};
}

/* P(|T| < t) with 3 degrees of freedom: Abramowitz and Stegun, 26.7.3. */
static double student_inside(double t)
{
	double angle = atan(t / sqrt(3));

	_Static_assert(CHECK_LOADS == 4, "three degrees of freedom");
	return 2 / acos(-1) * (angle + sin(angle) * cos(angle));
}

double check_loads_half_width(double deviation, size_t loads, double confidence_ratio)
{
	double low = 0, high = 1000;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (student_inside(middle) < confidence_ratio)
			low = middle;
		else
			high = middle;
	}
	return low * deviation / sqrt((double)loads);
}

double check_estimate_half_ratio(const struct check_estimate *estimate)
{
	return (estimate->high - estimate->low) / 2 / estimate->value;
}

enum check_verdict check_judge(const struct check_rule *rule, const struct check_estimate *slowdown)
{
	double low = slowdown->low - rule->floor_ratio, high = slowdown->high + rule->floor_ratio;
	bool may_be_slower = high >= 1 + rule->threshold_ratio;

	if (may_be_slower && low > 1)
		return CHECK_SLOWER;
	if (low <= 1 - rule->threshold_ratio && high < 1)
		return CHECK_FASTER;
	return may_be_slower ? CHECK_UNCLEAR : CHECK_SAME;
}

static struct check_estimate divided(const struct check_estimate *estimate, double by)
{
	return (struct check_estimate){.value = estimate->value / by,
		.low = estimate->low / by,
		.high = estimate->high / by};
}

enum check_verdict check_judge_clocked(const struct check_rule *rule,
	const struct check_estimate *time, double anchor, bool clock_bound,
	struct check_estimate *slowdown)
{
	struct check_estimate other = divided(time, clock_bound ? 1 : anchor);
	enum check_verdict verdict;

	*slowdown = divided(time, clock_bound ? anchor : 1);
	verdict = check_judge(rule, slowdown);
	if (verdict == CHECK_SLOWER && fabs(anchor - 1) > CHECK_CLOCK_TRUST_RATIO &&
		check_judge(rule, &other) != CHECK_SLOWER)
		return CHECK_UNCLEAR;
	return verdict;
}
