/* SPDX-License-Identifier: MIT
 *
 * Strategy `local`: hill climbing. Starts at the model's best candidate, measures its neighbours,
 * goes to the best of them while that is faster, and starts again at the best prediction that
 * nobody has looked at.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/neighbours.h"
#include "search/order.h"

/* Of a candidate's neighbours, so many of the best predictions are measured. */
enum {
	NEIGHBOURS_MAX = 24
};
/* A climb starts at the best of so many, so that they can be compiled and measured together. */
enum {
	STARTS = 8
};

struct local {
	const struct search_view *view;
	struct neighbourhood neighbourhood;
	size_t *order;
	size_t order_count, order_next;
	bool *asked, *told;
	size_t asked_count, in_progress;

	size_t queue[NEIGHBOURS_MAX]; /* still to be asked around `here` */
	size_t queue_count, queue_next;
	bool climbing;
	double here_us;
	size_t best; /* of what was told since the last step */
	double best_us;
};

static void *local_open(const struct search_view *view)
{
	struct local *local = memory_zeroed(1, sizeof(*local));

	local->view = view;
	neighbourhood_init(&local->neighbourhood, view);
	local->order = order_by_prediction(view, SIZE_MAX, &local->order_count);
	local->asked = memory_zeroed(view->count + 1, sizeof(*local->asked));
	local->told = memory_zeroed(view->count + 1, sizeof(*local->told));
	local->best_us = INFINITY;
	return local;
}

static void local_close(void *state)
{
	struct local *local = state;

	neighbourhood_release(&local->neighbourhood);
	free(local->order);
	free(local->asked);
	free(local->told);
	free(local);
}

static enum ask_result local_take(struct local *local, size_t candidate, size_t *taken)
{
	local->asked[candidate] = true;
	local->asked_count++;
	local->in_progress++;
	*taken = candidate;
	return ASK_CANDIDATE;
}

/* The neighbours of the best place, if that is better than where we were. */
static void local_step(struct local *local)
{
	size_t found[NEIGHBOURS_MAX], count;

	local->queue_count = local->queue_next = 0;
	if (isfinite(local->best_us) && (!local->climbing || local->best_us < local->here_us)) {
		local->climbing = true;
		local->here_us = local->best_us;
		count = neighbourhood_list(
			&local->neighbourhood, local->best, found, NEIGHBOURS_MAX);
		for (size_t i = 0; i < count; i++)
			if (!local->asked[found[i]])
				local->queue[local->queue_count++] = found[i];
	} else {
		local->climbing = false;
	}
	local->best_us = INFINITY;
}

/* At the beginning, and after a peak. */
static void local_start(struct local *local)
{
	local->climbing = false;
	local->queue_count = local->queue_next = 0;
	while (local->order_next < local->order_count && local->queue_count < STARTS) {
		const size_t candidate = local->order[local->order_next++];

		if (!local->asked[candidate])
			local->queue[local->queue_count++] = candidate;
	}
}

static enum ask_result local_ask(void *state, size_t *candidate)
{
	struct local *local = state;

	if (local->asked_count >= local->view->budget)
		return ASK_DONE;
	if (local->queue_next == local->queue_count) {
		if (local->in_progress > 0)
			return ASK_WAIT;
		local_step(local);
	}
	for (;;) {
		while (local->queue_next < local->queue_count) {
			const size_t next = local->queue[local->queue_next++];

			if (!local->asked[next])
				return local_take(local, next, candidate);
		}
		local_start(local);
		if (local->queue_count == 0)
			return ASK_DONE;
	}
}

static void local_tell(void *state, size_t candidate, double time_us)
{
	struct local *local = state;

	if (local->told[candidate])
		return;
	if (local->asked[candidate])
		local->in_progress--;
	else
		local->asked_count++; /* known from an earlier run */
	local->asked[candidate] = local->told[candidate] = true;
	if (time_us < local->best_us) {
		local->best_us = time_us;
		local->best = candidate;
	}
}

const struct strategy strategy_local = {
	.name = "local",
	.summary = "hill climbing from the model's best, with restarts",
	.open = local_open,
	.ask = local_ask,
	.tell = local_tell,
	.close = local_close,
};
