/* SPDX-License-Identifier: MIT
 *
 * Worker processes, and the pipes to and from them.
 *
 * A worker is this program (or a path that an option names) started with a hidden command by
 * posix_spawn, never by fork: the parent may hold threads and locks. Its standard input and output
 * carry lines (process/message.h). It dies with its parent.
 */
#ifndef PROCESS_WORKER_H
#define PROCESS_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/message.h"

/* ---- the parent's side ---- */
struct worker {
	pid_t pid;           /* 0 if not running */
	int to_fd;           /* non-blocking pipe to standard input */
	int from_fd;         /* blocking pipe from standard output */
	int stderr_fd;       /* file with standard error; -1: shared with this process */
	struct text pending; /* bytes received that do not make a whole line yet */
	struct text unsent;  /* bytes posted, of which the first `sent` are in the pipe */
	size_t sent;
	int64_t id;           /* of the last request, if the protocol numbers requests */
	double end_timeout_s; /* limit of worker_end(); 0: 30 s */
};

/* A NULL path means this executable. keep_stderr stores standard error, whose end worker_end()
 * reports. Fails within a worker, because a main() that does not serve the command would start
 * itself without end. */
enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err);
/* Starts any program instead, found as a shell finds it, in `folder` (NULL: this process's). A
 * watcher process of this executable (or of `path`) runs the program with worker_program_command.
 * When this process ends in any way, the watcher kills the program and all its descendants. When
 * the program ends, the watcher kills the processes that the program left behind. stderr_fd
 * receives standard error, and is closed by worker_end(); -1: this process's. */
enum status worker_start_program(struct worker *worker, const char *path,
	const char *const *command, const char *folder, int stderr_fd, struct error *err);
/* Opens a file for the standard error of a user's program: $TILETUNE_PROGRAM_LOG, else one in
 * memory. */
enum status worker_program_log(int *fd, struct error *err);
/* Writes as much of the lines as the pipe has room for. worker_flush() writes the rest when to_fd
 * is writable, so that the caller never waits for a process that is busy or hangs. The end of the
 * process shows when its output is read, never as a SIGPIPE. */
void worker_post(struct worker *worker, const struct text *lines);
void worker_flush(struct worker *worker);
/* Returns whether the process has closed its output, usually because it has ended. */
bool worker_is_closed(const struct worker *worker);
/* Sends SIGKILL to the process and to everything that it has started; does not wait. */
void worker_kill(struct worker *worker);
/* Kills the process if it still runs, waits for its end, and closes the pipes. Appends to how (NULL
 * is fine): "was killed by signal 11 (Segmentation fault)", "ended with exit code 3" or, if it
 * still ran, "sent an invalid reply", with its last message. Returns the exit code; -1 if a signal
 * or this function ended it. */
int worker_end(struct worker *worker, struct text *how);
/* Returns whether worker_end() reported a SIGKILL from outside, e.g. due to low memory. The request
 * can be repeated then. */
bool worker_was_killed(const struct text *how);

/* ---- the worker's side ---- */
/* Must be the first call of a worker. The process then ends with its parent, and libraries that
 * print to standard output print to standard error instead. Returns the descriptor for replies, or
 * a negative number on failure. */
int worker_begin(void);
/* The hidden command that starts and watches a program: worker-program PARENT FOLDER COMMAND... */
extern const char worker_program_command[];
int worker_program_main(int count, char **arguments);

#endif
