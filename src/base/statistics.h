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
	double mean;
	double minimum;
	double maximum;
	double deviation;           /* standard deviation (n-1); 0 for one sample */
	double ci95_low, ci95_high; /* of the median, from order statistics (binomial, n >= 6);
				     * below that minimum and maximum */
};

/* count > 0. */
struct summary statistics_summary(const double *samples, size_t count);
/* fraction 0..1, linear interpolation between order statistics (type 7). count > 0. */
double statistics_quantile(const double *samples, size_t count, double fraction);
/* Spearman's rank correlation with ties at their mean rank; 0 if count < 2 or all equal. */
double statistics_rank_correlation(const double *x, const double *y, size_t count);
/* Confidence interval of the median at the given level (0.95, 0.99, ...), from order statistics. */
void statistics_median_interval(
	const double *samples, size_t count, double level, double *low, double *high);

#endif
