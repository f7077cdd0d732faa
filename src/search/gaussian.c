/* SPDX-License-Identifier: MIT */
#include "search/gaussian.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

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
		.values = memory_zeroed(row_max + 1, sizeof(double)),
		.whitened = memory_zeroed(row_max + 1, sizeof(double)),
		.weights = memory_zeroed(row_max + 1, sizeof(double)),
		.slot_points = memory_zeroed(slot_max + 1, sizeof(size_t)),
		.slot_rows = memory_zeroed(slot_max * row_max + 1, sizeof(float)),
		.means = memory_zeroed(slot_max + 1, sizeof(float)),
		.variances = memory_zeroed(slot_max + 1, sizeof(float)),
	};
}

void gaussian_release(struct gaussian *gaussian)
{
	free(gaussian->row_points);
	free(gaussian->factor);
	free(gaussian->values);
	free(gaussian->whitened);
	free(gaussian->weights);
	free(gaussian->slot_points);
	free(gaussian->slot_rows);
	free(gaussian->means);
	free(gaussian->variances);
	*gaussian = (struct gaussian){0};
}

static float dot(const float *a, const float *b, size_t count)
{
	/* four sums: the compiler may not reorder one */
	float sums[4] = {0};
	size_t i = 0;

	for (; i + 4 <= count; i += 4)
		for (size_t j = 0; j < 4; j++)
			sums[j] += a[i + j] * b[i + j];
	for (; i < count; i++)
		sums[0] += a[i] * b[i];
	return sums[0] + sums[1] + sums[2] + sums[3];
}

/* factor^-1 of the point's covariances with all rows, into solved[]; returns what is left of its
 * variance. */
static double solve(const struct gaussian *gaussian, size_t point, double *solved)
{
	double variance = gaussian->covariance(gaussian->context, point, point);

	for (size_t r = 0; r < gaussian->row_count; r++) {
		const double *row = gaussian->factor + r * gaussian->row_max;
		double sum =
			gaussian->covariance(gaussian->context, point, gaussian->row_points[r]);

		for (size_t c = 0; c < r; c++)
			sum -= row[c] * solved[c];
		solved[r] = sum / row[r];
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
	gaussian->means[slot] = (float)gaussian_expect(gaussian, point);
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
	gaussian->values[new_row] = NAN;
	gaussian->whitened[new_row] = gaussian->weights[new_row] = 0;
	gaussian->row_count++;
	return new_row;
}

void gaussian_set(struct gaussian *gaussian, size_t row, double value)
{
	gaussian->values[row] = value;
	gaussian->changed = true;
}

/* weights = factor^-T whitened */
static void weigh(struct gaussian *gaussian)
{
	const size_t rows = gaussian->row_count;

	for (size_t i = rows; i-- > 0;) {
		double rest = gaussian->whitened[i];

		for (size_t r = i + 1; r < rows; r++)
			rest -= gaussian->factor[r * gaussian->row_max + i] * gaussian->weights[r];
		gaussian->weights[i] = rest / gaussian->factor[i * gaussian->row_max + i];
	}
}

void gaussian_update(struct gaussian *gaussian)
{
	const size_t rows = gaussian->row_count;
	double squares = 0, known = 0;
	float *packed;

	if (!gaussian->changed)
		return;
	gaussian->changed = false;
	packed = memory_zeroed(rows + 1, sizeof(*packed));
	for (size_t r = 0; r < rows; r++) {
		const double *row = gaussian->factor + r * gaussian->row_max;
		double rest = gaussian->values[r];

		/* A row under way is as expected: it adds nothing. */
		gaussian->whitened[r] = 0;
		if (isnan(rest))
			continue;
		for (size_t c = 0; c < r; c++)
			rest -= row[c] * gaussian->whitened[c];
		gaussian->whitened[r] = rest / row[r];
		packed[r] = (float)gaussian->whitened[r];
		squares += gaussian->whitened[r] * gaussian->whitened[r];
		known++;
	}
	weigh(gaussian);
	gaussian->scale = squares > 0 ? sqrt(squares / known) : 1;
	for (size_t s = 0; s < gaussian->slot_count; s++)
		gaussian->means[s] = dot(gaussian->slot_rows + s * gaussian->row_max, packed, rows);
	free(packed);
}

void gaussian_renew(struct gaussian *gaussian)
{
	const size_t rows = gaussian->row_count;

	gaussian->row_count = 0;
	for (size_t s = 0; s < gaussian->slot_count; s++)
		gaussian->variances[s] = (float)gaussian->covariance(
			gaussian->context, gaussian->slot_points[s], gaussian->slot_points[s]);
	for (size_t r = 0; r < rows; r++) {
		const double value = gaussian->values[r];

		gaussian_add(gaussian, gaussian->row_points[r]);
		gaussian->values[r] = value;
	}
	gaussian->changed = true;
}
