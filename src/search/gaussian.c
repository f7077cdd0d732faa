/* SPDX-License-Identifier: MIT */
#include "search/gaussian.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Variances of the four parts and of the noise. */
static const float OF_FAMILY = 0.09F, OF_SLOPE = 0.09F, OF_VALUES = 0.045F, OF_PLACE = 0.045F;
static const double OF_NOISE = 0.0002;
/* Fraction of the additive part that depends on the order of values, and the expected jump. */
static const float ORDERED = 0.5F;
static const float JUMP_USUAL = 0.2F;

enum {
	LEARNED_MAX = 96, /* rows used for learning */
	SWEEPS = 3,       /* passes over all weights */
};
/* Step sizes in the logarithm of a weight. */
static const double STEP_FIRST = 0.7, STEP_SHRINKS = 0.5;

static struct axis *axes_of(const struct gaussian *gaussian, size_t family)
{
	return gaussian->axes + family * SPACE_PARAMETERS_MAX;
}

double gaussian_covariance(const struct gaussian *gaussian, size_t a, size_t b)
{
	const struct search_view *view = gaussian->view;
	const size_t family = view->family[a];
	const struct axis *axes = axes_of(gaussian, family);
	const float slopes = OF_SLOPE * gaussian->slopes[a] * gaussian->slopes[b];
	const size_t parameters = view->families[family].parameter_count;
	const choice *x, *y;
	float square = 0, alike = 0, far;

	if (family != view->family[b])
		return (double)slopes;
	x = search_view_configuration(view, a);
	y = search_view_configuration(view, b);
	for (size_t p = 0; p < parameters; p++) {
		const int places = abs(x[p] - y[p]);

		square += axes[p].squares[places];
		alike += axes[p].alikes[places];
	}
	far = sqrtf(5 * square);
	return (double)(OF_FAMILY + slopes + OF_VALUES * alike +
			OF_PLACE * (1 + far + far * far / 3) * expf(-far));
}

static void axis_update(struct axis *axis, size_t levels)
{
	axis->squares[0] = 0;
	axis->alikes[0] = axis->share;
	for (size_t places = 1; places < levels; places++) {
		const float apart = fminf(1, axis->step * (float)places);
		const float jump = fminf(1, axis->jump);
		const float weighed = axis->weight * (jump + (1 - jump) * apart);

		axis->squares[places] = weighed * weighed;
		axis->alikes[places] = axis->share * ORDERED * (1 - apart);
	}
}

static void axes_init(const struct search_family *family, struct axis *axes)
{
	size_t varied = 0;

	for (size_t p = 0; p < family->parameter_count; p++)
		varied += family->parameters[p].levels > 1;
	for (size_t p = 0; p < family->parameter_count; p++) {
		const float between = (float)family->parameters[p].levels - 1;

		axes[p] = (struct axis){.step = 1, .weight = 1, .jump = JUMP_USUAL};
		if (between > 0)
			axes[p].share = 1 / (float)varied;
		if (between > 0 && family->parameters[p].is_ordered)
			axes[p].step = 1 / between;
		axes[p].squares = memory_zeroed(family->parameters[p].levels + 1, sizeof(float));
		axes[p].alikes = memory_zeroed(family->parameters[p].levels + 1, sizeof(float));
		axis_update(&axes[p], family->parameters[p].levels);
	}
}

void gaussian_init(
	struct gaussian *gaussian, const struct search_view *view, size_t row_max, size_t pool_max)
{
	double best = INFINITY;

