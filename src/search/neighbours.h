/* SPDX-License-Identifier: MIT
 *
 * Neighbours of a candidate: legal configurations that differ in one parameter, or in two. Along a
 * parameter whose values are numbers a neighbour is the next legal value up or down; any other
 * value otherwise. Pairs matter: constraints such as `BM % WM == 0` often forbid single moves.
 */
#ifndef SEARCH_NEIGHBOURS_H
#define SEARCH_NEIGHBOURS_H

#include "search/strategy.h"

/* Levels of each family's parameters: the largest choice in use and one. */
struct neighbourhood {
	const struct search_view *view;
	choice **levels; /* [family][parameter] */
};

void neighbourhood_init(struct neighbourhood *neighbourhood, const struct search_view *view);
void neighbourhood_release(struct neighbourhood *neighbourhood);

/* Appends up to `limit` neighbours that can run to found (room for limit), fastest prediction
 * first; returns how many. No duplicates, not the candidate itself. */
size_t neighbourhood_list(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit);
/* The same of those that differ in one parameter. */
size_t neighbourhood_nearest(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit);

#endif
