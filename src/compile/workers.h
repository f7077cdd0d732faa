/* SPDX-License-Identifier: MIT
 *
 * The compiler's worker processes: started as there is work for them, handed one unit each,
 * replaced when they die or take too long. Nothing here waits but compile_workers_wait() and the
 * end of a process that is already dead.
 */
#ifndef COMPILE_WORKERS_H
#define COMPILE_WORKERS_H

#include <poll.h>

#include "compile/jobs.h"
#include "process/worker.h"

enum slot_state {
	SLOT_ABSENT,
	SLOT_STARTING, /* loads the library */
	SLOT_IDLE,
	SLOT_BUSY,  /* compiles */
	SLOT_DYING, /* killed; its end is not seen yet */
};

struct slot {
	enum slot_state state;
	struct worker worker;
	double deadline_s; /* on clock_seconds(), while starting or busy */
	struct job *job;   /* what it compiles */
};

struct compile_workers {
	const char *path, *library_path; /* of the executable, of NVRTC; borrowed */
	double timeout_s;                /* per unit */
	struct slot *slots;
	unsigned slot_count;
	unsigned start_failures; /* in a row */
};

/* Starts a process in an absent slot, as yet without a library. */
enum status compile_slot_start(struct slot *slot, const char *path, struct error *err);
/* Asks it to load a library (and to try it). A process that is gone shows when it is read from. */
void compile_slot_load(struct slot *slot, const char *library_path, bool try, double timeout_s);
void compile_slot_end(struct slot *slot, struct text *how); /* how it ended is appended; or NULL */

/* Takes answers, replaces processes that died or took too long, hands out units. */
void compile_workers_advance(struct compile_workers *workers, struct jobs *jobs);
/* Waits for an answer or a deadline, at most timeout_s (negative: no limit). */
void compile_workers_wait(const struct compile_workers *workers, double timeout_s);
size_t compile_workers_fds(const struct compile_workers *workers, struct pollfd *fds, size_t max);
void compile_workers_end(struct compile_workers *workers);

#endif
