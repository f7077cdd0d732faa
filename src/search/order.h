/* SPDX-License-Identifier: MIT
 *
 * Orders of candidates, and the model's shortlist.
 */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/strategy.h"

/* Brings the `wanted` smallest of candidates by keys[candidate] to the front, sorted, ties by
 * index; the rest is in no order. Returns how many they are: no more than count. */
size_t order_smallest(size_t *candidates, size_t count, const double *keys, size_t wanted);

/* ---- the model's shortlist: its order, one candidate per compiled kernel. Candidates that differ
 * in launch arguments only (the order of tiles, the number of SMs) share a kernel; the model can
 * tell them apart by a fraction of a percent at best, so a list of a few must not be filled with
 * them ---- */
/* Whether two candidates are launches of one kernel. */
bool shortlist_same_kernel(const struct search_view *view, size_t a, size_t b);

/* Moves the first `wanted` of the list that are of different kernels to its front, in their order;
 * the rest follows in its order. Returns how many there are, at most `wanted`. */
size_t shortlist_choose(
	const struct search_view *view, size_t *candidates, size_t count, size_t wanted);

#endif
