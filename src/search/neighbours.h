/* SPDX-License-Identifier: MIT
 *
 * Neighbours are configurations that differ in one parameter, or in two parameters by one level
 * each, because constraints such as `BM % WM == 0` often forbid single changes.
 */
#ifndef SEARCH_NEIGHBOURS_H
#define SEARCH_NEIGHBOURS_H

#include "search/strategy.h"

/* Lists up to `limit` neighbours, fastest prediction first, and returns their number. */
size_t neighbours_list(
	const struct search_view *view, size_t candidate, bool pairs, size_t *found, size_t limit);

#endif
