/* SPDX-License-Identifier: MIT
 *
 * Neighbours of a candidate: legal configurations that differ in one parameter, or in two. Along a
 * parameter whose values are numbers a neighbour is the next legal value up or down; any other
 * value otherwise. Pairs matter: constraints such as `BM % WM == 0` often forbid single moves.
 */
#ifndef SEARCH_NEIGHBOURS_H
#define SEARCH_NEIGHBOURS_H

#include "search/strategy.h"

/* Up to `limit` neighbours that can run into found (room for limit), fastest prediction first;
 * returns how many. No duplicates, not the candidate itself. pairs: also those that differ in two
 * parameters. */
size_t neighbours_list(
	const struct search_view *view, size_t candidate, bool pairs, size_t *found, size_t limit);

#endif
