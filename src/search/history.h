/* SPDX-License-Identifier: MIT
 *
 * State common to all strategies, in which it is the first member.
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
	/* candidates that can run, by prediction or in random order */
	size_t *order, order_count, order_next;
	bool random_order;
	double *times_us; /* time of each candidate; negative if it was not proposed, NAN if it is
			     pending */
	size_t asked_count;
	size_t open;                                   /* number of pending proposals */
	size_t parents[HISTORY_PARENTS], parent_count; /* fastest first */
	struct random_state random;
};

/* Allocates a state of `size` bytes, which are zero after the history. */
void *history_open(const struct search_view *view, size_t size);
void history_close(void *state);

bool history_is_new(const struct history *history, size_t candidate);
/* Crosses two parents of a family, and mutates each value with probability 1 / one_of. Returns
 * false if the child is illegal, cannot run or was already proposed. */
bool history_cross(
	struct history *history, size_t mother, size_t father, size_t one_of, size_t *candidate);
/* Crosses two of the fastest candidates. Returns false if no new candidate was found. */
bool history_child(struct history *history, size_t *candidate);
bool history_done(const struct history *history);
bool history_next(struct history *history, size_t *candidate);
enum ask_result history_ask(struct history *history, size_t candidate);
/* Records a result. Returns false if it is already known, or if the candidate cannot run. */
bool history_tell(struct history *history, size_t candidate, double time_us);

#endif
