/* SPDX-License-Identifier: MIT
 *
 * Units that are queued, being compiled, or done. Units with the same key are compiled once: later
 * ones are followers of the first. A unit that the cache has is done at once. The others go to a
 * pool of compilers (process/pool.h).
 */
#ifndef COMPILE_JOBS_H
#define COMPILE_JOBS_H

#include "compile/cache.h"
#include "compile/toolkit.h"
#include "process/pool.h"

struct job; /* one unit, until its result is taken */

enum {
	JOB_BUCKETS = 1024
};

struct jobs {
	struct cache *cache;            /* NULL: none */
	struct error cache_problem;     /* the first failure to write to it */
	const char *compiler;           /* its identity; borrowed */
	struct toolkit toolkit;         /* whose headers are part of keys */
	struct job *table[JOB_BUCKETS]; /* queued or being compiled, by key */
	struct compile_result *finished;
	size_t finished_at, finished_count,
		finished_capacity; /* those before finished_at are taken */
	size_t pending;            /* submitted and not yet taken */

	const char *worker_path, *library_path; /* of the executable, of NVRTC; borrowed */
	double timeout_s;                       /* per unit */
	struct pool pool;
};

/* The pool; the paths are set by then. */
void jobs_open(struct jobs *jobs, size_t processes);
void jobs_submit(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket);
bool jobs_take(struct jobs *jobs, struct compile_result *result);
void jobs_release(struct jobs *jobs); /* kills the processes */

#endif
