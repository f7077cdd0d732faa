/* SPDX-License-Identifier: MIT */
#include "process/worker.h"

#include <errno.h>
#include <math.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/record_wire.h"

enum {
	PIPE_BYTES_WANTED = 1 << 20,
	LAST_WORDS_BYTES = 600,
	FRAME_MAGIC = 0x74747331, /* "tts1" */
};

struct frame {
	uint32_t magic;
	uint32_t kind;
	uint64_t size;
};

/* Memory of a GPU takes seconds to give back. */
static const double patience_default_s = 30;
static const uint64_t frame_size_max = (uint64_t)1 << 30;

extern char **environ;

/* Workers have this in their environment. A program that links us and does not serve the worker's
 * command would else run its own main again, start workers there, and so on without end. */
static const char inside_name[] = "TILETUNE_INSIDE_WORKER";
static char inside[] = "TILETUNE_INSIDE_WORKER=1";

/* ---- the parent's side ---- */
static char **child_environment(void)
{
	char **variables;
	size_t count = 0;

	while (environ && environ[count])
		count++;
	variables = memory_zeroed(count + 2, sizeof(*variables));
	if (count)
		memcpy(variables, environ, count * sizeof(*variables));
	variables[count] = inside;
	return variables;
}

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

/* Room that a write has without waiting for the reader. */
static size_t pipe_room(int fd)
{
	int size = fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES_WANTED);

	if (size < 0)
		size = fcntl(fd, F_GETPIPE_SZ);
	/* small writes fill whole pages: count on half */
	return size > 0 ? (size_t)size / 2 : PIPE_BUF;
}

/* Returns errno's number. */
static int spawn(
	pid_t *pid, const char *path, const char *command, int input, int output, int stderr_fd)
{
	const char *const arguments[] = {path, command, NULL};
	CLEANUP(memory_free) char **environment = child_environment();
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (stderr_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, stderr_fd, STDERR_FILENO);
	/* its own process group: an interrupt at the terminal is for us to handle */
	posix_spawnattr_init(&attributes);
	sigemptyset(&none);
	sigfillset(&defaults);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	result = posix_spawn(
		pid, path, &actions, &attributes, (char *const *)(uintptr_t)arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return result;
}

enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err)
{
	int input[2] = {-1, -1}, output[2] = {-1, -1};
	CLEANUP(memory_free) char *own = path ? NULL : path_executable();
	const char *program = path ? path : own;
	pid_t pid = 0;
	int result = 0;

	*worker = (struct worker){.stderr_fd = -1};
	if (getenv(inside_name)) {
		error_set(err, STATUS_FAILED,
			"%s: expected a process that is no worker, found %s in the environment "
			"of one that starts a worker",
			program, inside);
		return error_hint(err,
			"a program that uses the library serves the command `%s` first of all in "
			"its main()",
			command);
	}
	if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
		result = errno;
	if (result == 0 && keep_stderr)
		worker->stderr_fd = memfd_create("worker-stderr", MFD_CLOEXEC);
	if (result == 0)
		result = spawn(&pid, program, command, input[0], output[1], worker->stderr_fd);
	if (result != 0) {
		error_set(
			err, STATUS_FAILED, "%s: starting a worker: %s", program, strerror(result));
		close_pair(input);
		close_pair(output);
		if (worker->stderr_fd >= 0)
			close(worker->stderr_fd);
		*worker = (struct worker){.stderr_fd = -1};
	} else {
		close(input[0]);
		close(output[1]);
		worker->pid = pid;
		worker->to_fd = input[1];
		worker->from_fd = output[0];
		worker->pipe_bytes = pipe_room(worker->to_fd);
		/* nor must the worker wait for us to read while we are busy elsewhere */
		pipe_room(worker->from_fd);
	}
	return result == 0 ? STATUS_OK : STATUS_FAILED;
}

