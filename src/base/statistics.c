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

double statistics_quantile(const double *samples, size_t count, double fraction)
{
	CLEANUP(memory_free) double *sorted = memory_copy(samples, count * sizeof(*samples));
	const double position = fraction * (double)(count - 1);
	const size_t below = (size_t)position;

	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	return below + 1 >= count ? sorted[count - 1]
				  : sorted[below] + (position - (double)below) *
							    (sorted[below + 1] - sorted[below]);
}

enum {
	WAVES_MIN = 3,
	WAVES_MAX = 12
};

/* Student's t quantiles, by degrees of freedom. */
static const double student[][WAVES_MAX] = {
	[CONFIDENCE_95] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179},
	[CONFIDENCE_99] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
		3.106, 3.055},
};

static void move_outliers(double *values, size_t count)
{
	const double reach = 5 * 1.4826, middle = statistics_quantile(values, count, 0.5);
	CLEANUP(memory_free) double *distances = memory_zeroed(count, sizeof(*distances));
	double most;

	for (size_t i = 0; i < count; i++)
		distances[i] = fabs(values[i] - middle);
	most = reach * statistics_quantile(distances, count, 0.5);
	for (size_t i = 0; i < count && most > 0; i++)
		values[i] = fmin(fmax(values[i], middle - most), middle + most);
}

/* Returns the squared amplitude of the cosine with that number of half periods. */
static double wave_square(const double *values, size_t count, size_t half_periods)
{
	const double angle = M_PI * (double)half_periods / (double)count;
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i] * cos(angle * ((double)i + 0.5));
	return 2 * sum * sum / (double)count;
}

struct interval statistics_interval(
	const double *observations, size_t count, enum confidence confidence)
{
	CLEANUP(memory_free) double *values = memory_copy(observations, count * sizeof(*values));
	const double wanted = fmax(WAVES_MIN, floor(0.41 * cbrt((double)count * (double)count)));
	const size_t waves = (size_t)fmin(fmin(wanted, WAVES_MAX), (double)count - 1);
	double sum = 0, squares = 0, half = 0;

	move_outliers(values, count);
	for (size_t i = 0; i < count; i++)
		sum += values[i] / (double)count;
	for (size_t i = 1; i <= waves; i++)
		squares += wave_square(values, count, i);
	if (waves)
		half = student[confidence][waves - 1] *
		       sqrt(squares / (double)waves / (double)count);
	return (struct interval){.value = sum, .low = sum - half, .high = sum + half};
}

struct summary statistics_summary(const double *samples, size_t count)
{
	const struct interval interval = statistics_interval(samples, count, CONFIDENCE_95);
	const double median = statistics_quantile(samples, count, 0.5);

	return (struct summary){.count = count,
		.median = median,
		.ci95_low = fmax(0, fmin(interval.low, median)),
		.ci95_high = fmax(interval.high, median)};
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
	CLEANUP(memory_free) struct ranked *order = memory_zeroed(count, sizeof(*order));
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
	return ranks;
}

double statistics_rank_correlation(const double *x, const double *y, size_t count)
{
	CLEANUP(memory_free) double *rank_x = ranks_of(x, count);
	CLEANUP(memory_free) double *rank_y = ranks_of(y, count);
	const double mean = 0.5 * ((double)count - 1);
	double xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < count; i++) {
		xy += (rank_x[i] - mean) * (rank_y[i] - mean);
		xx += (rank_x[i] - mean) * (rank_x[i] - mean);
		yy += (rank_y[i] - mean) * (rank_y[i] - mean);
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
