/* SPDX-License-Identifier: MIT */
#include "search/covariance.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/gaussian.h"

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

/* A parameter's two ends are this many lengths of correlation apart, in the part of values. */
static const double VALUE_LENGTHS = 2;

/* 0 to 1: how far apart two values are; without an order as far as two ends. */
static double apart(const struct along *along, size_t distance)
{
	if (distance == 0)
		return 0;
	return along->is_ordered ? (double)distance / (double)(along->levels - 1) : 1;
}

/* Squared distances along a parameter with its present weight. */
static void weigh(struct along *along)
{
	for (size_t distance = 1; distance < along->levels; distance++) {
		const double far = apart(along, distance) * exp(along->log_weight);

		along->parts[distance].square = (float)(far * far);
	}
}

/* From the logarithms. */
static void variances_renew(struct covariance *covariance)
{
	const double size = exp(2 * covariance->log_size), odds = exp(covariance->log_odds);

	covariance->variances = (struct variances){.value = (float)(size * odds / (1 + odds)),
		.place = (float)(size / (1 + odds)),
		.slope = (float)exp(2 * covariance->log_slope)};
}

static struct along *along_family(const struct search_family *family, const choice *levels)
{
	struct along *along = memory_zeroed(family->parameter_count + 1, sizeof(*along));
	size_t varied = 0;

	for (size_t p = 0; p < family->parameter_count; p++)
		varied += levels[p] > 1;
	for (size_t p = 0; p < family->parameter_count; p++) {
		struct part *parts = memory_zeroed((size_t)levels[p] + 1, sizeof(*parts));

		along[p] = (struct along){
			.levels = levels[p], .is_ordered = family->ordered[p], .parts = parts};
		for (size_t distance = 0; levels[p] > 1 && distance < levels[p]; distance++)
			parts[distance].alike =
				(float)(exp(-VALUE_LENGTHS * apart(&along[p], distance)) /
					(double)varied);
		weigh(&along[p]);
	}
	return along;
}

void covariance_init(struct covariance *covariance, const struct neighbourhood *neighbourhood)
{
	const struct search_view *view = neighbourhood->view;
	double best = INFINITY;

	*covariance = (struct covariance){
		.neighbourhood = neighbourhood,
		.log_size = log(SIZE),
		.log_noise = log(NOISE),
		.log_slope = log(SLOPE),
		.log_odds = log(ODDS),
		.along = memory_zeroed(view->family_count + 1, sizeof(*covariance->along)),
		.slope = memory_zeroed(view->count + 1, sizeof(float)),
	};
	for (size_t f = 0; f < view->family_count; f++)
		covariance->along[f] = along_family(&view->families[f], neighbourhood->levels[f]);
	variances_renew(covariance);
	for (size_t i = 0; i < view->count; i++)
		best = fmin(best, view->predicted_us[i]);
	for (size_t i = 0; i < view->count; i++)
		covariance->slope[i] = (float)(1 - best / view->predicted_us[i]);
}

void covariance_release(struct covariance *covariance)
{
	const struct search_view *view = covariance->neighbourhood->view;

	for (size_t f = 0; f < view->family_count; f++) {
		for (size_t p = 0; p < view->families[f].parameter_count; p++)
			free(covariance->along[f][p].parts);
		free(covariance->along[f]);
	}
	free(covariance->along);
	free(covariance->slope);
	*covariance = (struct covariance){0};
}

double covariance_between(const void *context, size_t a, size_t b)
{
	const struct covariance *covariance = context;
	const struct search_view *view = covariance->neighbourhood->view;
	const struct variances *variances = &covariance->variances;
	const size_t family = view->family[a];
	const float slopes = variances->slope * covariance->slope[a] * covariance->slope[b];
	const choice *x, *y;
	float square = 0, alike = 0, far;

	if (family != view->family[b])
		return (double)slopes;
	x = search_view_configuration(view, a);
	y = search_view_configuration(view, b);
	for (size_t p = 0; p < view->families[family].parameter_count; p++) {
		const struct part part =
			covariance->along[family][p].parts[abs((int)x[p] - (int)y[p])];

		square += part.square;
		alike += part.alike;
	}
	far = sqrtf(5 * square);
	return FAMILY * FAMILY +
	       (double)(slopes + variances->value * alike +
			variances->place * (1 + far + far * far / 3) * expf(-far));
}

double covariance_noise(const struct covariance *covariance)
{
	return exp(2 * (covariance->log_size + covariance->log_noise));
}

