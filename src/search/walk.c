/* SPDX-License-Identifier: MIT
 *
 * The strategies `exhaustive`, `model_top` and `random`, which follow a fixed order.
 */
#include "search/history.h"

static enum ask_result walk_ask(void *state, size_t *candidate)
{
	struct history *history = state;

	return !history_done(history) && history_next(history, candidate)
		       ? history_ask(history, *candidate)
		       : ASK_DONE;
}

static void walk_tell(void *state, size_t candidate, double time_us)
{
	history_tell(state, candidate, time_us);
}

static void *model_top_open(const struct search_view *view)
{
	return history_open(view, sizeof(struct history));
}

static void *exhaustive_open(const struct search_view *view)
{
	struct history *history = model_top_open(view);

	history->budget = SIZE_MAX;
	return history;
}

static void *random_open(const struct search_view *view)
{
	struct history *history = model_top_open(view);

	if (!history->random_order)
		random_shuffle(&history->random, history->order, history->order_count);
	return history;
}

STRATEGY(exhaustive, walk, history_close, "every candidate, in the order of the predictions");
STRATEGY(model_top, walk, history_close,
	"the candidates with the best predictions, up to the budget");
STRATEGY(random, walk, history_close, "random candidates, as many as the budget allows");
