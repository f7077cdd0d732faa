/* SPDX-License-Identifier: MIT */
#include "search/covariance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Standard deviation of the error that a family has of its own. */
static const double FAMILY = 0.3;
/* Priors of the logarithms: at which value, how surely. A weight of 1: the two ends of a parameter
 * are one length of correlation apart. */
static const double WEIGHT_DEVIATION = 1.0;
static const double SIZE = 0.3, SIZE_DEVIATION = 1.0;
static const double NOISE = 0.05, NOISE_DEVIATION = 1.0; /* in sizes */
static const double SLOPE = 0.3, SLOPE_DEVIATION = 0.7;
static const double ODDS = 1, ODDS_DEVIATION = 1.0;

enum {
	FITTED_MAX = 96, /* candidates that the weights are learned from */
	SWEEPS = 2,      /* over all that is learned */
};
static const double STEP_FIRST = 0.7, STEP_GROWS = 1.3, STEP_SHRINKS = 0.5;

static size_t family_count(const struct covariance *covariance)
{
	return covariance->neighbourhood->view->family_count;
}

static size_t parameter_count(const struct covariance *covariance, size_t family)
{
	return covariance->neighbourhood->view->families[family].parameter_count;
}

/* A parameter's two ends are this many lengths of correlation apart, in the part of values. */
static const double VALUE_LENGTHS = 2;

/* 0 to 1: how far apart two values of a parameter are; without an order as far as two ends. */
static double apart(
	const struct covariance *covariance, size_t family, size_t parameter, int distance)
{
	const struct search_family *of = &covariance->neighbourhood->view->families[family];
	const int levels = covariance->neighbourhood->levels[family][parameter];

	if (distance == 0)
		return 0;
	return of->ordered[parameter] ? (double)distance / (levels - 1) : 1;
}

/* Squared distances along a parameter with its present weight. */
static void weigh(struct covariance *covariance, size_t family, size_t parameter)
{
	const int levels = covariance->neighbourhood->levels[family][parameter];
	const double weight = exp(covariance->log_weight[family][parameter]);

	for (int distance = 1; distance < levels; distance++) {
		const double far = apart(covariance, family, parameter, distance) * weight;

		covariance->square[family][parameter][distance] = (float)(far * far);
	}
}

static struct variances variances_of(const struct covariance *covariance)
{
	const double size = exp(2 * covariance->log_size), odds = exp(covariance->log_odds);

	return (struct variances){.value = (float)(size * odds / (1 + odds)),
		.place = (float)(size / (1 + odds)),
		.slope = (float)exp(2 * covariance->log_slope)};
}

void covariance_init(struct covariance *covariance, const struct neighbourhood *neighbourhood)
{
	const struct search_view *view = neighbourhood->view;
	double best = INFINITY;

	*covariance = (struct covariance){
		.neighbourhood = neighbourhood,
		.log_weight = memory_zeroed(view->family_count + 1, sizeof(double *)),
		.log_size = log(SIZE),
		.log_noise = log(NOISE),
		.log_slope = log(SLOPE),
		.log_odds = log(ODDS),
		.square = memory_zeroed(view->family_count + 1, sizeof(float **)),
		.alike = memory_zeroed(view->family_count + 1, sizeof(float **)),
		.slope = memory_zeroed(view->count + 1, sizeof(float)),
	};
	for (size_t f = 0; f < view->family_count; f++) {
		const size_t parameters = view->families[f].parameter_count;
		size_t varied = 0;

		for (size_t p = 0; p < parameters; p++)
			varied += neighbourhood->levels[f][p] > 1;
		covariance->log_weight[f] = memory_zeroed(parameters + 1, sizeof(double));
		covariance->square[f] = memory_zeroed(parameters + 1, sizeof(float *));
		covariance->alike[f] = memory_zeroed(parameters + 1, sizeof(float *));
		for (size_t p = 0; p < parameters; p++) {
			const int levels = neighbourhood->levels[f][p];

			covariance->square[f][p] = memory_zeroed((size_t)levels + 1, sizeof(float));
			covariance->alike[f][p] = memory_zeroed((size_t)levels + 1, sizeof(float));
			for (int distance = 0; levels > 1 && distance < levels; distance++)
				covariance->alike[f][p][distance] =
					(float)(exp(-VALUE_LENGTHS *
							apart(covariance, f, p, distance)) /
						(double)varied);
			weigh(covariance, f, p);
		}
	}
	covariance->variances = variances_of(covariance);
	for (size_t i = 0; i < view->count; i++)
		best = fmin(best, view->predicted_us[i]);
	for (size_t i = 0; i < view->count; i++)
		covariance->slope[i] = (float)(1 - best / view->predicted_us[i]);
}

