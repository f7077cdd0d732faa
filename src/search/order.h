/* SPDX-License-Identifier: MIT
 *
 * Sorts candidates, and selects the model's shortlist.
 */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/strategy.h"

/* Moves the `wanted` candidates with the smallest keys[candidate] to the front, sorted; ties are
 * ordered by index. The rest is in no order. Returns the number of sorted candidates, which is
 * at most count. */
size_t order_smallest(size_t *candidates, size_t count, const double *keys, size_t wanted);

/* ---- the model's shortlist has one candidate per compiled kernel. Candidates that differ only
 * in launch arguments (the order of tiles, the number of SMs) share a kernel. The model can tell
 * them apart by a fraction of a percent at best, so they must not fill a short list ---- */
/* Returns whether two candidates launch the same kernel. */
bool shortlist_same_kernel(const struct search_view *view, size_t a, size_t b);

/* Moves the first `wanted` candidates that have different kernels to the front and keeps their
 * order; the rest follows in its order. Returns the number of candidates moved to the front. */
size_t shortlist_choose(
	const struct search_view *view, size_t *candidates, size_t count, size_t wanted);

#endif
