/* SPDX-License-Identifier: MIT
 *
 * State that all strategies share, their first member.
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
	/* those that can run, by prediction or at random */
	size_t *order, order_count, order_next;
	bool random_order;
	double *times_us; /* per candidate; negative: not proposed; NAN: pending */
	size_t asked_count;
	size_t open;                                   /* proposed without a result */
	size_t parents[HISTORY_PARENTS], parent_count; /* fastest first */
	struct random_state random;
};

/* Allocates a state of `size` bytes, zero after the history. */
void *history_open(const struct search_view *view, size_t size);
void history_close(void *state);

bool history_is_new(const struct history *history, size_t candidate);
/* Crosses two parents of a family, and changes one value in `one_of`. Returns false if the child is
 * illegal, cannot run or was proposed. */
bool history_cross(
	struct history *history, size_t mother, size_t father, size_t one_of, size_t *candidate);
/* Crosses two of the fastest. Returns false if no new candidate was found. */
bool history_child(struct history *history, size_t *candidate);
bool history_done(const struct history *history);
bool history_next(struct history *history, size_t *candidate);
enum ask_result history_ask(struct history *history, size_t candidate);
/* Returns false for a known result, or one of a candidate that cannot run. */
bool history_tell(struct history *history, size_t candidate, double time_us);

#endif
