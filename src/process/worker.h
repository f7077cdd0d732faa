/* SPDX-License-Identifier: MIT
 *
 * Worker processes, and the messages that we exchange with them.
 *
 * A worker is this program (or a path that an option names) started with a hidden command by
 * posix_spawn, never by fork: the parent may hold threads and locks. Its standard input and output
 * carry frames (magic, kind, size, payload; host byte order), the payload being a packed record
 * (record/record_wire.h). It dies with its parent.
 */
#ifndef PROCESS_WORKER_H
#define PROCESS_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/record.h"
#include "base/text.h"

/* ---- the parent's side ---- */
struct worker {
	pid_t pid;            /* 0: not running */
	int to_fd;            /* we write */
	int from_fd;          /* we read; close-on-exec, non-blocking is not set */
	int stderr_fd;        /* what it prints there, kept; -1: it goes where ours goes */
	struct text pending;  /* bytes received that do not make a whole frame yet */
	struct text unsent;   /* bytes posted that the pipe has no room for yet */
	int64_t id;           /* of what it was asked last, where requests have numbers */
	double end_timeout_s; /* for waiting until it has ended; 0: 30 */
};

/* path: NULL for this executable. keep_stderr: for the last message that worker_end() tells.
 * Fails within a worker: a main() that does not serve the command would start itself without end.
 */
enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err);
/* A program of the user's instead, found as a shell finds it, which works in `folder` (NULL: ours)
 * and says what its lines mean. What it prints on standard error is kept, or appended to the file
 * that TILETUNE_PROGRAM_LOG names. */
enum status worker_start_program(
	struct worker *worker, const char *const *arguments, const char *folder, struct error *err);
/* Frames of message_pack(), or lines, to be written: now as far as the pipe takes them, the rest by
 * worker_flush(), called when to_fd can be written to. So we never wait for a process that is busy
 * or hangs; that one is gone shows when it is read from, never as a SIGPIPE. */
void worker_post(struct worker *worker, const struct text *frame);
void worker_flush(struct worker *worker);
/* The same, waiting until all is written; a process that is gone is an error. */
enum status worker_send(struct worker *worker, const struct text *frame, struct error *err);
/* Whether it has closed its output, as when it ends; what it says is dropped. */
bool worker_is_closed(const struct worker *worker);
/* SIGKILL to it and to what it started; does not wait. */
void worker_kill(struct worker *worker);
/* Kills it if it still runs, waits, closes. Appends to how (NULL is fine): "killed by signal 11
 * (Segmentation fault)", "ended with exit code 3", with its last message. */
void worker_end(struct worker *worker, struct text *how);
/* Whether worker_end() said that it was killed from outside, as when memory is short: it can be
 * retried. */
bool worker_was_killed(const struct text *how);

/* ---- the worker's side ---- */
/* The first call of a worker: ends it with its parent, and leaves standard output to any
 * libraries print. Returns where its frames go; negative: failed. */
int worker_begin(void);

/* ---- messages ---- */
struct message {
	uint32_t kind;
	struct text payload;
};

enum {
	LINE_BYTES_MAX = 1 << 20
};

enum message_result {
	MESSAGE_READY,
	MESSAGE_NONE,   /* time is up; what came in so far is kept */
	MESSAGE_CLOSED, /* the other side is gone, or spoke nonsense */
};

/* Appends a frame. record: NULL for no payload. */
void message_pack(
	uint32_t kind, const struct record *record, const void *value, struct text *frame);
enum status message_send(
	int fd, uint32_t kind, const struct record *record, const void *value, struct error *err);
/* Waits up to timeout_s (negative: forever, 0: only what is there) for a whole frame.
 * `pending` carries bytes over between calls. */
enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message);
/* The same for a line, without its end; more than LINE_BYTES_MAX without one is nonsense. */
enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line);
/* value is zeroed first; STATUS_FAILED if the payload is no such record. `what` names the sender.
 */
enum status message_unpack(const struct message *message, const struct record *record,
	const char *what, void *value, struct error *err);
void message_release(struct message *message);

#endif
