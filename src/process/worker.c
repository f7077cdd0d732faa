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

enum {
	PIPE_BYTES_WANTED = 1 << 20,
	LAST_MESSAGE_BYTES = 600,
};

/* Releasing the memory of a GPU takes seconds. */
static const double end_timeout_default_s = 30;

extern char **environ;

/* Marks workers: a main() that does not serve the worker's command would start workers without
 * end. */
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

static int spawn(pid_t *pid, const char *const *arguments, char **environment, int input,
	int output, int stderr_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (stderr_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, stderr_fd, STDERR_FILENO);
	/* the group must not get the terminal's interrupt */
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

/* Takes ownership of stderr_fd. */
static enum status start(struct worker *worker, const char *path, const char **arguments,
	int stderr_fd, struct error *err)
{
	CLEANUP(memory_free) char *own = path ? NULL : path_executable();
	CLEANUP(memory_free) char **environment = child_environment();
	int input[2] = {-1, -1}, output[2] = {-1, -1};
	pid_t pid = 0;
	int result = EPERM;

	arguments[0] = path ? path : own;
	*worker = (struct worker){.stderr_fd = -1};
	if (getenv(inside_name)) {
		error_set(err, STATUS_FAILED, "%s: a worker process must not start workers",
			arguments[0]);
		error_hint(err,
			"a program that uses the library must handle the command `%s` at the start "
			"of its main()",
			arguments[1]);
	} else {
		result = pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0
				 ? errno
				 : spawn(&pid, arguments, environment, input[0], output[1],
					   stderr_fd);
		if (result != 0)
			error_set(err, STATUS_FAILED, "%s: the process cannot be started: %s",
				arguments[0], strerror(result));
	}
	if (result == 0) {
		*worker = (struct worker){.pid = pid,
			.to_fd = input[1],
			.from_fd = output[0],
			.stderr_fd = stderr_fd};
		fcntl(worker->to_fd, F_SETFL, O_NONBLOCK);
		fcntl(worker->to_fd, F_SETPIPE_SZ, PIPE_BYTES_WANTED);
		fcntl(worker->from_fd, F_SETPIPE_SZ, PIPE_BYTES_WANTED);
		input[1] = output[0] = stderr_fd = -1;
	}
	close_pair(input);
	close_pair(output);
	if (stderr_fd >= 0)
		close(stderr_fd);
	return result == 0 ? STATUS_OK : STATUS_FAILED;
}

enum status worker_start(struct worker *worker, const char *path, const char *command,
	bool keep_stderr, struct error *err)
{
	const char *arguments[] = {NULL, command, NULL};

	return start(worker, path, arguments,
		keep_stderr ? memfd_create("worker-stderr", MFD_CLOEXEC) : -1, err);
}

enum status worker_start_program(struct worker *worker, const char *path,
	const char *const *command, const char *folder, int stderr_fd, struct error *err)
{
	char parent[24];
	size_t count = 0;

	while (command[count])
		count++;
	CLEANUP(memory_free) const char **arguments = memory_zeroed(count + 5, sizeof(*arguments));

	snprintf(parent, sizeof(parent), "%ld", (long)getpid());
	arguments[1] = worker_program_command;
	arguments[2] = parent;
	arguments[3] = folder ? folder : ".";
	memcpy(arguments + 4, command, count * sizeof(*arguments));
	return start(worker, path, arguments, stderr_fd, err);
}

enum status worker_program_log(int *fd, struct error *err)
{
	const char *log = getenv("TILETUNE_PROGRAM_LOG");

	*fd = log ? file_open_append(log, err) : memfd_create("program-stderr", MFD_CLOEXEC);
	return *fd >= 0 || !log ? STATUS_OK : error_context(err, "TILETUNE_PROGRAM_LOG");
}

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

void worker_flush(struct worker *worker)
{
	struct text *unsent = &worker->unsent;

	while (worker->sent < unsent->length) {
		const ssize_t now = write_quietly(
			worker->to_fd, unsent->data + worker->sent, unsent->length - worker->sent);

		if (now < 0 && errno == EAGAIN)
			return;
		if (now < 0 && errno != EINTR)
			break;
		worker->sent += now > 0 ? (size_t)now : 0;
	}
	text_clear(unsent);
	worker->sent = 0;
}

void worker_post(struct worker *worker, const struct text *lines)
{
	text_append_bytes(&worker->unsent, lines->data, lines->length);
	worker_flush(worker);
}

bool worker_is_closed(const struct worker *worker)
{
	struct pollfd end = {.fd = worker->from_fd};

	return poll(&end, 1, 0) > 0; /* POLLHUP */
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
	text_appendf(how, "; its last message:%c%s", strchr(message, '\n') ? '\n' : ' ', message);
}

/* Returns false if the process does not end, for example in a driver call. */
static bool reap(const struct worker *worker, int *status)
{
	const double end_timeout_s =
		worker->end_timeout_s > 0 ? worker->end_timeout_s : end_timeout_default_s;
	const double deadline = clock_seconds() + end_timeout_s;
	double pause_s = 0.0005;

	while (waitpid(worker->pid, status, WNOHANG) == 0) {
		if (clock_seconds() > deadline)
			return false;
		clock_sleep(pause_s);
		pause_s = fmin(2 * pause_s, 0.05);
	}
	return true;
}

int worker_end(struct worker *worker, struct text *how)
{
	const bool has_ended = worker->pid > 0 && worker_is_closed(worker);
	CLEANUP(text_release) struct text words = {0};
	int status = 0;

	if (worker->pid <= 0)
		return -1;
	worker_kill(worker);
	close(worker->to_fd);
	close(worker->from_fd);
	if (!reap(worker, &status))
		text_append(&words, "was killed but has not ended, because a system or driver call "
				    "does not return");
	else if (!has_ended)
		text_append(&words, "sent an invalid reply");
	else if (WIFSIGNALED(status))
		text_appendf(&words, "was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		text_appendf(&words, "ended with exit code %d", WEXITSTATUS(status));
	if (worker->stderr_fd >= 0) {
		append_last_message(worker->stderr_fd, &words);
		close(worker->stderr_fd);
	}
	if (how)
		text_append(how, words.data);
	text_release(&worker->pending);
	text_release(&worker->unsent);
	*worker = (struct worker){.stderr_fd = -1};
	return has_ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool worker_was_killed(const struct text *how)
{
	return string_starts_with(text_string(how), "was killed by signal 9 ");
}

/* ---- the worker's side ---- */
int worker_begin(void)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	/* Slurm and systemd signal all processes of a job; only the parent ends workers */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return fd;
}

/* ---- the process that watches a program ---- */
const char worker_program_command[] = "worker-program";

static pid_t watcher_parent;

/* The signal also comes when one of the parent's threads ends. */
static void end_group(int signal_number)
{
	(void)signal_number;
	if (getppid() != watcher_parent)
		kill(0, SIGKILL);
}

static void become_program(char **command)
{
	static const int handled[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_COUNT(handled); i++)
		signal(handled[i], SIG_DFL);
	execvp(command[0], command);
	fprintf(stderr, "cannot start %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

static _Noreturn void end_as(int status)
{
	const pid_t group = getpgrp();

	if (setpgid(0, getpgid(watcher_parent)) == 0)
		kill(-group, SIGKILL);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		prctl(PR_SET_DUMPABLE, 0);
		raise(WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED);
}

int worker_program_main(int count, char **arguments)
{
	pid_t pid;
	int status = 0;

	if (count < 3)
		return STATUS_BAD_INPUT;
	unsetenv(inside_name);
	watcher_parent = (pid_t)strtol(arguments[0], NULL, 10);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, end_group);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	end_group(SIGTERM);
	if (chdir(arguments[1]) != 0) {
		fprintf(stderr, "%s: %s\n", arguments[1], strerror(errno));
		return 127;
	}
	pid = fork();
	if (pid == 0)
		become_program(arguments + 2);
	/* standard output stays open until the exit code is known */
	close(STDIN_FILENO);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	end_as(status);
}
