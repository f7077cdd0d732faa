/* SPDX-License-Identifier: MIT
 *
 * Worker processes: this program with a hidden command, or a user's program. They exchange lines
 * (process/message.h) and die with their parent.
 */
#ifndef PROCESS_WORKER_H
#define PROCESS_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/message.h"

/* ---- the parent's side ---- */
struct worker {
	pid_t pid;           /* 0: not running */
	int to_fd;           /* non-blocking pipe to standard input */
	int from_fd;         /* blocking pipe from standard output */
	int stderr_fd;       /* file for standard error; -1 shares this process's */
	struct text pending; /* bytes of an incomplete line */
	struct text unsent;  /* posted bytes; `sent` of them are in the pipe */
	size_t sent;
	int64_t id;           /* id of the last request */
	double end_timeout_s; /* time limit of worker_end(); 0 selects 30 s */
};

/* path NULL selects this executable. With keep_stderr, worker_end() reports the end of standard
 * error. A worker cannot start workers. */
enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err);
/* Starts a program in `folder` (NULL: this process's) through a watcher, which kills the program
 * when this process ends, and its descendants when the program ends. Takes stderr_fd; -1 shares
 * standard error. */
enum status worker_start_program(struct worker *worker, const char *path,
	const char *const *command, const char *folder, int stderr_fd, struct error *err);
/* Opens $TILETUNE_PROGRAM_LOG or a file in memory, for standard error. */
enum status worker_program_log(int *fd, struct error *err);
/* Writes what fits into the pipe; worker_flush() writes the rest. Never waits. */
void worker_post(struct worker *worker, const struct text *lines);
void worker_flush(struct worker *worker);
/* Returns whether the process has closed its output, usually by ending. */
bool worker_is_closed(const struct worker *worker);
/* Sends SIGKILL, also to descendants; does not wait. */
void worker_kill(struct worker *worker);
/* Kills the process if it still runs, and waits for its end. Appends to how (may be NULL) e.g. "was
 * killed by signal 11 (Segmentation fault)" or, if it still ran, "sent an invalid reply", with its
 * last message. Returns the exit code; -1 after a kill. */
int worker_end(struct worker *worker, struct text *how);
/* Returns whether worker_end() reported a SIGKILL from outside, e.g. due to low memory. */
bool worker_was_killed(const struct text *how);

/* ---- the worker's side ---- */
/* Must be a worker's first call. Standard output then goes to standard error. Returns the
 * descriptor for replies; negative on failure. */
int worker_begin(void);
/* The watcher's arguments are PARENT FOLDER COMMAND... */
extern const char worker_program_command[];
int worker_program_main(int count, char **arguments);

#endif
