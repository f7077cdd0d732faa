/* SPDX-License-Identifier: MIT
 *
 * Statistics of timing samples and of rankings. Pure functions; inputs are not changed.
 */
#ifndef BASE_STATISTICS_H
#define BASE_STATISTICS_H

#include <stddef.h>

struct summary {
	size_t count;
	double median;
	double ci95_low, ci95_high; /* statistics_interval(), wide enough to hold the median */
};

/* The middle of what was observed, and its bounds at some confidence. */
struct interval {
	double value, low, high;
};
enum confidence {
	CONFIDENCE_95,
	CONFIDENCE_99
};

/* count > 0. */
struct summary statistics_summary(const double *samples, size_t count);
/* fraction 0..1, linear interpolation between order statistics (type 7). count > 0. */
double statistics_quantile(const double *samples, size_t count, double fraction);
/* Spearman's rank correlation with ties at their mean rank; 0 if count < 2 or all equal. */
double statistics_rank_correlation(const double *x, const double *y, size_t count);
/* The middle of a series, in the order in which it was observed, though neighbours depend on each
 * other. Outliers are moved to five deviations from the median. The variance of the mean is that of
 * the series' slowest cosine waves, which hold what drifts; there are 0.41 n^(2/3) of them, at
 * least three (Lazarus, Lewis, Stock, Watson 2018: equal-weighted cosines), and as many degrees of
 * freedom of Student's distribution. One observation tells nothing of its error. count > 0. */
struct interval statistics_interval(
	const double *observations, size_t count, enum confidence confidence);

#endif
