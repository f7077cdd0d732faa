/* SPDX-License-Identifier: MIT
 *
 * The state that all strategies share, as the first member of their own: which candidates were
 * proposed, which results came, and a default order of proposals.
 */
#ifndef SEARCH_HISTORY_H
#define SEARCH_HISTORY_H

#include "base/random.h"
#include "search/strategy.h"

enum {
	HISTORY_PARENTS = 12
};

struct history {
	const struct search_view *view;
	size_t budget;
	/* candidates that can run, in the order of the predictions if these tell candidates
	 * apart, else (random_order) in random order */
	size_t *order, order_count, order_next;
	bool random_order;
	double *times_us;   /* one per candidate; negative: not proposed yet; NAN: pending */
	size_t asked_count; /* including results that are known from an earlier run */
	size_t open;        /* proposed, and without a result so far */
	size_t parents[HISTORY_PARENTS], parent_count; /* fastest candidates, fastest first */
	struct random_state random;
};

/* Allocates a strategy's state of `size` bytes: the history are initialised, the rest is zero. */
void *history_open(const struct search_view *view, size_t size);
void history_close(void *state);

bool history_is_new(const struct history *history, size_t candidate);
/* Makes a new candidate by crossover and mutation: each value comes from one of the two parents,
 * which are of one family, and one value in `one_of` is then changed, either by a level up or down
 * or at random. Returns false if the resulting configuration is illegal, cannot run or was proposed
 * before. */
bool history_cross(
	struct history *history, size_t mother, size_t father, size_t one_of, size_t *candidate);
/* Crosses two of the fastest candidates so far and prefers faster ones. Returns false if no new
 * candidate was found. */
bool history_child(struct history *history, size_t *candidate);
bool history_done(const struct history *history);
/* Gets the next new candidate in the default order; returns false if there is none. */
bool history_next(struct history *history, size_t *candidate);
enum ask_result history_ask(struct history *history, size_t candidate);
/* Returns false if the result is known already, or if the candidate cannot run and was never
 * proposed. */
bool history_tell(struct history *history, size_t candidate, double time_us);

#endif
