/* SPDX-License-Identifier: MIT */
#include "search/gaussian.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Nothing is ruled out by what is known of others. */
static const double CHANCE_LEAST = 0.02;

static void values_init(struct gaussian_values *values, size_t row_max, size_t slot_max)
{
	values->of_rows = memory_zeroed(row_max + 1, sizeof(double));
	values->whitened = memory_zeroed(row_max + 1, sizeof(double));
	values->means = memory_zeroed(slot_max + 1, sizeof(float));
}

static void values_release(struct gaussian_values *values)
{
	free(values->of_rows);
	free(values->whitened);
	free(values->means);
}

void gaussian_init(struct gaussian *gaussian, size_t row_max, size_t slot_max, double noise,
	gaussian_covariance *covariance, const void *context)
{
	*gaussian = (struct gaussian){
		.covariance = covariance,
		.context = context,
		.noise = noise,
		.row_max = row_max,
		.slot_max = slot_max,
		.row_points = memory_zeroed(row_max + 1, sizeof(size_t)),
		.factor = memory_zeroed(row_max * row_max + 1, sizeof(double)),
		.weights = memory_zeroed(row_max + 1, sizeof(double)),
		.slot_points = memory_zeroed(slot_max + 1, sizeof(size_t)),
		.slot_rows = memory_zeroed(slot_max * row_max + 1, sizeof(float)),
		.variances = memory_zeroed(slot_max + 1, sizeof(float)),
	};
	values_init(&gaussian->values, row_max, slot_max);
	values_init(&gaussian->works, row_max, slot_max);
}

void gaussian_release(struct gaussian *gaussian)
{
	free(gaussian->row_points);
	free(gaussian->factor);
	values_release(&gaussian->values);
	values_release(&gaussian->works);
	free(gaussian->weights);
	free(gaussian->slot_points);
	free(gaussian->slot_rows);
	free(gaussian->variances);
	*gaussian = (struct gaussian){0};
}

/* With four sums: the compiler may not reorder one. */
#define DOT(name, type)                                                                            \
	static type name(const type *a, const type *b, size_t count)                               \
	{                                                                                          \
		type sums[4] = {0};                                                                \
		size_t i = 0;                                                                      \
                                                                                                   \
		for (; i + 4 <= count; i += 4)                                                     \
			for (size_t j = 0; j < 4; j++)                                             \
				sums[j] += a[i + j] * b[i + j];                                    \
		for (; i < count; i++)                                                             \
			sums[0] += a[i] * b[i];                                                    \
		return sums[0] + sums[1] + sums[2] + sums[3];                                      \
	}
DOT(dot, float)
DOT(dot_exact, double)

/* factor^-1 of the point's covariances with all rows, into solved[]; returns what is left of its
 * variance. */
static double solve(const struct gaussian *gaussian, size_t point, double *solved)
{
	double variance = gaussian->covariance(gaussian->context, point, point);

	for (size_t r = 0; r < gaussian->row_count; r++) {
		const double *row = gaussian->factor + r * gaussian->row_max;

		solved[r] =
			(gaussian->covariance(gaussian->context, point, gaussian->row_points[r]) -
				dot_exact(row, solved, r)) /
			row[r];
		variance -= solved[r] * solved[r];
	}
	return variance;
}

double gaussian_expect(const struct gaussian *gaussian, size_t point)
{
	double mean = 0;

	for (size_t r = 0; r < gaussian->row_count; r++)
		mean += gaussian->weights[r] *
			gaussian->covariance(gaussian->context, point, gaussian->row_points[r]);
	return mean;
}

void gaussian_watch(struct gaussian *gaussian, size_t slot, size_t point)
{
	CLEANUP(memory_free)
	double *solved = memory_zeroed(gaussian->row_count + 1, sizeof(*solved));
	float *slot_row = gaussian->slot_rows + slot * gaussian->row_max;

	gaussian->slot_points[slot] = point;
	gaussian->variances[slot] = (float)solve(gaussian, point, solved);
	for (size_t r = 0; r < gaussian->row_count; r++)
		slot_row[r] = (float)solved[r];
	gaussian->values.means[slot] = (float)gaussian_expect(gaussian, point);
	gaussian->works.means[slot] = 0;
	if (slot == gaussian->slot_count)
		gaussian->slot_count++;
}

