/* SPDX-License-Identifier: MIT
 *
 * Worker processes, and the messages that we exchange with them.
 *
 * A worker is this program (or a path that an option names) started with a hidden command by
 * posix_spawn, never by fork: the parent may hold threads and locks. Its standard input and output
 * carry frames (process/message.h) or lines. It dies with its parent.
 */
#ifndef PROCESS_WORKER_H
#define PROCESS_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/message.h"

/* ---- the parent's side ---- */
struct worker {
	pid_t pid;            /* 0: not running */
	int to_fd;            /* we write */
	int from_fd;          /* we read; close-on-exec, non-blocking is not set */
	int stderr_fd;        /* what it prints there, kept; -1: it goes where ours goes */
	struct text pending;  /* bytes received that do not make a whole frame yet */
	struct text unsent;   /* bytes posted, while the pipe has no room for all of them */
	size_t sent;          /* of these */
	int64_t id;           /* of what it was asked last, where requests have numbers */
	double end_timeout_s; /* for waiting until it has ended; 0: 30 */
};

/* path: NULL for this executable. keep_stderr: for the last message that worker_end() tells.
 * Fails within a worker: a main() that does not serve the command would start itself without end.
 */
enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err);
/* Starts any program instead, found as a shell finds it, in `folder` (NULL: this process's). A
 * process of this executable (or of `path`) stands between, which serves the command
 * worker_program_command. It kills the program and everything that the program has started when
 * this process ends in any way, and what the program has left behind when the program ends.
 * stderr_fd receives standard error, and is closed by worker_end(); -1: this process's. */
enum status worker_start_program(struct worker *worker, const char *path,
	const char *const *command, const char *folder, int stderr_fd, struct error *err);
/* A file for the standard error of a user's program: $TILETUNE_PROGRAM_LOG, else one in memory. */
int worker_program_log(void);
/* Frames of message_pack(), or lines, to be written: now as far as the pipe takes them, the rest by
 * worker_flush(), called when to_fd can be written to. So we never wait for a process that is busy
 * or hangs; that one is gone shows when it is read from, never as a SIGPIPE. */
void worker_post(struct worker *worker, const struct text *frame);
void worker_flush(struct worker *worker);
/* Until it says something, or reads what was posted, which is written then. */
void worker_wait(struct worker *worker, double timeout_s);
/* Whether it has closed its output, as when it ends. */
bool worker_is_closed(const struct worker *worker);
/* SIGKILL to it and to what it started; does not wait. */
void worker_kill(struct worker *worker);
/* Kills it if it still runs, waits, closes. Appends to how (NULL is fine): "was killed by signal 11
 * (Segmentation fault)", "ended with exit code 3" or, if it still ran, "sent an invalid reply",
 * with its last message. Returns the exit code; -1 if a signal or this function ended it. */
int worker_end(struct worker *worker, struct text *how);
/* Whether worker_end() said that it was killed from outside, as when memory is short: it can be
 * retried. */
bool worker_was_killed(const struct text *how);

/* ---- the worker's side ---- */
/* The first call of a worker: ends it with its parent, and leaves standard output to any
 * libraries print. Returns where its frames go; negative: failed. */
int worker_begin(void);
/* The process that starts and watches a program: worker_program_command PARENT FOLDER COMMAND... */
extern const char worker_program_command[];
int worker_program_main(int count, char **arguments);

#endif
