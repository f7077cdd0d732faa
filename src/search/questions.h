/* SPDX-License-Identifier: MIT
 *
 * What every strategy that searches keeps: which candidates were asked for, which answers came, and
 * an order in which those are taken that nothing better is known of.
 */
#ifndef SEARCH_QUESTIONS_H
#define SEARCH_QUESTIONS_H

#include "base/random.h"
#include "search/neighbours.h"

struct questions {
	const struct search_view *view;
	struct neighbourhood neighbourhood;
	/* those that can run; by prediction where it tells candidates apart, else by lot */
	size_t *order, order_count, order_next;
	bool by_lot;
	bool *asked, *told;
	size_t asked_count;
	size_t open; /* asked, not told */
	struct random_state random;
};

void questions_init(struct questions *questions, const struct search_view *view);
void questions_release(struct questions *questions);
/* Of a strategy whose state begins with questions and owns nothing else. */
void questions_close(void *state);

/* Nothing is left, or the budget is spent. */
bool questions_done(const struct questions *questions);
/* The next of the order that was not asked for; false: none. */
bool questions_next(struct questions *questions, size_t *candidate);
/* Of a list that is not empty, those that were not asked for, by prediction or lot, `limit` of them
 * at most. Returns how many. */
size_t questions_keep_new(
	struct questions *questions, size_t *candidates, size_t count, size_t limit);
/* The candidate with this configuration, if it can run and was not asked for. */
bool questions_find_new(const struct questions *questions, size_t family,
	const choice *configuration, size_t *candidate);
enum ask_result questions_ask(struct questions *questions, size_t candidate);
/* false: told before, or cannot run and was never asked for. */
bool questions_tell(struct questions *questions, size_t candidate);

#endif
