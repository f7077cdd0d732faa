/* SPDX-License-Identifier: MIT */
#include "process/worker.h"

#include <dlfcn.h>
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
#include "record/record_wire.h"

enum {
	PIPE_BYTES_WANTED = 1 << 20,
	LAST_MESSAGE_BYTES = 600,
	FRAME_MAGIC = 0x74747331, /* "tts1" */
};

struct frame {
	uint32_t magic;
	uint32_t kind;
	uint64_t size;
};

/* Memory of a GPU takes seconds to give back. */
static const double end_timeout_default_s = 30;
/* A worker that is busy reads later; one that never does is as good as gone. */
static const double send_timeout_s = 300;
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

/* Asks for the child's folder. False: glibc 2.28, which the wheel starts with, cannot. */
static bool add_folder(posix_spawn_file_actions_t *actions, const char *folder)
{
	int (*add)(posix_spawn_file_actions_t *, const char *) = NULL;

	*(void **)&add = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addchdir_np");
	return add && add(actions, folder) == 0;
}

/* `env -C FOLDER ARGUMENTS` (coreutils 8.28): only the list is the caller's. */
static const char **words_in_folder(const char *folder, const char *const *arguments)
{
	const char *const before[] = {"env", "-C", folder};
	size_t count = 0;
	const char **words;

	while (arguments[count])
		count++;
	words = memory_zeroed(ARRAY_COUNT(before) + count + 1, sizeof(*words));
	memcpy(words, before, sizeof(before));
	memcpy(words + ARRAY_COUNT(before), arguments, count * sizeof(*words));
	return words;
}

/* Returns errno's number. */
static int spawn(pid_t *pid, const char *const *arguments, const char *folder, char **environment,
	int input, int output, int stderr_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	CLEANUP(memory_free) const char **in_folder = NULL;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (stderr_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, stderr_fd, STDERR_FILENO);
	if (folder && !add_folder(&actions, folder))
		arguments = in_folder = words_in_folder(folder, arguments);
	/* its own process group: an interrupt at the terminal is for us to handle */
	posix_spawnattr_init(&attributes);
	sigemptyset(&none);
	sigfillset(&defaults);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	result = posix_spawnp(pid, arguments[0], &actions, &attributes,
		(char *const *)(uintptr_t)arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return result;
}

/* Takes stderr_fd. */
static enum status start(struct worker *worker, const char *const *arguments, const char *folder,
	char **environment, int stderr_fd, struct error *err)
{
	int input[2] = {-1, -1}, output[2] = {-1, -1};
	pid_t pid = 0;
	int result = 0;

	*worker = (struct worker){.stderr_fd = -1};
	if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
		result = errno;
	if (result == 0)
		result =
			spawn(&pid, arguments, folder, environment, input[0], output[1], stderr_fd);
	if (result != 0) {
		error_set(err, STATUS_FAILED, "%s: starting a process: %s", arguments[0],
			strerror(result));
		close_pair(input);
		close_pair(output);
		if (stderr_fd >= 0)
			close(stderr_fd);
		return STATUS_FAILED;
	}
	close(input[0]);
	close(output[1]);
	worker->pid = pid;
	worker->stderr_fd = stderr_fd;
	worker->to_fd = input[1];
	fcntl(input[1], F_SETFL, O_NONBLOCK);
	worker->from_fd = output[0];
	/* neither side waits for the other while that is busy elsewhere */
	fcntl(worker->to_fd, F_SETPIPE_SZ, PIPE_BYTES_WANTED);
	fcntl(worker->from_fd, F_SETPIPE_SZ, PIPE_BYTES_WANTED);
	return STATUS_OK;
}

enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err)
{
	CLEANUP(memory_free) char *own = path ? NULL : path_executable();
	CLEANUP(memory_free) char **environment = child_environment();
	const char *const arguments[] = {path ? path : own, command, NULL};

	*worker = (struct worker){.stderr_fd = -1};
	if (getenv(inside_name)) {
		error_set(err, STATUS_FAILED,
			"%s: expected a process that is no worker, found %s in the environment "
			"of one that starts a worker",
			arguments[0], inside);
		return error_hint(err,
			"a program that uses the library serves the command `%s` first of all in "
			"its main()",
			command);
	}
	return start(worker, arguments, NULL, environment,
		keep_stderr ? memfd_create("worker-stderr", MFD_CLOEXEC) : -1, err);
}

enum status worker_start_program(
	struct worker *worker, const char *const *arguments, const char *folder, struct error *err)
{
	const char *log = getenv("TILETUNE_PROGRAM_LOG");
	const int stderr_fd = log ? open(log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
				  : memfd_create("program-stderr", MFD_CLOEXEC);

	return start(worker, arguments, folder, environ, stderr_fd, err);
}

/* Waits for bytes, until the deadline (infinite: forever), and adds them. */
static enum message_result receive_bytes(int fd, struct text *pending, double deadline)
{
	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		const double left = fmax(deadline - clock_seconds(), 0);
		char buffer[65536];
		ssize_t got;
		const int ready = poll(&wait, 1, isfinite(left) ? (int)(left * 1e3 + 0.999) : -1);

