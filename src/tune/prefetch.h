/* SPDX-License-Identifier: MIT
 *
 * Finds and scores the next problem's candidates in a thread while the device measures.
 */
#ifndef TUNE_PREFETCH_H
#define TUNE_PREFETCH_H

#include "tune/search.h"

struct prefetch;

/* Also starts prefetching the next problem. *prefetch is NULL before the first call. */
enum status prefetch_search(struct prefetch **prefetch, struct tune_run *run, size_t number,
	struct search **search, struct error *err);
void prefetch_drop(struct prefetch **prefetch);

#endif
