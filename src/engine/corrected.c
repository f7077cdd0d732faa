/* SPDX-License-Identifier: MIT */
#include "engine/corrected.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const double worth_a_look_ratio = 2;
enum {
	LOOKED_AT_MAX = 16384
};

enum status corrected_time(const struct corrections *corrections, const struct bound_family *bound,
	const struct value *slots, double *time_us, struct error *err)
{
	struct work work = {0};
	struct score score = {0};
	double factor = 1;
	enum status status = candidate_work(bound, slots, &work, err);

	*time_us = INFINITY;
	if (status == STATUS_OK) {
		score_compute(bound->device, &work, NULL, &score);
		status = correction_factor(
			corrections_find(corrections, bound->family), slots, &score, &factor, err);
		*time_us = score.predicted_time_us * factor;
		score_release(&score);
	}
	work_release(&work);
	return status;
}

enum status corrected_candidate_time(const struct corrections *corrections,
	const struct candidates *pool, size_t candidate, double *time_us, struct error *err)
{
	struct value *slots = candidates_values(pool, candidate, err);
	enum status status = STATUS_FAILED;

	if (slots)
		status = corrected_time(corrections,
			pool->families[pool->family_of[candidate]].bound, slots, time_us, err);
	free(slots);
	return status;
}

struct guess {
	size_t candidate;
	double predicted_us;
};

static int compare_guesses(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;

	return (x->predicted_us > y->predicted_us) - (x->predicted_us < y->predicted_us);
}

enum status corrected_least_time(const struct corrections *corrections,
	const struct candidates *pool, double *time_us, struct error *err)
{
	struct guess *guesses = memory_zeroed(pool->count + 1, sizeof(*guesses));
	double least = INFINITY;
	size_t count = 0;
	enum status status = STATUS_OK;

	*time_us = INFINITY;
	for (size_t i = 0; i < pool->count; i++)
		least = fmin(least, pool->predicted_us[i]);
	for (size_t i = 0; i < pool->count; i++)
		if (pool->predicted_us[i] <= worth_a_look_ratio * least)
			guesses[count++] = (struct guess){i, pool->predicted_us[i]};
	if (count)
		qsort(guesses, count, sizeof(*guesses), compare_guesses);
	for (size_t i = 0; i < count && i < LOOKED_AT_MAX && status == STATUS_OK; i++) {
		double corrected_us;

		status = corrected_candidate_time(
			corrections, pool, guesses[i].candidate, &corrected_us, err);
		if (status == STATUS_OK)
			*time_us = fmin(*time_us, corrected_us);
	}
	free(guesses);
	return status;
}
