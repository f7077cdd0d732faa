/* SPDX-License-Identifier: MIT */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

enum status child_start(struct child *child, const char *path, const char *const *arguments,
	const char *stderr_path, struct error *err)
{
	int input[2] = {-1, -1}, output[2] = {-1, -1};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int result;

	*child = (struct child){0};
	if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
		result = errno;
		close_pair(input);
		close_pair(output);
		return error_set(
			err, STATUS_FAILED, "%s: making pipes: %s", path, strerror(result));
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
	if (stderr_path)
		posix_spawn_file_actions_addopen(
			&actions, STDERR_FILENO, stderr_path, O_WRONLY | O_CREAT | O_APPEND, 0666);
	/* its own process group: an interrupt at the terminal is for us to handle */
	posix_spawnattr_init(&attributes);
	sigemptyset(&none);
	sigfillset(&defaults);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	result = posix_spawn(&child->pid, path, &actions, &attributes,
		(char *const *)(uintptr_t)arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(input[0]);
	close(output[1]);
	if (result != 0) {
		close(input[1]);
		close(output[0]);
		*child = (struct child){0};
		return error_set(
			err, STATUS_FAILED, "%s: starting a worker: %s", path, strerror(result));
	}
	child->to_fd = input[1];
	child->from_fd = output[0];
	return STATUS_OK;
}

void child_kill(struct child *child)
{
	if (child->pid > 0)
		kill(child->pid, SIGKILL);
}

struct child_exit child_reap(struct child *child)
{
	struct child_exit how = {0};
	int status = 0;

	if (child->pid <= 0)
		return how;
	close(child->to_fd);
	close(child->from_fd);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	how.by_signal = WIFSIGNALED(status);
	how.code = how.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
	text_release(&child->pending);
	*child = (struct child){0};
	return how;
}

void child_describe_exit(struct child_exit how, struct text *text)
{
	if (how.by_signal)
		text_appendf(text, "killed by signal %d (%s)", how.code, strsignal(how.code));
	else
		text_appendf(text, "ended with exit code %d", how.code);
}

void child_follow_parent(void)
{
	/* A parent that ended before this line closed our input: the worker's loop sees that. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}