void covariance_release(struct covariance *covariance)
{
	for (size_t f = 0; covariance->square && f < family_count(covariance); f++) {
		for (size_t p = 0; p < parameter_count(covariance, f); p++) {
			free(covariance->square[f][p]);
			free(covariance->alike[f][p]);
		}
		free(covariance->square[f]);
		free(covariance->alike[f]);
		free(covariance->log_weight[f]);
	}
	free(covariance->square);
	free(covariance->alike);
	free(covariance->log_weight);
	free(covariance->slope);
	*covariance = (struct covariance){0};
}

/* Of two candidates at a squared distance whose values are that much alike. */
static double covariance_at(const struct covariance *covariance, const struct variances *variances,
	size_t a, size_t b, float square, float alike)
{
	const uint32_t *family = covariance->neighbourhood->view->family;
	float sum = variances->slope * covariance->slope[a] * covariance->slope[b], far;

	if (family[a] != family[b])
		return (double)sum;
	far = sqrtf(5 * fmaxf(0, square));
	sum += variances->value * alike + variances->place * (1 + far + far * far / 3) * expf(-far);
	return (double)sum + FAMILY * FAMILY;
}

double covariance_between(const void *context, size_t a, size_t b)
{
	const struct covariance *covariance = context;
	const struct search_view *view = covariance->neighbourhood->view;
	const size_t family = view->family[a];
	float square = 0, alike = 0;

	if (family == view->family[b]) {
		const choice *x = search_view_configuration(view, a);
		const choice *y = search_view_configuration(view, b);

		for (size_t p = 0; p < view->families[family].parameter_count; p++) {
			const int distance = abs((int)x[p] - (int)y[p]);

			square += covariance->square[family][p][distance];
			alike += covariance->alike[family][p][distance];
		}
	}
	return covariance_at(covariance, &covariance->variances, a, b, square, alike);
}

double covariance_noise(const struct covariance *covariance)
{
	return exp(2 * (covariance->log_size + covariance->log_noise));
}

/* ---- learning ---- */
/* Some candidates with their errors. Distances of two of one family are kept: a step along one
 * parameter changes its part of them alone. */
struct sample {
	size_t candidates[FITTED_MAX];
	double errors[FITTED_MAX];
	size_t count;
	double square[FITTED_MAX][FITTED_MAX]; /* distance; lower triangle */
	float alike[FITTED_MAX][FITTED_MAX];
};

static double prior(double value, double mean, double deviation)
{
	const double off = (value - mean) / deviation;

	return off * off / 2;
}

static double prior_of_all(const struct covariance *covariance)
{
	double sum = prior(covariance->log_size, log(SIZE), SIZE_DEVIATION) +
		     prior(covariance->log_noise, log(NOISE), NOISE_DEVIATION) +
		     prior(covariance->log_slope, log(SLOPE), SLOPE_DEVIATION) +
		     prior(covariance->log_odds, log(ODDS), ODDS_DEVIATION);

	for (size_t f = 0; f < family_count(covariance); f++)
		for (size_t p = 0; p < parameter_count(covariance, f); p++)
			sum += prior(covariance->log_weight[f][p], 0, WEIGHT_DEVIATION);
	return sum;
}

/* -log of the posterior density, but for a constant; infinite if the matrix is not one. */
static double unlikeliness(const struct covariance *covariance, const struct sample *sample)
{
	double factor[FITTED_MAX][FITTED_MAX], whitened[FITTED_MAX];
	const struct variances variances = variances_of(covariance);
	const double noise = covariance_noise(covariance);
	double sum = prior_of_all(covariance);

	for (size_t r = 0; r < sample->count; r++) {
		double rest = sample->errors[r];

		for (size_t c = 0; c <= r; c++) {
			double entry = covariance_at(covariance, &variances, sample->candidates[r],
				sample->candidates[c], (float)sample->square[r][c],
				sample->alike[r][c]);

			for (size_t k = 0; k < c; k++)
				entry -= factor[r][k] * factor[c][k];
			if (c < r)
				factor[r][c] = entry / factor[c][c];
			else if (entry + noise > 0)
				factor[r][r] = sqrt(entry + noise);
			else
				return INFINITY;
		}
		for (size_t c = 0; c < r; c++)
			rest -= factor[r][c] * whitened[c];
		whitened[r] = rest / factor[r][r];
		sum += log(factor[r][r]) + whitened[r] * whitened[r] / 2;
	}
	return sum;
}

/* One number that is learned: tries a step up, a step down, and remembers how large one pays. */
struct coordinate {
	double *value, step;
	size_t family, parameter; /* whose weight it is; family SIZE_MAX: nobody's */
};

