/* SPDX-License-Identifier: MIT
 *
 * Neighbours of a candidate are legal configurations that differ in one or two parameters. For a
 * numeric parameter the neighbours are the next legal values up and down; for any other
 * parameter they are all other values. Pairs are needed because constraints such as `BM % WM ==
 * 0` often forbid changes of a single parameter.
 */
#ifndef SEARCH_NEIGHBOURS_H
#define SEARCH_NEIGHBOURS_H

#include "search/strategy.h"

/* Lists up to `limit` neighbours that can run, fastest prediction first, and returns their
 * number. `found` has room for `limit`. The list has neither duplicates nor the candidate
 * itself. With `pairs` it includes neighbours that differ in two parameters. */
size_t neighbours_list(
	const struct search_view *view, size_t candidate, bool pairs, size_t *found, size_t limit);

#endif
