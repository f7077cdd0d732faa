/* SPDX-License-Identifier: MIT
 *
 * This program is the worker, started with the name of its task.
 */
#include "unit/unit.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/worker.h"

struct bytes {
	struct text data;
};
static const struct record_member bytes_members[] = {
	RECORD_VALUE(struct bytes, data, "data"),
};
static RECORD_DEFINE(struct bytes, bytes_record, bytes_members, .name = "bytes");

static int echo(int reply_fd)
{
	struct text pending = {0}, line;

	while (line_receive(STDIN_FILENO, &pending, -1, &line) == MESSAGE_READY) {
		struct bytes bytes = {{0}};

		if (line_read(&bytes_record, &line, "test", &bytes, NULL) != STATUS_OK ||
			line_send(reply_fd, &bytes_record, &bytes, NULL) != STATUS_OK)
			return 1;
		record_release(&bytes_record, &bytes);
		text_release(&line);
	}
	text_release(&pending);
	return 0;
}

/* Simulates a process inside an uninterruptible call, where the signal has no effect. */
static bool immortal;
int kill(pid_t pid, int signal_number)
{
	return immortal ? 0 : (int)syscall(SYS_kill, pid, signal_number);
}

static int play_worker(const char *role)
{
	int reply_fd = worker_begin();

	if (strcmp(role, "crash") == 0) {
		fprintf(stderr, "it was me\n");
		signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn the crash into an exit */
		raise(SIGSEGV);
	}
	if (strcmp(role, "nested") ==
		0) { /* a nested worker must stop here, even if worker_start() fails to refuse it */
		struct worker inner;
		struct error err = {0};

		worker_start(&inner, NULL, "exit3", false, &err);
		fprintf(stderr, "%s; %s\n", err.message, err.hint);
		worker_end(&inner, NULL);
		return 0;
	}
	while (strcmp(role, "stubborn") == 0)
		pause();
	if (strcmp(role, "exit3") == 0)
		return 3;
	if (strcmp(role, "nonsense") == 0) {
		dprintf(reply_fd, "this is no message\n");
		pause();
	}
	printf("what a library prints is no line\n");
	fflush(stdout);
	return echo(reply_fd);
}

static void start(struct worker *worker, const char *role)
{
	struct error err = {0};

	assert_ok(worker_start(worker, NULL, role, true, &err));
}

static enum message_result receive(struct worker *worker, double timeout_s, struct text *line)
{
	return line_receive(worker->from_fd, &worker->pending, timeout_s, line);
}

TEST(lines_come_back_whole)
{
	static const size_t sizes[] = {0, 1, 4095, 1 << 20};
	struct worker worker;
	struct error err = {0};
	struct text how = {0}, line;

	start(&worker, "echo");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bytes bytes = {{0}}, back = {{0}};
		struct text sent = {0};

		for (size_t k = 0; k < sizes[i]; k++)
			text_append_char(&bytes.data, (char)(k * 7 + i));
		record_append(&bytes_record, &bytes, &sent);
		/* the echo reads while the test writes, so that even a line larger than the pipe
		 * arrives */
		for (worker_post(&worker, &sent); worker.unsent.length;) {
			struct pollfd writable = {.fd = worker.to_fd, .events = POLLOUT};

			assert_int_equal(poll(&writable, 1, 10000), 1);
			worker_flush(&worker);
		}
		assert_int_equal(receive(&worker, 10, &line), MESSAGE_READY);
		assert_ok(line_read(&bytes_record, &line, "worker", &back, &err));
		assert_int_equal(back.data.length, sizes[i]);
		assert_memory_equal(text_string(&bytes.data), text_string(&back.data), sizes[i]);
		record_release(&bytes_record, &bytes);
		record_release(&bytes_record, &back);
		text_release(&line);
		text_release(&sent);
	}
	assert_int_equal(receive(&worker, 0.01, &line), MESSAGE_NONE);
	worker_end(&worker, &how);
	assert_string_equal(how.data,
		"sent an invalid reply; its last message: what a library prints is no line");
	assert_int_equal(worker.pid, 0);
	text_release(&how);
}

