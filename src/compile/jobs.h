/* SPDX-License-Identifier: MIT
 *
 * Units on their way through the compiler: queued, compiled, done. Units that are the same (same
 * key) are compiled once, and later ones follow the first; what the cache has is done at once.
 */
#ifndef COMPILE_JOBS_H
#define COMPILE_JOBS_H

#include "compile/cache.h"

struct job {
	struct job *next;      /* in the queue, or among followers */
	struct job *next_same; /* in a bucket of the table */
	struct job *followers;
	uint64_t ticket;
	char key[HASH_SIZE];
	char *name, *arch;
	struct text frame; /* for the worker */
};

enum {
	JOB_BUCKETS = 1024
};

struct jobs {
	struct cache *cache;        /* NULL: none */
	struct error cache_problem; /* the first failure to write to it */
	const char *compiler;       /* its identity; borrowed */
	struct job *first, *last;   /* queued */
	size_t queued;
	struct job *table[JOB_BUCKETS]; /* queued or being compiled, by key */
	struct compile_result *finished;
	size_t finished_at, finished_count, finished_capacity; /* taken up to finished_at */
	size_t pending;                                        /* submitted and not yet taken */
};

void jobs_submit(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket);
struct job *jobs_next(struct jobs *jobs); /* off the queue; NULL when it is empty */
/* Takes job and result: stores it, and answers the job's ticket and those that follow it. */
void jobs_finish(struct jobs *jobs, struct job *job, struct compile_result result);
/* The same with an outcome without a kernel. */
void jobs_fail(struct jobs *jobs, struct job *job, enum outcome outcome, const char *log);
bool jobs_take(struct jobs *jobs, struct compile_result *result);
void job_free(struct job *job); /* with its followers; NULL is fine */
void jobs_release(struct jobs *jobs);

#endif