		if (ready == 0)
			return MESSAGE_NONE;
		if (ready < 0 && errno != EINTR)
			return MESSAGE_CLOSED;
		if (ready < 0)
			continue;
		got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return MESSAGE_CLOSED;
		text_append_bytes(pending, buffer, (size_t)got);
		return MESSAGE_READY;
	}
}

/* write(), but EPIPE without a SIGPIPE. */
static ssize_t write_quietly(int fd, const char *data, size_t size)
{
	const struct timespec no_time = {0};
	sigset_t broken_pipe, before, waiting;
	ssize_t written;
	int number;

	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	sigpending(&waiting);
	pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
	written = write(fd, data, size);
	number = errno;
	if (written < 0 && sigismember(&waiting, SIGPIPE) != 1)
		sigtimedwait(&broken_pipe, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = number;
	return written;
}

/* False: the process is gone (errno says how), and what was posted is dropped. */
static bool flush(struct worker *worker)
{
	struct text *unsent = &worker->unsent;
	size_t written = 0;
	bool lives = true;

	while (written < unsent->length && lives) {
		const ssize_t now = write_quietly(
			worker->to_fd, unsent->data + written, unsent->length - written);

		if (now < 0 && errno == EAGAIN)
			break;
		lives = now >= 0 || errno == EINTR;
		written += now > 0 ? (size_t)now : 0;
	}
	unsent->length = lives ? unsent->length - written : 0;
	if (written && unsent->length)
		memmove(unsent->data, unsent->data + written, unsent->length);
	return lives;
}

void worker_post(struct worker *worker, const struct text *frame)
{
	text_append_bytes(&worker->unsent, frame->data, frame->length);
	flush(worker);
}

void worker_flush(struct worker *worker)
{
	if (worker->unsent.length)
		flush(worker);
}

enum status worker_send(struct worker *worker, const struct text *frame, struct error *err)
{
	const double deadline = clock_seconds() + send_timeout_s;

	text_append_bytes(&worker->unsent, frame->data, frame->length);
	while (worker->unsent.length) {
		struct pollfd room = {.fd = worker->to_fd, .events = POLLOUT};
		const double left = deadline - clock_seconds();

		if (left <= 0)
			return error_set(err, STATUS_FAILED, "writing: it does not read");
		if (!flush(worker))
			return error_set(err, STATUS_FAILED, "writing: %s", strerror(errno));
		if (worker->unsent.length)
			poll(&room, 1, (int)(1e3 * left) + 1);
	}
	return STATUS_OK;
}

bool worker_is_closed(const struct worker *worker)
{
	struct text dropped = {0};
	enum message_result result;

	while ((result = receive_bytes(worker->from_fd, &dropped, 0)) == MESSAGE_READY)
		text_clear(&dropped);
	text_release(&dropped);
	return result == MESSAGE_CLOSED;
}

void worker_kill(struct worker *worker)
{
	if (worker->pid > 0)
		kill(-worker->pid, SIGKILL);
}

static void append_last_message(int fd, struct text *how)
{
	char message[LAST_MESSAGE_BYTES + 1];
	off_t end = lseek(fd, 0, SEEK_END);
	off_t from = end > LAST_MESSAGE_BYTES ? end - LAST_MESSAGE_BYTES : 0;
	ssize_t got = end > 0 ? pread(fd, message, LAST_MESSAGE_BYTES, from) : 0;

	while (got > 0 && (message[got - 1] == '\n' || message[got - 1] == '\0'))
		got--;
	if (got <= 0)
		return;
	message[got] = '\0';
	text_appendf(how, "; its last message: %s", message);
}

/* False: it does not end, as where a driver's call cannot be interrupted. It is left alone then. */
static bool reap(const struct worker *worker, int *status)
{
	const double end_timeout_s =
		worker->end_timeout_s > 0 ? worker->end_timeout_s : end_timeout_default_s;
	const double deadline = clock_seconds() + end_timeout_s;
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
		append_last_message(worker->stderr_fd, how);
	if (worker->stderr_fd >= 0)
		close(worker->stderr_fd);
	text_release(&worker->pending);
	text_release(&worker->unsent);
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
	const double deadline = timeout_s < 0 ? INFINITY : clock_seconds() + timeout_s;
	enum message_result result, more;

	while ((result = take_frame(pending, message)) == MESSAGE_NONE)
		if ((more = receive_bytes(fd, pending, deadline)) != MESSAGE_READY)
			return more;
	return result;
}

enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line)
{
	const double deadline = timeout_s < 0 ? INFINITY : clock_seconds() + timeout_s;
	const char *end;
	enum message_result more;

	while (!(end = pending->length ? memchr(pending->data, '\n', pending->length) : NULL)) {
		if (pending->length > LINE_BYTES_MAX)
			return MESSAGE_CLOSED;
		if ((more = receive_bytes(fd, pending, deadline)) != MESSAGE_READY)
			return more;
	}
	*line = (struct text){0};
	text_append_bytes(line, pending->data, (size_t)(end - pending->data));
	pending->length -= line->length + 1;
	memmove(pending->data, end + 1, pending->length);
	return MESSAGE_READY;
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
