/* SPDX-License-Identifier: MIT
 *
 * Strategy `guided`, the default of quick tuning: Bayesian optimization on top of the model.
 *
 * First come the model's own seeds: its shortlist (order.h), and two of each family; where nothing
 * is predicted, candidates drawn by lot. Then each question goes to the candidate whose time, as
 * far as is known, promises the largest improvement of the best on average.
 *
 * What is known: the prediction, corrected by a Gaussian process (pool.h).
 * How alike candidates are is learned while it goes (covariance.h). Source: D. Jones, M. Schonlau,
 * W. Welch, "Efficient Global Optimization of Expensive Black-Box Functions" (1998).
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
	NEIGHBOURS_MAX = 64,
	REFRESH_EVERY = 32, /* results */
	REFRESH_COUNT = 256,
	LEARN_FIRST = 10, /* results; then after each third more */
};
/* Slower than the best by this factor: its neighbours are not watched. */
static const double NEAR_BEST = 1.1;

struct guided {
	const struct search_view *view;
	struct pool pool;
	size_t *seeds, seed_count, seed_next;
	size_t told_count, learn_next;
};

static void seeds_choose(struct guided *guided)
{
	const struct search_view *view = guided->view;
	const struct pool *pool = &guided->pool;
	size_t *count = memory_zeroed(view->family_count + 1, sizeof(*count));
	size_t *order = memory_copy(
		pool->questions.order, (pool->questions.order_count + 1) * sizeof(*order));
	const size_t listed = shortlist_choose(view, order, pool->questions.order_count, SEEDS);

	guided->seeds =
		memory_zeroed(SEEDS + SEEDS_OF_FAMILY * view->family_count, sizeof(*guided->seeds));
	for (size_t i = 0; i < pool->questions.order_count; i++)
		if (count[view->family[order[i]]]++ < SEEDS_OF_FAMILY || i < listed)
			guided->seeds[guided->seed_count++] = order[i];
	free(order);
	free(count);
}

static void *guided_open(const struct search_view *view)
{
	struct guided *guided = memory_zeroed(1, sizeof(*guided));

	guided->view = view;
	guided->learn_next = LEARN_FIRST;
	pool_init(&guided->pool, view);
	seeds_choose(guided);
	return guided;
}

static void guided_close(void *state)
{
	struct guided *guided = state;

	pool_release(&guided->pool);
	free(guided->seeds);
	free(guided);
}

static bool next_seed(struct guided *guided, size_t *candidate)
{
	while (guided->seed_next < guided->seed_count) {
		*candidate = guided->seeds[guided->seed_next++];
		if (!guided->pool.questions.asked[*candidate])
			return true;
	}
	return false;
}

static enum ask_result guided_ask(void *state, size_t *candidate)
{
	struct guided *guided = state;
	struct pool *pool = &guided->pool;

	if (questions_done(&pool->questions))
		return ASK_DONE;
	if (pool->questions.open >= IN_TRIAL_MAX)
		return ASK_WAIT;
	pool_update(pool);
	if (!next_seed(guided, candidate) && !pool_best(pool, candidate) &&
		!questions_next(&pool->questions, candidate))
		return ASK_DONE;
	return pool_ask(pool, *candidate);
}

static void watch_neighbours(struct pool *pool, size_t candidate)
{
	size_t neighbours[NEIGHBOURS_MAX];
	const size_t count =
		neighbourhood_list(&pool->neighbourhood, candidate, neighbours, NEIGHBOURS_MAX);

	for (size_t i = 0; i < count; i++)
		if (!pool->questions.asked[neighbours[i]])
			pool_join(pool, neighbours[i]);
}

static void guided_tell(void *state, size_t candidate, double time_us)
{
	struct guided *guided = state;
	struct pool *pool = &guided->pool;

	if (!pool_tell(pool, candidate, time_us))
		return;
	guided->told_count++;
	if (isfinite(time_us) && time_us <= pool->best_us * NEAR_BEST)
		watch_neighbours(pool, candidate);
	if (guided->told_count == guided->learn_next) {
		guided->learn_next += guided->learn_next / 3 + 2;
		pool_learn(pool);
	}
	if (guided->told_count % REFRESH_EVERY == 0) {
		pool_update(pool);
		pool_refresh(pool, REFRESH_COUNT);
	}
}

const struct strategy strategy_guided = {
	.name = "guided",
	.summary = "where the prediction, corrected by what was measured, promises most",
	.open = guided_open,
	.ask = guided_ask,
	.tell = guided_tell,
	.close = guided_close,
};