	*gaussian = (struct gaussian){
		.view = view,
		.axes = memory_zeroed(
			view->family_count * SPACE_PARAMETERS_MAX + 1, sizeof(struct axis)),
		.slopes = memory_zeroed(view->count + 1, sizeof(float)),
		.row_max = row_max,
		.pool_max = pool_max,
		.row_points = memory_zeroed(row_max + 1, sizeof(size_t)),
		.factor = memory_zeroed(row_max * row_max + 1, sizeof(double)),
		.pool_points = memory_zeroed(pool_max + 1, sizeof(size_t)),
		.pool_rows = memory_zeroed(pool_max * row_max + 1, sizeof(double)),
		.variances = memory_zeroed(pool_max + 1, sizeof(double)),
	};
	for (size_t f = 0; f < view->family_count; f++)
		axes_init(&view->families[f], axes_of(gaussian, f));
	for (size_t i = 0; i < view->count; i++)
		best = fmin(best, view->predicted_us[i]);
	for (size_t i = 0; i < view->count; i++)
		gaussian->slopes[i] = (float)(1 - best / view->predicted_us[i]);
}

void gaussian_release(struct gaussian *gaussian)
{
	for (size_t i = 0;
		gaussian->view && i < gaussian->view->family_count * SPACE_PARAMETERS_MAX; i++) {
		free(gaussian->axes[i].squares);
		free(gaussian->axes[i].alikes);
	}
	free(gaussian->axes);
	free(gaussian->slopes);
	free(gaussian->row_points);
	free(gaussian->factor);
	free(gaussian->pool_points);
	free(gaussian->pool_rows);
	free(gaussian->variances);
	*gaussian = (struct gaussian){0};
}

