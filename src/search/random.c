/* SPDX-License-Identifier: MIT
 *
 * Strategy `random`: candidates that can run, in random order, as many as the budget allows. What
 * every other strategy has to beat.
 */
#include "base/random.h"
#include "search/order.h"

static void *random_open(const struct search_view *view)
{
	struct walk *walk = walk_new(view);
	struct random_state random;

	random_seed(&random, view->seed);
	random_shuffle(&random, walk->candidates, walk->count);
	if (walk->count > view->budget)
		walk->count = view->budget;
	return walk;
}

const struct strategy strategy_random = {
	.name = "random",
	.summary = "random candidates, as many as the budget allows",
	.open = random_open,
	.ask = walk_ask,
	.tell = walk_tell,
	.close = walk_close,
};
