/* SPDX-License-Identifier: MIT
 *
 * The parent's side of one worker process: start, hand out a unit, take its answer, end it.
 * Nothing here waits, except worker_reap() for a process that has already closed its pipes.
 */
#ifndef COMPILE_WORKER_H
#define COMPILE_WORKER_H

#include "base/child.h"
#include "base/text.h"
#include "compile/wire.h"

enum worker_state {
	WORKER_ABSENT,
	WORKER_STARTING, /* loads the library */
	WORKER_IDLE,
	WORKER_BUSY,  /* compiles */
	WORKER_DYING, /* killed; its end is not seen yet */
};

struct worker {
	enum worker_state state;
	struct child child;
	int stderr_fd;     /* what it printed; -1: nowhere */
	double deadline_s; /* on clock_seconds(), while starting or busy */
};

/* path: an executable that knows the command `worker-compile`. */
enum status worker_start(struct worker *worker, const char *path, struct error *err);

/* Asks it to load a library (try: and to compile a trial), or to compile a packed unit. A worker
 * reads whenever it is not busy, so this does not wait for it. */
enum status worker_load(struct worker *worker, const char *library_path, bool try, double timeout_s,
	struct error *err);
enum status worker_compile(
	struct worker *worker, const struct text *unit, double timeout_s, struct error *err);

/* An answer that is there. */
enum message_result worker_receive(struct worker *worker, struct message *message);

void worker_kill(struct worker *worker); /* WORKER_DYING */

/* Ends it for good (kills what is left), appends how it ended and its last words. */
void worker_reap(struct worker *worker, struct text *how);

#endif
