/* SPDX-License-Identifier: MIT
 *
 * Synthetic search spaces whose best candidate is known: two families of tile shapes with
 * constraints and a time for every candidate. The model's predictions have realistic errors: a
 * factor, an error for each family, for single values and for pairs of values, and random noise.
 */
#ifndef TESTS_UNIT_LANDSCAPE_H
#define TESTS_UNIT_LANDSCAPE_H

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "search/strategy.h"

enum {
	LANDSCAPE_PARAMETERS = 9,
	LANDSCAPE_LEVELS = 16
};

struct landscape {
	struct search_view view;
	struct search_family families[2];
	choice *configurations[2];
	double *time_us; /* true time in us; infinite if the candidate fails */
	double best_us;
};

/* BM, BN, BK, WM, WN, STAGES, GROUP, SPLIT, and an unordered parameter */
static const struct search_parameter landscape_parameters[2][LANDSCAPE_PARAMETERS] = {
	{{12, true, false}, {12, true, false}, {2, true, false}, {5, true, false}, {5, true, false},
		{3, true, false}, {2, true, false}, {3, true, false}, {2, false, false}},
	{{6, true, false}, {12, true, false}, {2, true, false}, {3, true, false}, {4, true, false},
		{4, true, false}, {2, true, false}, {2, true, false}, {3, false, false}},
};

static double landscape_normal(struct random_state *random)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_unit(random);
	return sum - 6;
}

static bool landscape_legal(size_t family, const choice *x)
{
	/* Tiles are in units of 16 and warp tiles in powers of two; threads and memory are
	 * limited. */
	const int bm = family ? 64 * (x[0] + 1) / 2 : 32 + 16 * x[0], bn = 32 + 16 * x[1];
	const int wm = 16 << x[3], wn = 8 << x[4];

	return bm % wm == 0 && bn % wn == 0 && bm / wm * (bn / wn) <= 16 &&
	       (bm + bn) * (32 << x[2]) * 2 * (x[5] + 2) <= 232448 && wm * wn <= 8192;
}

static void landscape_enumerate(struct landscape *landscape, size_t f)
{
	choice x[LANDSCAPE_PARAMETERS] = {0};
	size_t capacity = 0, count = 0;

	for (;;) {
		int p = LANDSCAPE_PARAMETERS - 1;

		if (landscape_legal(f, x)) {
			if (count == capacity) {
				capacity = capacity ? 2 * capacity : 1024;
				landscape->configurations[f] =
					memory_resize(landscape->configurations[f], capacity,
						LANDSCAPE_PARAMETERS * sizeof(choice));
			}
			for (int i = 0; i < LANDSCAPE_PARAMETERS; i++)
				landscape->configurations[f][count * LANDSCAPE_PARAMETERS +
							     (size_t)i] = x[i];
			count++;
		}
		while (p >= 0 && ++x[p] == landscape_parameters[f][p].levels)
			x[p--] = 0;
		if (p < 0)
			break;
	}
	landscape->families[f] = (struct search_family){
		.first = f ? landscape->families[0].count : 0,
		.count = count,
		.parameter_count = LANDSCAPE_PARAMETERS,
		.configurations = landscape->configurations[f],
		.parameters = landscape_parameters[f],
	};
}

/* Returns a smooth bowl with a bent valley, which both the model and the true times use. */
static double landscape_base(size_t f, const choice *x, const double *centre)
{
	double sum = f ? 0.1 : 0;

	for (int p = 0; p < LANDSCAPE_PARAMETERS; p++) {
		const double place = (double)x[p] / landscape_parameters[f][p].levels;

		sum += (place - centre[p]) * (place - centre[p]) * 1.2;
	}
	sum += 0.8 * fabs((double)x[0] / landscape_parameters[f][0].levels +
			     (double)x[1] / landscape_parameters[f][1].levels - 1.1);
	return sum;
}

/* error scales the model's errors: 2 gives a rank correlation of about 0.75, 3 of 0.6. failures
 * is the share of candidates that fail. */
static void landscape_init(
	struct landscape *landscape, uint64_t seed, double error, double failures)
{
	static double value[2][LANDSCAPE_PARAMETERS][LANDSCAPE_LEVELS];
	static double pair[2][LANDSCAPE_PARAMETERS][LANDSCAPE_LEVELS][LANDSCAPE_LEVELS];
	double centre[LANDSCAPE_PARAMETERS], *predicted;
	struct random_state random;
	uint32_t *family;
	size_t count;

	*landscape = (struct landscape){0};
	random_seed(&random, seed);
	for (size_t f = 0; f < 2; f++)
		landscape_enumerate(landscape, f);
	for (int p = 0; p < LANDSCAPE_PARAMETERS; p++)
		centre[p] = 0.2 + 0.6 * random_unit(&random);
	for (size_t f = 0; f < 2; f++)
		for (int p = 0; p < LANDSCAPE_PARAMETERS; p++) {
			double drift = 0;

			/* neighbouring values have similar errors */
			for (int i = 0; i < LANDSCAPE_LEVELS; i++) {
				drift = 0.7 * drift + 0.09 * error * landscape_normal(&random);
				value[f][p][i] = drift;
				for (int j = 0; j < LANDSCAPE_LEVELS; j++)
					pair[f][p][i][j] = 0.03 * error * landscape_normal(&random);
			}
		}
	count = landscape->families[0].count + landscape->families[1].count;
	landscape->time_us = memory_zeroed(count, sizeof(double));
	predicted = memory_zeroed(count, sizeof(double));
	family = memory_zeroed(count, sizeof(uint32_t));
	landscape->best_us = INFINITY;
	for (size_t i = 0; i < count; i++) {
		const size_t f = i >= landscape->families[0].count;
		const choice *x = landscape->configurations[f] +
				  (i - landscape->families[f].first) * LANDSCAPE_PARAMETERS;
		double log_time = landscape_base(f, x, centre);

		predicted[i] = 100 * exp(log_time);
		log_time += 0.3 + (f ? 0.15 * error : 0) + 0.01 * landscape_normal(&random);
		for (int p = 0; p < LANDSCAPE_PARAMETERS; p++)
			log_time += value[f][p][x[p]] +
				    pair[f][p][x[p]][x[(p + 1) % LANDSCAPE_PARAMETERS]];
		landscape->time_us[i] =
			random_unit(&random) < failures ? INFINITY : 100 * exp(log_time);
		landscape->best_us = fmin(landscape->best_us, landscape->time_us[i]);
		family[i] = (uint32_t)f;
	}
	landscape->view = (struct search_view){
		.count = count,
		.predicted_us = predicted,
		.family = family,
		.family_count = 2,
		.families = landscape->families,
		.seed = seed,
		.budget = 300,
	};
}

static void landscape_release(struct landscape *landscape)
{
	free(landscape->configurations[0]);
	free(landscape->configurations[1]);
	free(landscape->time_us);
	free((void *)(uintptr_t)landscape->view.predicted_us);
	free((void *)(uintptr_t)landscape->view.family);
	*landscape = (struct landscape){0};
}

#endif