TEST(lines_survive_any_split)
{
	static const char bytes[] = "{\"data\":\"cGF5bG9hZA==\"}\n";
	const ssize_t whole = sizeof(bytes) - 1;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	for (ssize_t cut = 0; cut <= whole; cut++) {
		struct text pending = {0}, line;
		struct bytes back = {{0}};
		struct error err = {0};

		assert_int_equal(write(ends[1], bytes, (size_t)cut), cut);
		assert_int_equal(line_receive(ends[0], &pending, 0, &line),
			cut == whole ? MESSAGE_READY : MESSAGE_NONE);
		if (cut < whole) {
			assert_int_equal(
				write(ends[1], bytes + cut, (size_t)(whole - cut)), whole - cut);
			assert_int_equal(line_receive(ends[0], &pending, 1, &line), MESSAGE_READY);
		}
		assert_ok(line_read(&bytes_record, &line, "test", &back, &err));
		assert_string_equal(back.data.data, "payload");
		record_release(&bytes_record, &back);
		text_release(&line);
		text_release(&pending);
	}
	close(ends[0]);
	close(ends[1]);
}

static void assert_end(const char *role, const char *end)
{
	struct worker worker;
	struct text how = {0}, line = {0};

	start(&worker, role);
	if (strcmp(role, "nonsense") == 0)
		assert_int_equal(receive(&worker, 10, &line), MESSAGE_READY);
	else
		assert_int_equal(receive(&worker, 10, &line), MESSAGE_CLOSED);
	text_release(&line);
	worker_end(&worker, &how);
	assert_string_equal(how.data, end);
	text_release(&how);
}

TEST(ends_are_told_apart)
{
	assert_end("crash",
		"was killed by signal 11 (Segmentation fault); its last message: it was me");
	assert_end("exit3", "ended with exit code 3");
	assert_end("nonsense", "sent an invalid reply");
}

/* A worker that does not end is abandoned, with a message. */
TEST(an_end_that_does_not_come_is_not_waited_for)
{
	struct worker worker;
	struct text how = {0};
	pid_t pid;

	start(&worker, "stubborn");
	pid = worker.pid;
	worker.end_timeout_s = 0.3;
	immortal = true;
	worker_end(&worker, &how);
	immortal = false;
	assert_non_null(strstr(text_string(&how), "has not ended"));
	assert_int_equal(worker.pid, 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	text_release(&how);
}

/* Writing to a worker that has ended raises no signal; reading from it reports the end. */
TEST(a_dead_worker_is_no_signal)
{
	struct bytes bytes = {{0}};
	struct text sent = {0}, line;
	struct worker worker;
	siginfo_t info;

	start(&worker, "exit3");
	assert_int_equal(waitid(P_PID, (id_t)worker.pid, &info, WEXITED | WNOWAIT), 0);
	record_append(&bytes_record, &bytes, &sent);
	worker_post(&worker, &sent);
	assert_int_equal(worker.unsent.length, 0);
	assert_int_equal(receive(&worker, 10, &line), MESSAGE_CLOSED);
	worker_end(&worker, NULL);
	text_release(&sent);
}

TEST(a_program_that_is_not_there_is_an_error)
{
	struct error err = {0};
	struct worker worker;

	assert_fails(
		worker_start(&worker, "/nowhere/x", "x", false, &err), STATUS_FAILED, "/nowhere/x");
	assert_int_equal(worker.pid, 0);
	worker_end(&worker, NULL);
}

/* A program without the worker command runs its own main as a worker, and starts workers. */
TEST(a_worker_starts_none)
{
	struct worker worker;
	struct text how = {0}, line;

	start(&worker, "nested");
	assert_int_equal(receive(&worker, 60, &line), MESSAGE_CLOSED);
	worker_end(&worker, &how);
	assert_non_null(strstr(how.data, "a worker process must not start workers"));
	assert_non_null(strstr(how.data, "must handle the command `exit3`"));
	text_release(&how);
	assert_null(getenv("TILETUNE_INSIDE_WORKER")); /* this process's environment is unchanged */
}

static int before(int count, char **arguments)
{
	if (count == 2)
		return play_worker(arguments[1]);
	return RUN_TESTS;
}
BEFORE_TESTS(before)
