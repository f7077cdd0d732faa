/* SPDX-License-Identifier: MIT
 *
 * Orders of candidates, for strategies that walk down a list.
 */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/strategy.h"

/* Candidates that can run (finite prediction), fastest prediction first, ties by index, `wanted` of
 * them at most. The caller frees the result; *count of them. */
size_t *order_by_prediction(const struct search_view *view, size_t wanted, size_t *count);

/* Sorts candidates by keys[candidate], smallest first, ties by index. */
void order_sort(size_t *candidates, size_t count, const double *keys);

/* Brings the `wanted` smallest of candidates by keys[candidate] to the front, sorted as above; the
 * rest is in no order. For a few of very many. */
void order_smallest(size_t *candidates, size_t count, const double *keys, size_t wanted);

/* A list being walked down: what the simple strategies are. Starts with all candidates that can
 * run, fastest prediction first. */
struct walk {
	size_t *candidates;
	size_t count, next;
	bool *told; /* per candidate: known, not to be asked */
};
struct walk *walk_new(const struct search_view *view);
enum ask_result walk_ask(void *state, size_t *candidate);
void walk_tell(void *state, size_t candidate, double time_us);
void walk_close(void *state);

#endif
