/* SPDX-License-Identifier: MIT
 *
 * Finds and scores the candidates of the next problem in a thread while the device measures
 * those of the current one.
 */
#ifndef TUNE_PREFETCH_H
#define TUNE_PREFETCH_H

#include "tune/search.h"

struct prefetch;

/* Returns the search of a problem of the run, which is the prefetched one if that is for this
 * problem, and starts prefetching the next problem. *prefetch is NULL before the first call. */
enum status prefetch_search(struct prefetch **prefetch, struct tune_run *run, size_t number,
	struct search **search, struct error *err);
void prefetch_drop(struct prefetch **prefetch);

#endif
