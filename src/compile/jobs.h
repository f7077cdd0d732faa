/* SPDX-License-Identifier: MIT
 *
 * Units that are queued, being compiled, or done. Units with the same key are compiled once: later
 * ones are followers of the first. A unit that the cache has is done at once.
 * Worker processes are started as there is work for them, handed one unit each, replaced when they
 * die or take too long. Nothing here waits but jobs_wait() and the end of a process that is already
 * dead.
 */
#ifndef COMPILE_JOBS_H
#define COMPILE_JOBS_H

#include "compile/cache.h"
#include "compile/toolkit.h"
#include "process/worker.h"

struct job; /* one unit, until its result is taken */

enum process_state {
	PROCESS_ABSENT,
	PROCESS_STARTING, /* loads the library */
	PROCESS_IDLE,
	PROCESS_BUSY,  /* compiles */
	PROCESS_DYING, /* killed; its end is not seen yet */
};

struct compile_process {
	enum process_state state;
	struct worker worker;
	double deadline_s; /* on clock_seconds(), while starting or busy */
	struct job *job;   /* what it compiles */
};

enum {
	JOB_BUCKETS = 1024
};

struct jobs {
	struct cache *cache;        /* NULL: none */
	struct error cache_problem; /* the first failure to write to it */
	const char *compiler;       /* its identity; borrowed */
	struct toolkit toolkit;     /* whose headers are part of keys */
	struct job *first, *last;   /* queued */
	size_t queued;
	struct job *table[JOB_BUCKETS]; /* queued or being compiled, by key */
	struct compile_result *finished;
	size_t finished_at, finished_count,
		finished_capacity; /* those before finished_at are taken */
	size_t pending;            /* submitted and not yet taken */

	const char *worker_path, *library_path; /* of the executable, of NVRTC; borrowed */
	double timeout_s;                       /* per unit */
	struct compile_process *processes;
	unsigned process_count;
	unsigned start_failures; /* in a row */
};

void jobs_submit(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket);
bool jobs_take(struct jobs *jobs, struct compile_result *result);
/* Takes answers, replaces processes that died or took too long, hands out units. */
void jobs_advance(struct jobs *jobs);
/* Waits for an answer or a deadline, at most timeout_s (negative: no limit). */
void jobs_wait(const struct jobs *jobs, double timeout_s);
size_t jobs_fds(const struct jobs *jobs, struct pollfd *fds, size_t max);
void jobs_release(struct jobs *jobs); /* kills the processes */

/* ---- one process, for finding the library ---- */
/* Starts one that is absent, as yet without a library. */
enum status compile_process_start(
	struct compile_process *process, const char *path, struct error *err);
/* Asks it to load a library (and to try it). A process that is gone shows when it is read from. */
void compile_process_load(
	struct compile_process *process, const char *library_path, bool try, double timeout_s);
void compile_process_end(
	struct compile_process *process, struct text *how); /* how it ended is appended; or NULL */

#endif