/* Uses four sums, because the compiler must not reorder a floating-point sum. */
static double dot(const double *a, const double *b, size_t count)
{
	double sums[4] = {0};
	size_t i = 0;

	for (; i + 4 <= count; i += 4)
		for (size_t j = 0; j < 4; j++)
			sums[j] += a[i + j] * b[i + j];
	for (; i < count; i++)
		sums[0] += a[i] * b[i];
	return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Solves for a point's row of the factor. Returns the remaining variance. */
static double solve(const struct gaussian *gaussian, size_t point, double *solved)
{
	for (size_t r = 0; r < gaussian->row_count; r++) {
		const double *row = gaussian->factor + r * gaussian->row_max;

		solved[r] = (gaussian_covariance(gaussian, point, gaussian->row_points[r]) -
				    dot(row, solved, r)) /
			    row[r];
	}
	return fmax(0, gaussian_covariance(gaussian, point, point) -
			       dot(solved, solved, gaussian->row_count));
}

void gaussian_pool_add(struct gaussian *gaussian, size_t point)
{
	const size_t member = gaussian->pool_count;

	if (member == gaussian->pool_max)
		return;
	gaussian->pool_points[member] = point;
	gaussian->variances[member] =
		solve(gaussian, point, gaussian->pool_rows + member * gaussian->row_max);
	gaussian->pool_count++;
}

void gaussian_add(struct gaussian *gaussian, size_t point)
{
	const size_t added = gaussian->row_count;
	double *row = gaussian->factor + added * gaussian->row_max;

	if (added == gaussian->row_max)
		return;
	row[added] = sqrt(solve(gaussian, point, row) + OF_NOISE);
	for (size_t s = 0; s < gaussian->pool_count; s++) {
		double *pool_row = gaussian->pool_rows + s * gaussian->row_max;
		const double covariance =
			gaussian_covariance(gaussian, gaussian->pool_points[s], point);

		pool_row[added] = (covariance - dot(pool_row, row, added)) / row[added];
		gaussian->variances[s] -= pool_row[added] * pool_row[added];
	}
	gaussian->row_points[added] = point;
	gaussian->row_count++;
}

double gaussian_means(const struct gaussian *gaussian, const double *values, double *means)
{
	const size_t rows = gaussian->row_count;
	CLEANUP(memory_free) double *whitened = memory_zeroed(rows + 1, sizeof(*whitened));

	/* The mean predicted by earlier rows replaces an unknown value. */
	for (size_t r = 0; r < rows; r++) {
		const double *row = gaussian->factor + r * gaussian->row_max;

		if (!isnan(values[r]))
			whitened[r] = (values[r] - dot(row, whitened, r)) / row[r];
	}
	for (size_t s = 0; s < gaussian->pool_count; s++)
		means[s] = dot(gaussian->pool_rows + s * gaussian->row_max, whitened, rows);
	return dot(whitened, whitened, rows);
}

/* A process without a pool, whose rows all have a value. */
struct fit {
	struct gaussian gaussian;
	size_t points[LEARNED_MAX], count;
	double values[LEARNED_MAX];
};

/* Returns -ln of the prior, up to a constant. */
static double surprise(const struct axis *axis)
{
	return (pow(log((double)axis->weight), 2) +
		       pow(log((double)(axis->jump / JUMP_USUAL)), 2)) /
	       2;
}

/* Returns -ln of the posterior, up to a constant. */
static double unlikeliness(struct fit *fit)
{
	struct gaussian *gaussian = &fit->gaussian;
	const struct search_view *view = gaussian->view;
	double sum = 0;

	gaussian->row_count = 0;
	for (size_t r = 0; r < fit->count; r++) {
		gaussian_add(gaussian, fit->points[r]);
		sum += log(gaussian->factor[r * gaussian->row_max + r]);
	}
	for (size_t f = 0; f < view->family_count; f++)
		for (size_t p = 0; p < view->families[f].parameter_count; p++)
			sum += surprise(&axes_of(gaussian, f)[p]);
	return sum + gaussian_means(gaussian, fit->values, NULL) / 2;
}

/* Scales *learned by exp(step) or exp(-step) if that increases the posterior. */
static void improve(struct fit *fit, struct axis *axis, float *learned, size_t levels, double step,
	double *least)
{
	const float before = *learned;

	for (int direction = 1; direction >= -1; direction -= 2) {
		double now;

		*learned = before * (float)exp(direction * step);
		axis_update(axis, levels);
		now = unlikeliness(fit);
		if (now < *least) {
			*least = now;
			return;
		}
	}
	*learned = before;
	axis_update(axis, levels);
}

static void improve_family(struct fit *fit, size_t of, double step, double *least)
{
	const struct search_family *family = &fit->gaussian.view->families[of];
	struct axis *axes = axes_of(&fit->gaussian, of);
	size_t seen = 0;

	for (size_t r = 0; r < fit->count; r++)
		seen += fit->gaussian.view->family[fit->points[r]] == of;
	for (size_t p = 0; seen > 2 && p < family->parameter_count; p++) {
		const size_t levels = family->parameters[p].levels;

		if (levels > 1)
			improve(fit, &axes[p], &axes[p].weight, levels, step, least);
		if (levels > 2 && family->parameters[p].is_ordered)
			improve(fit, &axes[p], &axes[p].jump, levels, step, least);
	}
}

void gaussian_learn(struct gaussian *gaussian, const double *values, struct random_state *random)
{
	const struct search_view *view = gaussian->view;
	const size_t rows = gaussian->row_count;
	struct fit fit = {.gaussian = *gaussian};
	CLEANUP(memory_free) size_t *order = memory_zeroed(rows + 1, sizeof(*order));
	double least, step = STEP_FIRST;

	for (size_t i = 0; i < rows; i++)
		order[i] = i;
	random_shuffle(random, order, rows);
	for (size_t i = 0; i < rows && fit.count < LEARNED_MAX; i++)
		if (!isnan(values[order[i]])) {
			fit.points[fit.count] = gaussian->row_points[order[i]];
			fit.values[fit.count++] = values[order[i]];
		}
	fit.gaussian.pool_count = 0;
	fit.gaussian.row_points = memory_zeroed(rows + 1, sizeof(size_t));
	least = unlikeliness(&fit);
	for (int sweep = 0; sweep < SWEEPS; sweep++, step *= STEP_SHRINKS)
		for (size_t f = 0; f < view->family_count; f++)
			improve_family(&fit, f, step, &least);
	free(fit.gaussian.row_points);
	gaussian->row_count = gaussian->pool_count = 0;
	for (size_t r = 0; r < rows; r++)
		gaussian_add(gaussian, gaussian->row_points[r]);
}
