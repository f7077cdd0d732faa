/* SPDX-License-Identifier: MIT */
#include "engine/scoring.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "search/order.h"

enum {
	THREADS_MAX = 32,
	CANDIDATES_PER_THREAD = 20000, /* fewer are scored sooner than a thread is made */
	CANDIDATES_AT_ONCE = 2048
};

/* What the threads share. */
struct scoring {
	const struct candidates *pool;
	atomic_size_t next;
};

/* One thread: its predictors, and the first candidate that failed. */
struct scorer {
	pthread_t thread;
	struct scoring *scoring;
	struct predictor *predictors; /* by family; opened when needed */
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
		predictor_open(predictor, family->bound, NULL);
	scorer->status = predict_choices(predictor,
		family->configurations + (candidate - family->first) * family->parameter_count,
		&prediction, &scorer->err);
	pool->predicted_us[candidate] = prediction.time_us;
	if (scorer->status == STATUS_OK)
		return;
	scorer->failed = candidate;
	error_context(&scorer->err, "scoring %s", family->bound->family->name);
}

static void *score_some(void *argument)
{
	struct scorer *scorer = argument;
	const struct candidates *pool = scorer->scoring->pool;

	scorer->failed = SIZE_MAX;
	scorer->predictors = memory_zeroed(pool->family_count, sizeof(*scorer->predictors));
	while (scorer->failed == SIZE_MAX) {
		const size_t from = atomic_fetch_add(&scorer->scoring->next, CANDIDATES_AT_ONCE);
		const size_t rest = from < pool->count ? pool->count - from : 0;
		const size_t count = rest < CANDIDATES_AT_ONCE ? rest : CANDIDATES_AT_ONCE;

		for (size_t i = 0; i < count && scorer->failed == SIZE_MAX; i++)
			score_one(scorer, from + i);
		if (!count)
			break;
	}
	for (size_t f = 0; f < pool->family_count; f++)
		predictor_close(&scorer->predictors[f]);
	free(scorer->predictors);
	return NULL;
}

enum status score_all(const struct candidates *pool, struct error *err)
{
	struct scoring scoring = {.pool = pool};
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = pool->count / CANDIDATES_PER_THREAD, started = 1;
	CLEANUP(memory_free) struct scorer *scorers = NULL;
	struct scorer *failed;

	if (cores > 0 && wanted > (size_t)cores)
		wanted = (size_t)cores;
	if (wanted > THREADS_MAX)
		wanted = THREADS_MAX;
	scorers = memory_zeroed(wanted + 1, sizeof(*scorers));
	for (size_t i = 0; i <= wanted; i++)
		scorers[i].scoring = &scoring;
	/* the first is this thread; where others cannot be had it works alone */
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
	return failed->status;
}

enum status score_least_us(const struct candidates *pool, const struct corrections *corrections,
	double *time_us, struct error *err)
{
	enum {
		CONSIDERED_MAX = 16384
	};
	const double considered_ratio = 2;
	size_t count, kept = 0;
	size_t *order = order_by_prediction(&pool->view, CONSIDERED_MAX, &count);
	struct predictor *predictors = memory_zeroed(pool->family_count, sizeof(*predictors));
	enum status status = STATUS_OK;

	*time_us = INFINITY;
	for (; kept < count && status == STATUS_OK; kept++) {
		const size_t candidate = order[kept], f = pool->family_of[candidate];
		struct prediction prediction;

		if (pool->predicted_us[candidate] > considered_ratio * pool->predicted_us[order[0]])
			break;
		if (!predictors[f].bound)
			predictor_open(&predictors[f], pool->families[f].bound, corrections);
		status = predict_choices(&predictors[f], candidates_configuration(pool, candidate),
			&prediction, err);
		if (status == STATUS_OK)
			*time_us = fmin(*time_us, prediction.time_us);
	}
	for (size_t f = 0; f < pool->family_count; f++)
		predictor_close(&predictors[f]);
	free(predictors);
	free(order);
	return status;
}
