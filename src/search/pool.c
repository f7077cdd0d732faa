/* SPDX-License-Identifier: MIT */
#include "search/pool.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "search/order.h"

/* Sizes: so that a question costs two or three milliseconds, and the memory stays under 10 MB. */
enum {
	ROWS_MAX = 512,
	SLOTS_MAX = 4096,
	LOOKED_AT_MAX = 4096, /* of those that are not watched */
	FIRST_OF_ALL = 2048,
	FIRST_OF_FAMILY = 192,
	FIRST_OF_VALUE = 4,
	FIRST_AT_RANDOM = 256,
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void watch(struct pool *pool, size_t slot, size_t candidate)
{
	gaussian_watch(&pool->gaussian, slot, candidate);
	pool->slot_of[candidate] = (uint32_t)slot;
}

static void join_first_of_families(struct pool *pool)
{
	size_t *count = memory_zeroed(pool->view->family_count + 1, sizeof(*count));

	for (size_t i = 0; i < pool->questions.order_count; i++)
		if (count[pool->view->family[pool->questions.order[i]]]++ < FIRST_OF_FAMILY)
			pool_join(pool, pool->questions.order[i]);
	free(count);
}

static void join_first_of_values(struct pool *pool)
{
	const struct search_view *view = pool->view;
	unsigned char(*count)[SPACE_PARAMETERS_MAX][256] =
		memory_zeroed(view->family_count + 1, sizeof(*count));

	for (size_t i = 0; i < pool->questions.order_count; i++) {
		const size_t candidate = pool->questions.order[i], f = view->family[candidate];
		const struct search_family *family = &view->families[f];
		const choice *x = search_view_configuration(view, candidate);
		bool wanted = false;

		for (size_t p = 0; p < family->parameter_count; p++)
			wanted |= x[p] < 256 && count[f][p][x[p]] < FIRST_OF_VALUE;
		if (!wanted)
			continue;
		for (size_t p = 0; p < family->parameter_count; p++)
			if (x[p] < 256 && count[f][p][x[p]] < FIRST_OF_VALUE)
				count[f][p][x[p]]++;
		pool_join(pool, candidate);
	}
	free(count);
}

void pool_init(struct pool *pool, const struct search_view *view)
{
	*pool = (struct pool){.view = view, .best_us = INFINITY, .share = 1};
	questions_init(&pool->questions, view);
	if (pool->questions.order_count > 0)
		pool->best_predicted_us = view->predicted_us[pool->questions.order[0]];
	neighbourhood_init(&pool->neighbourhood, view);
	covariance_init(&pool->covariance, &pool->neighbourhood);
	pool->slot_of = memory_zeroed(view->count + 1, sizeof(*pool->slot_of));
	pool->row_of = memory_zeroed(view->count + 1, sizeof(*pool->row_of));
	for (size_t i = 0; i < view->count; i++)
		pool->slot_of[i] = pool->row_of[i] = POOL_NONE;
	gaussian_init(&pool->gaussian,
		smaller(smaller(ROWS_MAX, view->budget), pool->questions.order_count),
		smaller(SLOTS_MAX, pool->questions.order_count),
		covariance_noise(&pool->covariance), covariance_between, &pool->covariance);

	pool->times_us = memory_zeroed(pool->gaussian.row_max + 1, sizeof(*pool->times_us));
	for (size_t i = 0; i < pool->questions.order_count && i < FIRST_OF_ALL; i++)
		pool_join(pool, pool->questions.order[i]);
	join_first_of_families(pool);
	join_first_of_values(pool);
	for (size_t i = 0; i < FIRST_AT_RANDOM && pool->questions.order_count > 0; i++)
		pool_join(pool, pool->questions.order[random_below(
					&pool->questions.random, pool->questions.order_count)]);
}

void pool_release(struct pool *pool)
{
	gaussian_release(&pool->gaussian);
	covariance_release(&pool->covariance);
	neighbourhood_release(&pool->neighbourhood);
	questions_release(&pool->questions);
	free(pool->slot_of);
	free(pool->row_of);
	free(pool->times_us);
	*pool = (struct pool){0};
}

bool pool_join(struct pool *pool, size_t candidate)
{
	struct gaussian *gaussian = &pool->gaussian;

	if (pool->slot_of[candidate] != POOL_NONE)
		return true;
	if (gaussian->slot_count < gaussian->slot_max) {
		watch(pool, gaussian->slot_count, candidate);
		return true;
	}
	for (size_t slot = 0; slot < gaussian->slot_count; slot++)
		if (pool->questions.asked[gaussian->slot_points[slot]]) {
			pool->slot_of[gaussian->slot_points[slot]] = POOL_NONE;
			watch(pool, slot, candidate);
			return true;
		}
	return false;
}

/* Predicted speed of a candidate; the best measured is 1. */
static double predicted_speed(const struct pool *pool, size_t candidate)
{
	return pool->share * pool->best_predicted_us / pool->view->predicted_us[candidate];
}

/* Frees up to `count` of the least promising slots by replacing them with candidates. */
static void pool_replace(struct pool *pool, const size_t *candidates, size_t count)
{
	struct gaussian *gaussian = &pool->gaussian;
	CLEANUP(memory_free)
	double *keys = memory_zeroed(gaussian->slot_count + 1, sizeof(*keys));
	CLEANUP(memory_free)
	size_t *slots = memory_zeroed(gaussian->slot_count + 1, sizeof(*slots));

	for (size_t slot = 0; slot < gaussian->slot_count; slot++) {
		slots[slot] = slot;
		keys[slot] = predicted_speed(pool, gaussian->slot_points[slot]) +
			     (double)gaussian->values.means[slot];
	}
	order_smallest(slots, gaussian->slot_count, keys, count);
	for (size_t i = 0; i < smaller(count, gaussian->slot_count); i++) {
		pool->slot_of[gaussian->slot_points[slots[i]]] = POOL_NONE;
		watch(pool, slots[i], candidates[i]);
	}
}

void pool_refresh(struct pool *pool, size_t count)
{
	struct gaussian *gaussian = &pool->gaussian;
	CLEANUP(memory_free) double *keys = NULL;
	CLEANUP(memory_free) size_t *found = NULL;
	size_t found_count = 0, joined = 0;

	if (gaussian->slot_count >= pool->questions.order_count || gaussian->row_count == 0)
		return; /* everything is watched */
	keys = memory_zeroed(pool->view->count, sizeof(*keys));
	found = memory_zeroed(LOOKED_AT_MAX, sizeof(*found));
	for (size_t i = 0; i < LOOKED_AT_MAX; i++) {
		const double drawn =
			random_unit(&pool->questions.random); /* early ones more often */
		const size_t candidate = pool->questions.order[(
			size_t)(drawn * drawn * (double)pool->questions.order_count)];

		if (pool->questions.asked[candidate] || pool->slot_of[candidate] != POOL_NONE ||
			keys[candidate] != 0)
			continue;
		keys[candidate] =
			-predicted_speed(pool, candidate) - gaussian_expect(gaussian, candidate);
		found[found_count++] = candidate;
	}
	order_smallest(found, found_count, keys, count);
	found_count = smaller(found_count, count);
	while (joined < found_count && pool_join(pool, found[joined]))
		joined++;
	pool_replace(pool, found + joined, found_count - joined);
}

void pool_learn(struct pool *pool)
{
	struct gaussian *gaussian = &pool->gaussian;

	pool_update(pool);
	covariance_fit(&pool->covariance, gaussian->row_points, gaussian->values.of_rows,
		gaussian->row_count, &pool->questions.random);
	gaussian->noise = covariance_noise(&pool->covariance);
	gaussian_renew(gaussian);
	gaussian_update(gaussian);
}

static void add_row(struct pool *pool, size_t candidate)
{
	if (pool->gaussian.row_count < pool->gaussian.row_max) {
		const size_t row = gaussian_add(&pool->gaussian, candidate);

		pool->row_of[candidate] = (uint32_t)row;
		pool->times_us[row] = NAN;
	}
}

enum ask_result pool_ask(struct pool *pool, size_t candidate)
{
	add_row(pool, candidate);
	return questions_ask(&pool->questions, candidate);
}

bool pool_tell(struct pool *pool, size_t candidate, double time_us)
{
	const bool known = !pool->questions.asked[candidate]; /* from an earlier run */

	if (!questions_tell(&pool->questions, candidate))
		return false;
	if (known)
		add_row(pool, candidate);
	if (time_us > 0)
		pool->best_us = fmin(pool->best_us, time_us);
	pool->changed = true;
	/* one that found no row: only what there is to improve upon */
	if (pool->row_of[candidate] != POOL_NONE)
		pool->times_us[pool->row_of[candidate]] = time_us > 0 ? time_us : INFINITY;
	return true;
}

/* The share, by least squares; returns the mean of the measured speeds. */
static double survey(struct pool *pool)
{
	double both = 0, square = 0, sum = 0, count = 0;

	pool->share = 1;
	for (size_t r = 0; r < pool->gaussian.row_count; r++) {
		const double speed = pool->best_us / pool->times_us[r];
		const double predicted = predicted_speed(pool, pool->gaussian.row_points[r]);

		if (!isfinite(pool->times_us[r]))
			continue;
		both += speed * predicted;
		square += predicted * predicted;
		sum += speed;
		count++;
	}
	pool->share = square > 0 ? both / square : 1;
	return count > 0 ? sum / count : 1;
}

void pool_update(struct pool *pool)
{
	struct gaussian *gaussian = &pool->gaussian;
	double mean;

	if (!pool->changed)
		return;
	pool->changed = false;
	mean = survey(pool);
	for (size_t r = 0; r < gaussian->row_count; r++) {
		const bool works = !isinf(pool->times_us[r]);
		/* a failure says nothing about speed: it is kept out of the way by the chance that
		 * its like work */
		const double speed = works ? pool->best_us / pool->times_us[r] : mean;

		if (!isnan(pool->times_us[r]))
			gaussian_set(gaussian, r,
				speed - predicted_speed(pool, gaussian->row_points[r]), works);
	}
	gaussian_update(gaussian);
}

/* log of the mean of max(0, x), x normally distributed: mean `gain`, standard deviation. */
static double log_improvement(double gain, double deviation)
{
	const double u = gain / deviation;
	const double log_density = -u * u / 2 - log(2 * M_PI) / 2;

	if (u < -10) /* far out both terms cancel: the first of the series that is left */
		return log(deviation) + log_density - 2 * log(-u);
	return log(deviation) + log(u * erfc(-u / M_SQRT2) / 2 + exp(log_density));
}

bool pool_best(const struct pool *pool, size_t *candidate)
{
	const struct gaussian *gaussian = &pool->gaussian;
	double best = -INFINITY;

	for (size_t slot = 0; slot < gaussian->slot_count; slot++) {
		const size_t point = gaussian->slot_points[slot];
		const double deviation =
			gaussian->scale * sqrt(fmax(1e-12, (double)gaussian->variances[slot]));
		const double gain =
			predicted_speed(pool, point) + (double)gaussian->values.means[slot] - 1;
		double promise;

		if (pool->questions.asked[point])
			continue;
		promise = log_improvement(gain, deviation) + log(gaussian_chance(gaussian, slot));
		if (promise > best) {
			best = promise;
			*candidate = point;
		}
	}
	return isfinite(best);
}
