/* SPDX-License-Identifier: MIT */
#include "search/pool.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "search/order.h"

/* Sizes: so that a question costs about a millisecond, and the memory stays under 10 MB. */
enum {
	ROWS_MAX = 512,
	SLOTS_MAX = 3072,
	FIRST_OF_ALL = 1536,
	FIRST_OF_FAMILY = 192,
	FIRST_OF_VALUE = 4,
	FIRST_AT_RANDOM = 256,
};
/* Standard deviation of a log time around what neighbours say: measuring and ruggedness. */
static const double NOISE = 0.02;

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

	for (size_t i = 0; i < pool->order_count; i++)
		if (count[pool->view->family[pool->order[i]]]++ < FIRST_OF_FAMILY)
			pool_join(pool, pool->order[i]);
	free(count);
}

static void join_first_of_values(struct pool *pool)
{
	const struct search_view *view = pool->view;
	unsigned char(*count)[SPACE_PARAMETERS_MAX][256] =
		memory_zeroed(view->family_count + 1, sizeof(*count));

	for (size_t i = 0; i < pool->order_count; i++) {
		const size_t candidate = pool->order[i], f = view->family[candidate];
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
	struct random_state random;

	*pool = (struct pool){.view = view};
	neighbourhood_init(&pool->neighbourhood, view);
	similarity_init(&pool->similarity, &pool->neighbourhood);
	pool->order = order_by_prediction(view, SIZE_MAX, &pool->order_count);
	pool->slot_of = memory_zeroed(view->count + 1, sizeof(*pool->slot_of));
	pool->row_of = memory_zeroed(view->count + 1, sizeof(*pool->row_of));
	pool->asked = memory_zeroed(view->count + 1, sizeof(*pool->asked));
	for (size_t i = 0; i < view->count; i++)
		pool->slot_of[i] = pool->row_of[i] = POOL_NONE;
	gaussian_init(&pool->gaussian, smaller(smaller(ROWS_MAX, view->budget), pool->order_count),
		smaller(SLOTS_MAX, pool->order_count), NOISE * NOISE, similarity_covariance,
		&pool->similarity);

	for (size_t i = 0; i < pool->order_count && i < FIRST_OF_ALL; i++)
		pool_join(pool, pool->order[i]);
	join_first_of_families(pool);
	join_first_of_values(pool);
	random_seed(&random, view->seed);
	for (size_t i = 0; i < FIRST_AT_RANDOM && pool->order_count > 0; i++)
		pool_join(pool, pool->order[random_below(&random, pool->order_count)]);
}

void pool_release(struct pool *pool)
{
	gaussian_release(&pool->gaussian);
	similarity_release(&pool->similarity, &pool->neighbourhood);
	neighbourhood_release(&pool->neighbourhood);
	free(pool->order);
	free(pool->slot_of);
	free(pool->row_of);
	free(pool->asked);
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
		if (pool->asked[gaussian->slot_points[slot]]) {
			pool->slot_of[gaussian->slot_points[slot]] = POOL_NONE;
			watch(pool, slot, candidate);
			return true;
		}
	return false;
}

/* Frees up to `count` of the least promising slots by replacing them with candidates. */
static void pool_replace(struct pool *pool, const size_t *candidates, size_t count)
{
	struct gaussian *gaussian = &pool->gaussian;
	double *keys = memory_zeroed(gaussian->slot_count + 1, sizeof(*keys));
	size_t *slots = memory_zeroed(gaussian->slot_count + 1, sizeof(*slots));

	for (size_t slot = 0; slot < gaussian->slot_count; slot++) {
		slots[slot] = slot;
		keys[slot] = -pool_expect(pool, gaussian->slot_points[slot], 1);
	}
	order_smallest(slots, gaussian->slot_count, keys, count);
	for (size_t i = 0; i < smaller(count, gaussian->slot_count); i++) {
		pool->slot_of[gaussian->slot_points[slots[i]]] = POOL_NONE;
		watch(pool, slots[i], candidates[i]);
	}
	free(keys);
	free(slots);
}

void pool_refresh(struct pool *pool, size_t count)
{
	const struct search_view *view = pool->view;
	struct gaussian *gaussian = &pool->gaussian;
	struct similarity_tables tables;
	double *weights, *keys;
	size_t *found, found_count = 0, joined = 0;

	if (gaussian->slot_count >= pool->order_count || gaussian->row_count == 0)
		return; /* everything is watched */
	weights = memory_zeroed(gaussian->row_count, sizeof(*weights));
	keys = memory_zeroed(view->count, sizeof(*keys));
	found = memory_zeroed(view->count, sizeof(*found));
	gaussian_weights(gaussian, weights);
	similarity_tables_init(&tables, &pool->similarity, &pool->neighbourhood,
		gaussian->row_points, weights, gaussian->row_count);
	for (size_t i = 0; i < pool->order_count; i++) {
		const size_t candidate = pool->order[i];

		if (pool->asked[candidate] || pool->slot_of[candidate] != POOL_NONE)
			continue;
		keys[candidate] = log(view->predicted_us[candidate]) +
				  similarity_sum(&tables, &pool->similarity, candidate);
		found[found_count++] = candidate;
	}
	order_smallest(found, found_count, keys, count);
	found_count = smaller(found_count, count);
	while (joined < found_count && pool_join(pool, found[joined]))
		joined++;
	pool_replace(pool, found + joined, found_count - joined);
	similarity_tables_release(&tables, view);
	free(weights);
	free(keys);
	free(found);
}

void pool_ask(struct pool *pool, size_t candidate)
{
	pool->asked[candidate] = true;
	pool->asked_count++;
	if (pool->gaussian.row_count < pool->gaussian.row_max)
		pool->row_of[candidate] = (uint32_t)gaussian_add(&pool->gaussian, candidate);
}

void pool_tell(struct pool *pool, size_t candidate, double time_us)
{
	double error = INFINITY;

	if (isfinite(time_us) && time_us > 0)
		error = log(time_us / pool->view->predicted_us[candidate]);
	if (pool->row_of[candidate] != POOL_NONE)
		gaussian_set(&pool->gaussian, pool->row_of[candidate], error);
}

void pool_update(struct pool *pool)
{
	gaussian_update(&pool->gaussian);
}

double pool_expect(const struct pool *pool, size_t candidate, double boldness)
{
	const uint32_t slot = pool->slot_of[candidate];

	if (slot == POOL_NONE)
		return INFINITY;
	return log(pool->view->predicted_us[candidate]) + (double)pool->gaussian.means[slot] -
	       boldness * sqrt(fmax(0, (double)pool->gaussian.variances[slot]));
}

bool pool_best(const struct pool *pool, double boldness, size_t *candidate)
{
	const struct gaussian *gaussian = &pool->gaussian;
	double best = INFINITY;

	for (size_t slot = 0; slot < gaussian->slot_count; slot++) {
		const size_t point = gaussian->slot_points[slot];
		double expected;

		if (pool->asked[point])
			continue;
		expected = pool_expect(pool, point, boldness);
		if (expected < best) {
			best = expected;
			*candidate = point;
		}
	}
	return isfinite(best);
}
