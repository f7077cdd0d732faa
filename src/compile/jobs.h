/* SPDX-License-Identifier: MIT
 *
 * Units on their way through the compiler: queued, compiled, done. Units that are the same (same
 * key) are compiled once, and later ones follow the first; what the cache has is done at once.
 * Worker processes are started as there is work for them, handed one unit each, replaced when they
 * die or take too long. Nothing here waits but jobs_wait() and the end of a process that is already
 * dead.
 */
#ifndef COMPILE_JOBS_H
#define COMPILE_JOBS_H

#include "compile/cache.h"
#include "compile/headers.h"
#include "process/worker.h"

struct job; /* one unit under way */

enum slot_state {
	SLOT_ABSENT,
	SLOT_STARTING, /* loads the library */
	SLOT_IDLE,
	SLOT_BUSY,  /* compiles */
	SLOT_DYING, /* killed; its end is not seen yet */
};

/* A process. */
struct slot {
	enum slot_state state;
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
	char **header_folders;      /* of the toolkit */
	struct headers *headers;
	struct job *first, *last; /* queued */
	size_t queued;
	struct job *table[JOB_BUCKETS]; /* queued or being compiled, by key */
	struct compile_result *finished;
	size_t finished_at, finished_count, finished_capacity; /* taken up to finished_at */
	size_t pending;                                        /* submitted and not yet taken */

	const char *worker_path, *library_path; /* of the executable, of NVRTC; borrowed */
	double timeout_s;                       /* per unit */
	struct slot *slots;
	unsigned slot_count;
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
/* Starts a process in an absent slot, as yet without a library. */
enum status compile_slot_start(struct slot *slot, const char *path, struct error *err);
/* Asks it to load a library (and to try it). A process that is gone shows when it is read from. */
void compile_slot_load(struct slot *slot, const char *library_path, bool try, double timeout_s);
void compile_slot_end(struct slot *slot, struct text *how); /* how it ended is appended; or NULL */

#endif
