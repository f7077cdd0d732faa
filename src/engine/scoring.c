/* SPDX-License-Identifier: MIT */
#include "engine/candidates.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "search/order.h"

enum {
	THREADS_MAX = 32,
	CANDIDATES_PER_THREAD = 2000, /* scoring them takes much longer than starting a thread */
	CANDIDATES_AT_ONCE = 256,
	LEARNED_OF_FAMILY = 4096 /* individual corrections per family */
};

struct scoring {
	const struct candidates *pool;
	const size_t *chosen; /* NULL: the first `count` */
	size_t count;
	bool is_physics;
	const volatile int *interrupted; /* may be NULL */
	atomic_size_t next;
};

struct scorer {
	pthread_t thread;
	struct scoring *scoring;
	struct predictor *predictors; /* per family, opened when needed */
	size_t failed;                /* SIZE_MAX: none */
	enum status status;
	struct error err;
};

static void score_one(struct scorer *scorer, size_t candidate)
{
	const struct candidates *pool = scorer->scoring->pool;
	const size_t f = pool->family_of[candidate];
	const struct family_candidates *family = &pool->families[f];
	struct predictor *predictor = &scorer->predictors[f];
	struct prediction prediction = {0};

	if (!predictor->bound)
		predictor_open(predictor, family->bound);
	predictor->is_physics = scorer->scoring->is_physics;
	scorer->status = predict_choices(predictor,
		family->configurations + (candidate - family->first) * family->parameter_count,
		&prediction, &scorer->err);
	pool->predicted_us[candidate] = prediction.time_us;
	if (scorer->status == STATUS_OK)
		return;
	scorer->failed = candidate;
	error_context(&scorer->err, "scoring %s", family->bound->family->name);
}

static bool is_interrupted(const struct scoring *scoring)
{
	return scoring->interrupted && *scoring->interrupted;
}

static void *score_some(void *argument)
{
	struct scorer *scorer = argument;
	struct scoring *scoring = scorer->scoring;
	const struct candidates *pool = scoring->pool;

	scorer->failed = SIZE_MAX;
	scorer->predictors = memory_zeroed(pool->family_count, sizeof(*scorer->predictors));
	while (scorer->failed == SIZE_MAX && !is_interrupted(scoring)) {
		const size_t from = atomic_fetch_add(&scoring->next, CANDIDATES_AT_ONCE);
		const size_t rest = from < scoring->count ? scoring->count - from : 0;
		const size_t count = rest < CANDIDATES_AT_ONCE ? rest : CANDIDATES_AT_ONCE;

		for (size_t i = 0; i < count && scorer->failed == SIZE_MAX; i++)
			score_one(scorer, scoring->chosen ? scoring->chosen[from + i] : from + i);
		if (!count)
			break;
	}
	for (size_t f = 0; f < pool->family_count; f++)
		predictor_close(&scorer->predictors[f]);
	free(scorer->predictors);
	return NULL;
}

static enum status score_in_threads(struct scoring *scoring, struct error *err)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = scoring->count / CANDIDATES_PER_THREAD, started = 1;
	CLEANUP(memory_free) struct scorer *scorers = NULL;
	struct scorer *failed;

	if (cores > 0 && wanted > (size_t)cores)
		wanted = (size_t)cores;
	if (wanted > THREADS_MAX)
		wanted = THREADS_MAX;
	scorers = memory_zeroed(wanted + 1, sizeof(*scorers));
	for (size_t i = 0; i <= wanted; i++)
		scorers[i].scoring = scoring;
	/* scorer 0 is this thread, which does all work if no thread starts */
	while (started < wanted &&
		pthread_create(&scorers[started].thread, NULL, score_some, &scorers[started]) == 0)
		started++;
	score_some(&scorers[0]);
	failed = &scorers[0];
	for (size_t i = 1; i < started; i++) {
		pthread_join(scorers[i].thread, NULL);
		if (scorers[i].failed < failed->failed)
			failed = &scorers[i];
	}
	if (failed->status != STATUS_OK && err)
		*err = failed->err;
	return is_interrupted(scoring) ? STATUS_INTERRUPTED : failed->status;
}

static bool is_learned(const struct candidates *pool)
{
	bool learned = false;

	for (size_t f = 0; f < pool->family_count; f++)
		learned |= prediction_basis(pool->families[f].bound).source != PREDICTION_PHYSICS;
	return learned;
}

static int compare_indices(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Keeps the `wanted` best of each family, in the order of the pool, because neighbours share
 * values.
 */
static size_t keep_best_of_families(
	const struct candidates *pool, size_t *candidates, size_t count, size_t wanted)
{
	size_t kept = 0;

	for (size_t from = 0, end; from < count; from = end) {
		const uint32_t family = pool->family_of[candidates[from]];
		size_t best;

		for (end = from; end < count && pool->family_of[candidates[end]] == family;)
			end++;
		best = order_smallest(candidates + from, end - from, pool->predicted_us, wanted);
		qsort(candidates + from, best, sizeof(*candidates), compare_indices);
		memmove(candidates + kept, candidates + from, best * sizeof(*candidates));
		kept += best;
	}
	return kept;
}

/* Scales the other predictions by the mean correction of their family. */
static void scale_others(
	const struct candidates *pool, const double *physics_us, const size_t *chosen, size_t count)
{
	CLEANUP(memory_free) bool *done = memory_zeroed(pool->count + 1, sizeof(*done));
	CLEANUP(memory_free) double *logs = memory_zeroed(pool->family_count, sizeof(*logs));
	CLEANUP(memory_free) double *counts = memory_zeroed(pool->family_count, sizeof(*counts));

	for (size_t i = 0; i < count; i++) {
		const size_t c = chosen[i];

		done[c] = true;
		if (!isfinite(physics_us[c]))
			continue;
		logs[pool->family_of[c]] += log(pool->predicted_us[c] / physics_us[c]);
		counts[pool->family_of[c]]++;
	}
	for (size_t i = 0; i < pool->count; i++)
		if (!done[i] && counts[pool->family_of[i]] > 0)
			pool->predicted_us[i] *=
				exp(logs[pool->family_of[i]] / counts[pool->family_of[i]]);
}

enum status score_all(
	const struct candidates *pool, const volatile int *interrupted, struct error *err)
{
	struct scoring scoring = {
		.pool = pool, .count = pool->count, .is_physics = true, .interrupted = interrupted};
	CLEANUP(memory_free) double *physics_us = NULL;
	CLEANUP(memory_free) size_t *chosen = NULL;

	TRY(score_in_threads(&scoring, err));
	if (!is_learned(pool))
		return STATUS_OK;
	physics_us = memory_copy(pool->predicted_us, pool->count * sizeof(*physics_us));
	chosen = memory_zeroed(pool->count + 1, sizeof(*chosen));
	for (size_t i = 0; i < pool->count; i++)
		chosen[i] = i;
	scoring = (struct scoring){.pool = pool,
		.chosen = chosen,
		.count = keep_best_of_families(pool, chosen, pool->count, LEARNED_OF_FAMILY),
		.interrupted = interrupted};
	TRY(score_in_threads(&scoring, err));
	scale_others(pool, physics_us, chosen, scoring.count);
	return STATUS_OK;
}
