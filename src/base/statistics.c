/* SPDX-License-Identifier: MIT */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted_copy(const double *samples, size_t count)
{
	double *sorted = memory_copy(samples, count * sizeof(*samples));

	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	return sorted;
}

static double sorted_quantile(const double *sorted, size_t count, double fraction)
{
	double position = fraction * (double)(count - 1);
	size_t below = (size_t)position;
	double part = position - (double)below;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/* The largest rank k (from 0) with P(Binomial(n, 1/2) < k + 1) <= tail: [k, n-1-k] covers the
 * median with 1 - 2 tail. -1 if there is none (too few samples). */
static ptrdiff_t order_statistic_rank(size_t count, double tail)
{
	double log_half = -(double)count * log(2.0);
	double cumulated = 0;
	ptrdiff_t rank = -1;

	for (size_t k = 0; k < count / 2; k++) {
		double log_ways = lgamma((double)count + 1) - lgamma((double)k + 1) -
				  lgamma((double)(count - k) + 1);

		cumulated += exp(log_ways + log_half);
		if (cumulated > tail)
			break;
		rank = (ptrdiff_t)k;
	}
	return rank;
}

static void sorted_interval(
	const double *sorted, size_t count, double level, double *low, double *high)
{
	ptrdiff_t rank = order_statistic_rank(count, (1 - level) / 2);
	size_t from = rank < 0 ? 0 : (size_t)rank;

	*low = sorted[from];
	*high = sorted[count - 1 - from];
}

struct summary statistics_summary(const double *samples, size_t count)
{
	struct summary summary = {.count = count};
	double *sorted = sorted_copy(samples, count);
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += sorted[i];
	summary.mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (sorted[i] - summary.mean) * (sorted[i] - summary.mean);
	summary.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	summary.minimum = sorted[0];
	summary.maximum = sorted[count - 1];
	summary.median = sorted_quantile(sorted, count, 0.5);
	sorted_interval(sorted, count, 0.95, &summary.ci95_low, &summary.ci95_high);
	free(sorted);
	return summary;
}

double statistics_quantile(const double *samples, size_t count, double fraction)
{
	double *sorted = sorted_copy(samples, count);
	double value = sorted_quantile(sorted, count, fraction);

	free(sorted);
	return value;
}

void statistics_median_interval(
	const double *samples, size_t count, double level, double *low, double *high)
{
	double *sorted = sorted_copy(samples, count);

	sorted_interval(sorted, count, level, low, high);
	free(sorted);
}

struct ranked {
	double value;
	size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	return compare_doubles(
		&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

static double *ranks_of(const double *values, size_t count)
{
	struct ranked *order = memory_zeroed(count, sizeof(*order));
	double *ranks = memory_zeroed(count, sizeof(*ranks));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked){values[i], i};
	qsort(order, count, sizeof(*order), compare_ranked);
	for (size_t i = 0; i < count;) {
		size_t end = i + 1;

		while (end < count && compare_doubles(&order[end].value, &order[i].value) == 0)
			end++;
		for (size_t k = i; k < end; k++)
			ranks[order[k].index] = 0.5 * (double)(i + end - 1);
		i = end;
	}
	free(order);
	return ranks;
}

double statistics_rank_correlation(const double *x, const double *y, size_t count)
{
	double *rank_x, *rank_y;
	double mean = 0.5 * ((double)count - 1);
	double xy = 0, xx = 0, yy = 0;

	if (count < 2)
		return 0;
	rank_x = ranks_of(x, count);
	rank_y = ranks_of(y, count);
	for (size_t i = 0; i < count; i++) {
		xy += (rank_x[i] - mean) * (rank_y[i] - mean);
		xx += (rank_x[i] - mean) * (rank_x[i] - mean);
		yy += (rank_y[i] - mean) * (rank_y[i] - mean);
	}
	free(rank_x);
	free(rank_y);
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