/* ---- learning ---- */
/* One number that is learned: tries a step up, a step down, and remembers how large one pays. */
struct coordinate {
	double *value, mean, deviation; /* of its prior */
	struct along *along;            /* whose weight it is, or NULL */
	double step;
};

/* All that is learned, and some candidates with their errors. */
struct lesson {
	struct covariance *covariance;
	struct gaussian gaussian;
	struct coordinate *coordinates;
	size_t count;
};

/* With the weights of families that were seen. */
static void coordinates_list(struct lesson *lesson)
{
	struct covariance *covariance = lesson->covariance;
	const struct search_view *view = covariance->neighbourhood->view;
	const struct coordinate first[] = {
		{&covariance->log_size, log(SIZE), SIZE_DEVIATION, NULL, STEP_FIRST},
		{&covariance->log_noise, log(NOISE), NOISE_DEVIATION, NULL, STEP_FIRST},
		{&covariance->log_slope, log(SLOPE), SLOPE_DEVIATION, NULL, STEP_FIRST},
		{&covariance->log_odds, log(ODDS), ODDS_DEVIATION, NULL, STEP_FIRST},
	};

	lesson->coordinates =
		memory_zeroed(ARRAY_COUNT(first) + view->family_count * SPACE_PARAMETERS_MAX,
			sizeof(struct coordinate));
	for (; lesson->count < ARRAY_COUNT(first); lesson->count++)
		lesson->coordinates[lesson->count] = first[lesson->count];
	for (size_t f = 0; f < view->family_count; f++) {
		struct along *along = covariance->along[f];
		size_t seen = 0;

		for (size_t r = 0; r < lesson->gaussian.row_count; r++)
			seen += view->family[lesson->gaussian.row_points[r]] == f;
		for (size_t p = 0; seen > 2 && p < view->families[f].parameter_count; p++)
			if (along[p].levels > 1)
				lesson->coordinates[lesson->count++] =
					(struct coordinate){&along[p].log_weight, 0,
						WEIGHT_DEVIATION, &along[p], STEP_FIRST};
	}
}

/* -log of the posterior density, but for a constant. */
static double unlikeliness(struct lesson *lesson)
{
	double sum = 0;

	variances_renew(lesson->covariance);
	lesson->gaussian.noise = covariance_noise(lesson->covariance);
	gaussian_renew(&lesson->gaussian);
	for (size_t i = 0; i < lesson->count; i++) {
		const struct coordinate *coordinate = &lesson->coordinates[i];
		const double off = (*coordinate->value - coordinate->mean) / coordinate->deviation;

		sum += off * off / 2;
	}
	return sum + gaussian_unlikeliness(&lesson->gaussian);
}

static void move(const struct coordinate *coordinate, double by)
{
	*coordinate->value += by;
	if (coordinate->along)
		weigh(coordinate->along);
}

static void improve(struct lesson *lesson, struct coordinate *coordinate, double *best)
{
	for (int direction = 1; direction >= -1; direction -= 2) {
		const double by = direction * coordinate->step;
		double now;

		move(coordinate, by);
		now = unlikeliness(lesson);
		if (now < *best) {
			*best = now;
			coordinate->step *= STEP_GROWS;
			return;
		}
		move(coordinate, -by);
	}
	coordinate->step *= STEP_SHRINKS;
}

void covariance_fit(struct covariance *covariance, const size_t *candidates, const double *errors,
	size_t count, struct random_state *random)
{
	CLEANUP(memory_free) size_t *order = memory_zeroed(count + 1, sizeof(*order));
	struct lesson lesson = {.covariance = covariance};
	double best;

	gaussian_init(&lesson.gaussian, FITTED_MAX, 0, covariance_noise(covariance),
		covariance_between, covariance);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	random_shuffle(random, order, count);
	for (size_t i = 0; i < count && lesson.gaussian.row_count < FITTED_MAX; i++)
		if (isfinite(errors[order[i]]))
			gaussian_set(&lesson.gaussian,
				gaussian_add(&lesson.gaussian, candidates[order[i]]),
				errors[order[i]], true);
	coordinates_list(&lesson);
	best = unlikeliness(&lesson);
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (size_t i = 0; i < lesson.count; i++)
			improve(&lesson, &lesson.coordinates[i], &best);
	variances_renew(covariance);
	gaussian_release(&lesson.gaussian);
	free(lesson.coordinates);
}
