/* SPDX-License-Identifier: MIT
 *
 * Strategy `guided`, the default of quick tuning: measures where the model's prediction, corrected
 * by what was measured so far, promises the most.
 *
 * First come the model's own seeds: its shortlist (order.h), and two of each family. Then
 * three questions of four go to the candidate with the best corrected prediction, less some
 * standard deviations of the correction (many at the beginning, few at the end: first explore, then
 * exploit), and one to the best neighbour of the best measured ones. Once in a while the next
 * candidate in the model's own order is asked for, as an insurance against a correction gone wrong.
 *
 * Correction: a Gaussian process over log(measured / predicted), see neighbours.h and pool.h.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/pool.h"
#include "search/order.h"

enum {
	SEEDS = 8,
	SEEDS_OF_FAMILY = 2,
	IN_TRIAL_MAX = 64,
	ELITE = 6,
	NEIGHBOURS_MAX = 32,
	REFRESH_EVERY = 32, /* results */
	REFRESH_COUNT = 256,
	INSURANCE_EVERY = 16, /* questions */
	NEIGHBOUR_EVERY = 4,
	NOMINAL_BUDGET = 400, /* where there is no limit */
};
static const double BOLDNESS_FIRST = 2.5, BOLDNESS_LAST = 0.3;

struct elite {
	size_t candidate;
	double time_us;
	size_t neighbours[NEIGHBOURS_MAX], neighbour_count;
};

struct guided {
	const struct search_view *view;
	struct pool pool;
	size_t *seeds, seed_count, seed_next;
	size_t order_next;
	bool *told;
	size_t in_progress, told_count;
	struct elite elite[ELITE]; /* fastest first */
	size_t elite_count;
};

static void seeds_choose(struct guided *guided)
{
	const struct search_view *view = guided->view;
	const struct pool *pool = &guided->pool;
	size_t *count = memory_zeroed(view->family_count + 1, sizeof(*count));
	size_t *order = memory_copy(pool->order, (pool->order_count + 1) * sizeof(*order));
	const size_t listed = shortlist_choose(view, order, pool->order_count, SEEDS);

	guided->seeds =
		memory_zeroed(SEEDS + SEEDS_OF_FAMILY * view->family_count, sizeof(*guided->seeds));
	for (size_t i = 0; i < pool->order_count; i++)
		if (count[view->family[order[i]]]++ < SEEDS_OF_FAMILY || i < listed)
			guided->seeds[guided->seed_count++] = order[i];
	free(order);
	free(count);
}

static void *guided_open(const struct search_view *view)
{
	struct guided *guided = memory_zeroed(1, sizeof(*guided));

	guided->view = view;
	pool_init(&guided->pool, view);
	seeds_choose(guided);
	guided->told = memory_zeroed(view->count + 1, sizeof(*guided->told));
	return guided;
}

static void guided_close(void *state)
{
	struct guided *guided = state;

	pool_release(&guided->pool);
	free(guided->seeds);
	free(guided->told);
	free(guided);
}

static bool next_seed(struct guided *guided, size_t *candidate)
{
	while (guided->seed_next < guided->seed_count) {
		*candidate = guided->seeds[guided->seed_next++];
		if (!guided->pool.asked[*candidate])
			return true;
	}
	return false;
}

static bool next_in_order(struct guided *guided, size_t *candidate)
{
	struct pool *pool = &guided->pool;

	while (guided->order_next < pool->order_count) {
		*candidate = pool->order[guided->order_next++];
		if (!pool->asked[*candidate])
			return true;
	}
	return false;
}

static bool next_neighbour(struct guided *guided, size_t *candidate)
{
	const struct pool *pool = &guided->pool;
	double best = INFINITY;

	for (size_t e = 0; e < guided->elite_count; e++) {
		const struct elite *elite = &guided->elite[e];

		for (size_t n = 0; n < elite->neighbour_count; n++) {
			const size_t neighbour = elite->neighbours[n];
			const double expected =
				pool->asked[neighbour] ? INFINITY : pool_expect(pool, neighbour, 0);

			if (expected < best) {
				best = expected;
				*candidate = neighbour;
			}
		}
	}
	return isfinite(best);
}

static double boldness_now(const struct guided *guided)
{
	const double budget = guided->view->budget < NOMINAL_BUDGET ? (double)guided->view->budget
								    : NOMINAL_BUDGET;
	const double progress = fmin(1, (double)guided->pool.asked_count / budget);
	const double scale = gaussian_scale(&guided->pool.gaussian);

	return (BOLDNESS_FIRST + (BOLDNESS_LAST - BOLDNESS_FIRST) * progress) *
	       fmin(2, fmax(0.5, scale));
}

static enum ask_result guided_ask(void *state, size_t *candidate)
{
	struct guided *guided = state;
	struct pool *pool = &guided->pool;
	const size_t turn = pool->asked_count;
	bool found;

	if (pool->asked_count >= guided->view->budget || pool->asked_count >= pool->order_count)
		return ASK_DONE;
	if (guided->in_progress >= IN_TRIAL_MAX)
		return ASK_WAIT;
	pool_update(pool);
	found = next_seed(guided, candidate);
	if (!found && turn % INSURANCE_EVERY == INSURANCE_EVERY - 1)
		found = next_in_order(guided, candidate);
	if (!found && turn % NEIGHBOUR_EVERY == 0)
		found = next_neighbour(guided, candidate);
	if (!found)
		found = pool_best(pool, boldness_now(guided), candidate);
	if (!found)
		found = next_in_order(guided, candidate);
	if (!found)
		return ASK_DONE;
	pool_ask(pool, *candidate);
	guided->in_progress++;
	return ASK_CANDIDATE;
}

/* Keeps the fastest, and watches their neighbours. */
static void elite_offer(struct guided *guided, size_t candidate, double time_us)
{
	size_t place = guided->elite_count;
	struct elite *elite;

	while (place > 0 && time_us < guided->elite[place - 1].time_us)
		place--;
	if (place == ELITE)
		return;
	if (guided->elite_count < ELITE)
		guided->elite_count++;
	for (size_t i = guided->elite_count - 1; i > place; i--)
		guided->elite[i] = guided->elite[i - 1];
	elite = &guided->elite[place];
	elite->candidate = candidate;
	elite->time_us = time_us;
	elite->neighbour_count = neighbourhood_list(
		&guided->pool.neighbourhood, candidate, elite->neighbours, NEIGHBOURS_MAX);
	for (size_t i = 0; i < elite->neighbour_count; i++)
		if (!guided->pool.asked[elite->neighbours[i]])
			pool_join(&guided->pool, elite->neighbours[i]);
}

static void guided_tell(void *state, size_t candidate, double time_us)
{
	struct guided *guided = state;
	struct pool *pool = &guided->pool;

	if (guided->told[candidate])
		return;
	guided->told[candidate] = true;
	if (!isfinite(guided->view->predicted_us[candidate]))
		return; /* nothing to compare with, and never asked for */
	if (pool->asked[candidate])
		guided->in_progress--;
	else
		pool_ask(pool, candidate); /* known from an earlier run */
	guided->told_count++;
	pool_tell(pool, candidate, time_us);
	if (isfinite(time_us))
		elite_offer(guided, candidate, time_us);
	if (guided->told_count % REFRESH_EVERY == 0) {
		pool_update(pool);
		pool_refresh(pool, REFRESH_COUNT);
	}
}

const struct strategy strategy_guided = {
	.name = "guided",
	.summary = "the model's order, corrected by what was measured",
	.open = guided_open,
	.ask = guided_ask,
	.tell = guided_tell,
	.close = guided_close,
};
