/* SPDX-License-Identifier: MIT */
#include "compile/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	PIPE_BYTES = 1 << 20, /* a whole unit fits: writing it never waits */
	LAST_WORDS = 600,
};

enum status worker_start(struct worker *worker, const char *path, struct error *err)
{
	static const char command[] = "worker-compile";
	const char *arguments[] = {path, command, NULL};
	char stderr_path[64] = "/dev/null";
	enum status status;

	*worker = (struct worker){.stderr_fd = memfd_create("compile-stderr", MFD_CLOEXEC)};
	if (worker->stderr_fd >= 0)
		snprintf(stderr_path, sizeof(stderr_path), "/proc/%d/fd/%d", (int)getpid(),
			worker->stderr_fd);
	status = child_start(&worker->child, path, arguments, stderr_path, err);
	if (status != STATUS_OK) {
		if (worker->stderr_fd >= 0)
			close(worker->stderr_fd);
		*worker = (struct worker){0};
		return status;
	}
	(void)fcntl(worker->child.to_fd, F_SETPIPE_SZ, PIPE_BYTES);
	(void)fcntl(worker->child.from_fd, F_SETPIPE_SZ, PIPE_BYTES);
	worker->state = WORKER_IDLE;
	return STATUS_OK;
}

/* A worker that has died must be an error here, not a signal to the whole program. */
static enum status send_quietly(
	int fd, enum wire_kind kind, const struct text *payload, struct error *err)
{
	const struct timespec no_time = {0};
	sigset_t broken_pipe, before, waiting;
	enum status status;
	bool was_waiting;

	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	sigpending(&waiting);
	was_waiting = sigismember(&waiting, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
	status = message_send(fd, kind, payload->data, payload->length, err);
	if (status != STATUS_OK && !was_waiting)
		sigtimedwait(&broken_pipe, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

enum status worker_load(struct worker *worker, const char *library_path, bool try, double timeout_s,
	struct error *err)
{
	struct text payload = {0};
	enum status status;

	wire_put_string(&payload, library_path);
	wire_put_u64(&payload, try);
	status = send_quietly(worker->child.to_fd, WIRE_LOAD, &payload, err);
	text_release(&payload);
	worker->state = WORKER_STARTING;
	worker->deadline_s = clock_seconds() + timeout_s;
	return status;
}

enum status worker_compile(
	struct worker *worker, const struct text *unit, double timeout_s, struct error *err)
{
	worker->state = WORKER_BUSY;
	worker->deadline_s = clock_seconds() + timeout_s;
	return send_quietly(worker->child.to_fd, WIRE_COMPILE, unit, err);
}

enum message_result worker_receive(struct worker *worker, struct message *message)
{
	return message_receive(worker->child.from_fd, &worker->child.pending, 0, message);
}

void worker_kill(struct worker *worker)
{
	child_kill(&worker->child);
	worker->state = WORKER_DYING;
}

static void append_last_words(int fd, struct text *how)
{
	char words[LAST_WORDS + 1];
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t got =
		end > 0 ? pread(fd, words, LAST_WORDS, end > LAST_WORDS ? end - LAST_WORDS : 0) : 0;

	while (got > 0 && (words[got - 1] == '\n' || words[got - 1] == '\0'))
		got--;
	if (got <= 0)
		return;
	words[got] = '\0';
	text_appendf(how, "; its last words: %s", words);
}

void worker_reap(struct worker *worker, struct text *how)
{
	child_kill(&worker->child);
	child_describe_exit(child_reap(&worker->child), how);
	if (worker->stderr_fd >= 0) {
		append_last_words(worker->stderr_fd, how);
		close(worker->stderr_fd);
	}
	*worker = (struct worker){0};
}
