/* SPDX-License-Identifier: MIT
 *
 * What every strategy keeps, and begins its state with: which candidates were asked for, which
 * answers came, and an order in which those are taken that nothing better is known of.
 */
#ifndef SEARCH_QUESTIONS_H
#define SEARCH_QUESTIONS_H

#include "base/random.h"
#include "search/strategy.h"

enum {
	QUESTIONS_PARENTS = 12
};

struct questions {
	const struct search_view *view;
	size_t budget;
	/* those that can run; by prediction where it tells candidates apart, else at random */
	size_t *order, order_count, order_next;
	bool by_lot;
	double *times_us;   /* per candidate: negative: not asked for; NAN: pending */
	size_t asked_count; /* or known from an earlier run */
	size_t open;        /* asked, not told */
	size_t parents[QUESTIONS_PARENTS], parent_count; /* the fastest so far, fastest first */
	struct random_state random;
};

/* The state of a strategy, `bytes` long: questions, and zeros. */
void *questions_open(const struct search_view *view, size_t size);
void questions_close(void *state);

bool questions_is_new(const struct questions *questions, size_t candidate);
/* A new candidate that has each value from one of two of a family, and of that many values one
 * drawn again: a level up or down, or any. false: what was drawn is not legal, cannot run or is not
 * new. */
bool questions_cross(struct questions *questions, size_t mother, size_t father, size_t one_of,
	size_t *candidate);
/* Such a candidate from two of the fastest so far, faster ones more often; false: found none. */
bool questions_child(struct questions *questions, size_t *candidate);
/* The budget is spent. */
bool questions_done(const struct questions *questions);
/* The next of the order that is new; false: none. */
bool questions_next(struct questions *questions, size_t *candidate);
enum ask_result questions_ask(struct questions *questions, size_t candidate);
/* false: told before, or cannot run and was never asked for. */
bool questions_tell(struct questions *questions, size_t candidate, double time_us);

#endif
