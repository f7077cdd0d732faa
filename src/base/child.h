/* SPDX-License-Identifier: MIT
 *
 * Child processes and the framed messages that we exchange with them.
 *
 * A worker is this program (or a path that an option names) started with a hidden command by
 * posix_spawn, never by fork: the parent may hold threads and locks. The child's standard input
 * and output carry frames; its standard error is ours, or a file. It dies with its parent
 * (child_follow_parent() is the first thing a worker calls).
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

struct child {
	pid_t pid;           /* 0: not running */
	int to_fd;           /* we write */
	int from_fd;         /* we read; close-on-exec, non-blocking is not set */
	struct text pending; /* bytes received that do not make a whole frame yet */
};

struct child_exit {
	bool by_signal;
	int code; /* exit code, or the signal's number */
};

/* arguments: NULL-terminated, arguments[0] included. stderr_path: NULL keeps ours. */
enum status child_start(struct child *child, const char *path, const char *const *arguments,
	const char *stderr_path, struct error *err);
void child_kill(struct child *child);              /* SIGKILL; does not wait */
struct child_exit child_reap(struct child *child); /* waits, closes, zeroes */
void child_describe_exit(
	struct child_exit how, struct text *text); /* "killed by signal 11 (...)" */
void child_follow_parent(void); /* in the child: SIGKILL me when my parent ends */

/* ---- frames: kind, size, payload ---- */
struct message {
	uint32_t kind;
	struct text payload;
};

enum message_result {
	MESSAGE_READY,
	MESSAGE_NONE,   /* time is up; what came in so far is kept */
	MESSAGE_CLOSED, /* the other side is gone, or spoke nonsense */
};

enum status message_send(int fd, uint32_t kind, const void *data, size_t size, struct error *err);
/* Waits up to timeout_s (negative: forever, 0: only what is there) for a whole frame.
 * `pending` carries bytes over between calls (child->pending, or one of the caller's). */
enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message);
void message_release(struct message *message);

#endif