size_t gaussian_add(struct gaussian *gaussian, size_t point)
{
	const size_t new_row = gaussian->row_count;
	double *row = gaussian->factor + new_row * gaussian->row_max;
	const double variance = solve(gaussian, point, row);
	float *packed = memory_zeroed(new_row + 1, sizeof(*packed));

	row[new_row] = sqrt(fmax(variance, 0) + gaussian->noise);
	for (size_t c = 0; c < new_row; c++)
		packed[c] = (float)row[c];
	for (size_t s = 0; s < gaussian->slot_count; s++) {
		float *slot_row = gaussian->slot_rows + s * gaussian->row_max;
		const float covariance = (float)gaussian->covariance(
			gaussian->context, gaussian->slot_points[s], point);
		const float value =
			(covariance - dot(slot_row, packed, new_row)) / (float)row[new_row];

		slot_row[new_row] = value;
		gaussian->variances[s] -= value * value;
	}
	free(packed);
	gaussian->row_points[new_row] = point;
	gaussian->values.of_rows[new_row] = gaussian->works.of_rows[new_row] = NAN;
	gaussian->values.whitened[new_row] = gaussian->weights[new_row] = 0;
	gaussian->row_count++;
	return new_row;
}

void gaussian_set(struct gaussian *gaussian, size_t row, double value, bool works)
{
	gaussian->values.of_rows[row] = value;
	gaussian->works.of_rows[row] = works;
	gaussian->changed = true;
}

/* weights = factor^-T whitened */
static void weigh(struct gaussian *gaussian)
{
	const size_t rows = gaussian->row_count;

	for (size_t i = rows; i-- > 0;) {
		double rest = gaussian->values.whitened[i];

		for (size_t r = i + 1; r < rows; r++)
			rest -= gaussian->factor[r * gaussian->row_max + i] * gaussian->weights[r];
		gaussian->weights[i] = rest / gaussian->factor[i * gaussian->row_max + i];
	}
}

/* Brings the means of the slots up to date; returns the mean square of what is whitened. */
static double values_update(
	const struct gaussian *gaussian, struct gaussian_values *values, double offset)
{
	const size_t rows = gaussian->row_count;
	CLEANUP(memory_free) float *packed = memory_zeroed(rows + 1, sizeof(*packed));
	double squares = 0, known = 0;

	for (size_t r = 0; r < rows; r++) {
		const double *row = gaussian->factor + r * gaussian->row_max;
		const double rest = values->of_rows[r] - offset;

		/* A row under way is as expected: it adds nothing. */
		values->whitened[r] = 0;
		if (isnan(rest))
			continue;
		values->whitened[r] = (rest - dot_exact(row, values->whitened, r)) / row[r];
		packed[r] = (float)values->whitened[r];
		squares += values->whitened[r] * values->whitened[r];
		known++;
	}
	for (size_t s = 0; s < gaussian->slot_count; s++)
		values->means[s] = dot(gaussian->slot_rows + s * gaussian->row_max, packed, rows);
	return known > 0 ? squares / known : 0;
}

void gaussian_update(struct gaussian *gaussian)
{
	double square, works = 1, known = 1; /* one that works, before anything is known */

	if (!gaussian->changed)
		return;
	gaussian->changed = false;
	square = values_update(gaussian, &gaussian->values, 0);
	gaussian->scale = square > 0 ? sqrt(square) : 1;
	weigh(gaussian);
	for (size_t r = 0; r < gaussian->row_count; r++)
		if (!isnan(gaussian->works.of_rows[r])) {
			works += gaussian->works.of_rows[r];
			known++;
		}
	gaussian->works_rate = works / known;
	if (works < known)
		values_update(gaussian, &gaussian->works, gaussian->works_rate);
}

double gaussian_unlikeliness(struct gaussian *gaussian)
{
	double sum = 0;

	gaussian_update(gaussian);
	for (size_t r = 0; r < gaussian->row_count; r++)
		sum += log(gaussian->factor[r * gaussian->row_max + r]) +
		       gaussian->values.whitened[r] * gaussian->values.whitened[r] / 2;
	return sum;
}

double gaussian_chance(const struct gaussian *gaussian, size_t slot)
{
	const double chance = gaussian->works_rate + (double)gaussian->works.means[slot];

	return fmin(1, fmax(CHANCE_LEAST, chance));
}

void gaussian_renew(struct gaussian *gaussian)
{
	const size_t rows = gaussian->row_count;

	gaussian->row_count = 0;
	for (size_t s = 0; s < gaussian->slot_count; s++)
		gaussian->variances[s] = (float)gaussian->covariance(
			gaussian->context, gaussian->slot_points[s], gaussian->slot_points[s]);
	for (size_t r = 0; r < rows; r++) {
		const double value = gaussian->values.of_rows[r];
		const double works = gaussian->works.of_rows[r];

		gaussian_add(gaussian, gaussian->row_points[r]);
		gaussian->values.of_rows[r] = value;
		gaussian->works.of_rows[r] = works;
	}
	gaussian->changed = true;
}
