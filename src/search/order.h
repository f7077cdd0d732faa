/* SPDX-License-Identifier: MIT
 *
 * Sorting, and the model's shortlist.
 */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/strategy.h"

/* Moves `wanted` candidates with the smallest keys to the front, sorted (ties by index). Returns
 * their number. */
size_t order_smallest(size_t *candidates, size_t count, const double *keys, size_t wanted);

/* ---- shortlist: one candidate per kernel, because the model hardly distinguishes arguments
 * ---- */
bool shortlist_same_kernel(const struct search_view *view, size_t a, size_t b);

/* Moves the first `wanted` candidates with different kernels to the front. Returns their number. */
size_t shortlist_choose(
	const struct search_view *view, size_t *candidates, size_t count, size_t wanted);

#endif
