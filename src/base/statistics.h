/* SPDX-License-Identifier: MIT
 *
 * Pure functions for timing samples and rankings.
 */
#ifndef BASE_STATISTICS_H
#define BASE_STATISTICS_H

#include <stddef.h>

struct summary {
	size_t count;
	double median;
	/* interval of statistics_interval(), widened to include the median; at least 0 */
	double ci95_low, ci95_high;
};

struct interval {
	double value, low, high;
};
enum confidence {
	CONFIDENCE_95,
	CONFIDENCE_99
};

/* count > 0. */
struct summary statistics_summary(const double *samples, size_t count);
/* Returns the quantile for a fraction of 0..1, by linear interpolation (type 7). count > 0. */
double statistics_quantile(const double *samples, size_t count, double fraction);
/* Returns Spearman's rank correlation; ties get their mean rank. Returns 0 if count < 2 or a series
 * is constant. */
double statistics_rank_correlation(const double *x, const double *y, size_t count);
/* Estimates the centre of a time series whose neighbouring observations are correlated. Outliers
 * are clipped to five deviations from the median (1.4826 times the median absolute deviation),
 * unless that is 0. The variance of the mean comes from the slowest cosine terms, which capture
 * drift: 0.41 n^(2/3), at least three, also the degrees of freedom of Student's distribution
 * (Lazarus, Lewis, Stock, Watson 2018: equal-weighted cosines). One observation gives no error
 * estimate. count > 0. */
struct interval statistics_interval(
	const double *observations, size_t count, enum confidence confidence);

#endif
