/* SPDX-License-Identifier: MIT
 *
 * Candidates of the next problem, found and scored in a thread while the device measures those of
 * another problem.
 */
#ifndef TUNE_PREFETCH_H
#define TUNE_PREFETCH_H

#include "tune/search.h"

struct prefetch;

/* The search of a problem of the run's list: what was prefetched, if that is this problem.
 * Then the following problem is prefetched. *prefetch is NULL the first time. */
enum status prefetch_search(struct prefetch **prefetch, struct tune_run *run, size_t number,
	struct search **search, struct error *err);
void prefetch_drop(struct prefetch **prefetch);

#endif