/* Adds a parameter's part to the distances, `sign` times; 0: to how much values are alike. */
static void add_part(const struct covariance *covariance, struct sample *sample, size_t family,
	size_t parameter, double sign)
{
	const struct search_view *view = covariance->neighbourhood->view;

	for (size_t r = 0; r < sample->count; r++) {
		const choice *x = search_view_configuration(view, sample->candidates[r]);

		if (view->family[sample->candidates[r]] != family)
			continue;
		for (size_t c = 0; c < r; c++)
			if (view->family[sample->candidates[c]] == family) {
				const choice *y =
					search_view_configuration(view, sample->candidates[c]);
				const int distance = abs((int)x[parameter] - (int)y[parameter]);

				sample->square[r][c] +=
					sign *
					(double)covariance->square[family][parameter][distance];
				if (sign == 0)
					sample->alike[r][c] +=
						covariance->alike[family][parameter][distance];
			}
		if (sign == 0)
			sample->alike[r][r] += covariance->alike[family][parameter][0];
	}
}

static void move(struct covariance *covariance, struct sample *sample,
	const struct coordinate *coordinate, double by)
{
	const size_t family = coordinate->family, parameter = coordinate->parameter;

	if (family == SIZE_MAX) {
		*coordinate->value += by;
		return;
	}
	add_part(covariance, sample, family, parameter, -1);
	*coordinate->value += by;
	weigh(covariance, family, parameter);
	add_part(covariance, sample, family, parameter, 1);
}

static void improve(struct covariance *covariance, struct sample *sample,
	struct coordinate *coordinate, double *best)
{
	for (int direction = 1; direction >= -1; direction -= 2) {
		const double by = direction * coordinate->step;
		double now;

		move(covariance, sample, coordinate, by);
		now = unlikeliness(covariance, sample);
		if (now < *best) {
			*best = now;
			coordinate->step *= STEP_GROWS;
			return;
		}
		move(covariance, sample, coordinate, -by);
	}
	coordinate->step *= STEP_SHRINKS;
}

static size_t coordinates(
	struct covariance *covariance, const struct sample *sample, struct coordinate *list)
{
	const struct search_view *view = covariance->neighbourhood->view;
	size_t count = 0;

	list[count++] = (struct coordinate){&covariance->log_size, STEP_FIRST, SIZE_MAX, 0};
	list[count++] = (struct coordinate){&covariance->log_noise, STEP_FIRST, SIZE_MAX, 0};
	list[count++] = (struct coordinate){&covariance->log_slope, STEP_FIRST, SIZE_MAX, 0};
	list[count++] = (struct coordinate){&covariance->log_odds, STEP_FIRST, SIZE_MAX, 0};
	for (size_t f = 0; f < view->family_count; f++) {
		size_t seen = 0;

		for (size_t i = 0; i < sample->count; i++)
			seen += view->family[sample->candidates[i]] == f;
		for (size_t p = 0; seen > 2 && p < parameter_count(covariance, f); p++)
			if (covariance->neighbourhood->levels[f][p] > 1)
				list[count++] = (struct coordinate){
					&covariance->log_weight[f][p], STEP_FIRST, f, p};
	}
	return count;
}

/* Of all that are known, some by lot. */
static void draw(struct sample *sample, const size_t *candidates, const double *errors,
	size_t count, struct random_state *random)
{
	CLEANUP(memory_free) size_t *order = memory_zeroed(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	random_shuffle(random, order, count);
	for (size_t i = 0; i < count && sample->count < FITTED_MAX; i++)
		if (isfinite(errors[order[i]])) {
			sample->candidates[sample->count] = candidates[order[i]];
			sample->errors[sample->count++] = errors[order[i]];
		}
}

void covariance_fit(struct covariance *covariance, const size_t *candidates, const double *errors,
	size_t count, struct random_state *random)
{
	CLEANUP(memory_free) struct sample *sample = memory_zeroed(1, sizeof(*sample));
	CLEANUP(memory_free)
	struct coordinate *list =
		memory_zeroed(4 + family_count(covariance) * SPACE_PARAMETERS_MAX, sizeof(*list));
	double best;
	size_t list_count;

	draw(sample, candidates, errors, count, random);
	for (size_t f = 0; f < family_count(covariance); f++)
		for (size_t p = 0; p < parameter_count(covariance, f); p++)
			for (int part = 0; part < 2; part++)
				add_part(covariance, sample, f, p, part);
	list_count = coordinates(covariance, sample, list);
	best = unlikeliness(covariance, sample);
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (size_t i = 0; i < list_count; i++)
			improve(covariance, sample, &list[i], &best);
	covariance->variances = variances_of(covariance);
}
