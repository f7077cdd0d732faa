/* SPDX-License-Identifier: MIT
 *
 * Strategy `local`: hill climbing with restarts from the best prediction or from a mutated best
 * candidate. Source: D. Wales, J. Doye, "Global Optimization by Basin-Hopping" (1997).
 */
#include <math.h>

#include "search/neighbours.h"
#include "search/history.h"

enum {
	STARTS = 8,
	NEIGHBOURS_MAX = 512,
	JUMPS = 64,
};

struct local {
	struct history history;
	size_t near[NEIGHBOURS_MAX];
	size_t near_count, near_next;
	size_t start, best;
	double here_us, best_us;
};

static void *local_open(const struct search_view *view)
{
	struct local *local = history_open(view, sizeof(*local));

	local->start = SIZE_MAX;
	local->here_us = local->best_us = INFINITY;
	return local;
}

static bool jump(struct local *local, size_t *candidate)
{
	for (int attempt = 0; attempt < JUMPS; attempt++)
		if (history_cross(&local->history, local->best, local->best, 3, candidate))
			return true;
	return false;
}

static enum ask_result local_ask(void *state, size_t *candidate)
{
	struct local *local = state;
	struct history *history = &local->history;

	if (history_done(history))
		return ASK_DONE;
	if (history->asked_count < STARTS && history_next(history, candidate))
		return history_ask(history, *candidate);
	while (local->near_next < local->near_count) {
		*candidate = local->near[local->near_next++];
		if (history_is_new(history, *candidate))
			return history_ask(history, *candidate);
	}
	if (history->open > 0)
		return ASK_WAIT;
	if (!(history->random_order && isfinite(local->best_us) &&
		    random_below(&history->random, 3) && jump(local, candidate)) &&
		!history_next(history, candidate))
		return ASK_DONE;
	local->start = *candidate;
	return history_ask(history, *candidate);
}
static void local_tell(void *state, size_t candidate, double time_us)
{
	struct local *local = state;
	struct history *history = &local->history;

	if (!history_tell(history, candidate, time_us))
		return;
	if (time_us < local->best_us) {
		local->best_us = time_us;
		local->best = candidate;
	}
	if (isfinite(time_us) && (candidate == local->start || time_us < local->here_us)) {
		local->here_us = time_us;
		local->near_count = neighbours_list(
			history->view, candidate, true, local->near, NEIGHBOURS_MAX);
		if (history->random_order)
			random_shuffle(&history->random, local->near, local->near_count);
		local->near_next = 0;
	}
}

STRATEGY(local, local, history_close, "hill climbing from the best prediction, with restarts");