enum status worker_send(struct worker *worker, const struct text *frame, struct error *err)
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
	status = file_write_all(worker->to_fd, frame->data, frame->length, err);
	if (status != STATUS_OK && !was_waiting)
		sigtimedwait(&broken_pipe, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

void worker_kill(struct worker *worker)
{
	if (worker->pid > 0)
		kill(worker->pid, SIGKILL);
}

static void append_last_words(int fd, struct text *how)
{
	char words[LAST_WORDS_BYTES + 1];
	off_t end = lseek(fd, 0, SEEK_END);
	off_t from = end > LAST_WORDS_BYTES ? end - LAST_WORDS_BYTES : 0;
	ssize_t got = end > 0 ? pread(fd, words, LAST_WORDS_BYTES, from) : 0;

	while (got > 0 && (words[got - 1] == '\n' || words[got - 1] == '\0'))
		got--;
	if (got <= 0)
		return;
	words[got] = '\0';
	text_appendf(how, "; its last words: %s", words);
}

/* False: it does not end, as where a driver's call cannot be interrupted. It is left alone then. */
static bool reap(const struct worker *worker, int *status)
{
	const double patience_s = worker->patience_s > 0 ? worker->patience_s : patience_default_s;
	const double deadline = clock_seconds() + patience_s;
	double pause_s = 0.0005;
	pid_t ended;

	while ((ended = waitpid(worker->pid, status, WNOHANG)) == 0 ||
		(ended < 0 && errno == EINTR)) {
		if (clock_seconds() > deadline)
			return false;
		clock_sleep(pause_s);
		pause_s = fmin(2 * pause_s, 0.05);
	}
	return true;
}

void worker_end(struct worker *worker, struct text *how)
{
	int status = 0;

	if (worker->pid <= 0)
		return;
	worker_kill(worker);
	close(worker->to_fd);
	close(worker->from_fd);
	if (!reap(worker, &status)) {
		if (how)
			text_append(how, "killed, and has not ended: a call of the system or of a "
					 "driver does not return");
	} else if (how && WIFSIGNALED(status))
		text_appendf(how, "killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (how)
		text_appendf(how, "ended with exit code %d", WEXITSTATUS(status));
	if (how && worker->stderr_fd >= 0)
		append_last_words(worker->stderr_fd, how);
	if (worker->stderr_fd >= 0)
		close(worker->stderr_fd);
	text_release(&worker->pending);
	*worker = (struct worker){.stderr_fd = -1};
}

bool worker_was_killed(const struct text *how)
{
	return string_starts_with(text_string(how), "killed by signal 9 ");
}

/* ---- the worker's side ---- */
int worker_begin(void)
{
	int fd;

	/* A parent that ended before this line closed our input: the worker's loop sees that. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return fd;
}

/* ---- messages ---- */
void message_pack(uint32_t kind, const struct record *record, const void *value, struct text *frame)
{
	struct frame header = {FRAME_MAGIC, kind, 0};
	const size_t start = frame->length;

	text_append_bytes(frame, &header, sizeof(header));
	if (record)
		record_pack(record, value, frame);
	header.size = frame->length - start - sizeof(header);
	memcpy(frame->data + start, &header, sizeof(header));
}

enum status message_send(
	int fd, uint32_t kind, const struct record *record, const void *value, struct error *err)
{
	struct text frame = {0};
	enum status status;

	message_pack(kind, record, value, &frame);
	status = file_write_all(fd, frame.data, frame.length, err);
	text_release(&frame);
	return status;
}

/* Takes a whole frame out of pending, if there is one. */
static enum message_result take_frame(struct text *pending, struct message *message)
{
	struct frame frame;
	size_t whole;

	if (pending->length < sizeof(frame))
		return MESSAGE_NONE;
	memcpy(&frame, pending->data, sizeof(frame));
	if (frame.magic != FRAME_MAGIC || frame.size > frame_size_max)
		return MESSAGE_CLOSED;
	whole = sizeof(frame) + (size_t)frame.size;
	if (pending->length < whole)
		return MESSAGE_NONE;
	message->kind = frame.kind;
	message->payload = (struct text){0};
	text_append_bytes(&message->payload, pending->data + sizeof(frame), (size_t)frame.size);
	memmove(pending->data, pending->data + whole, pending->length - whole);
	pending->length -= whole;
	return MESSAGE_READY;
}

enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message)
{
	double deadline = clock_seconds() + timeout_s;

	for (;;) {
		enum message_result result = take_frame(pending, message);
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		double left = deadline - clock_seconds();
		char buffer[65536];
		ssize_t got;
		int ready;

		if (result != MESSAGE_NONE)
			return result;
		if (timeout_s >= 0 && left < 0)
			left = 0;
		ready = poll(&wait, 1, timeout_s < 0 ? -1 : (int)(left * 1e3 + 0.999));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0)
			return MESSAGE_CLOSED;
		if (ready == 0)
			return MESSAGE_NONE;
		got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return MESSAGE_CLOSED;
		text_append_bytes(pending, buffer, (size_t)got);
	}
}

enum status message_unpack(const struct message *message, const struct record *record,
	const char *what, void *value, struct error *err)
{
	memset(value, 0, record->size);
	return record_unpack(record, text_string(&message->payload), message->payload.length, what,
		value, NULL, err);
}

void message_release(struct message *message)
{
	text_release(&message->payload);
	*message = (struct message){0};
}
