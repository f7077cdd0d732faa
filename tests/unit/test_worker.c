/* SPDX-License-Identifier: MIT
 *
 * Workers are this program itself, started with the name of what they shall do.
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
	struct text pending = {0};
	struct message message;
	struct bytes bytes;

	while (message_receive(STDIN_FILENO, &pending, -1, &message) == MESSAGE_READY) {
		if (message_unpack(&message, &bytes_record, "test", &bytes, NULL) != STATUS_OK ||
			message_send(reply_fd, message.kind + 1, &bytes_record, &bytes, NULL) !=
				STATUS_OK)
			return 1;
		record_release(&bytes_record, &bytes);
		message_release(&message);
	}
	text_release(&pending);
	return 0;
}

/* As where a process is within a call that cannot be interrupted: the signal has no effect. */
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
		signal(SIGSEGV, SIG_DFL); /* a sanitizer would make an exit of it */
		raise(SIGSEGV);
	}
	if (strcmp(role, "nested") == 0) { /* and no further, whatever worker_start() does */
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
		dprintf(reply_fd, "this is no frame, and long enough to look like one\n");
		pause();
	}
	printf("what a library prints is no frame\n");
	fflush(stdout);
	return echo(reply_fd);
}

static void start(struct worker *worker, const char *role)
{
	struct error err = {0};

	assert_ok(worker_start(worker, NULL, role, true, &err));
}

static enum message_result receive(struct worker *worker, double timeout_s, struct message *message)
{
	return message_receive(worker->from_fd, &worker->pending, timeout_s, message);
}

TEST(frames_come_back_whole)
{
	static const size_t sizes[] = {0, 1, 4095, 1 << 20};
	struct worker worker;
	struct message message;
	struct error err = {0};
	struct text how = {0};

	start(&worker, "echo");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bytes bytes = {{0}}, back;
		struct text frame = {0};

		for (size_t k = 0; k < sizes[i]; k++)
			text_append_char(&bytes.data, (char)(k * 7 + i));
		message_pack(7, &bytes_record, &bytes, &frame);
		/* the echo reads as we write, so even a frame beyond the pipe's size gets through
		 */
		for (worker_post(&worker, &frame); worker.unsent.length;) {
			struct pollfd writable = {.fd = worker.to_fd, .events = POLLOUT};

			assert_int_equal(poll(&writable, 1, 10000), 1);
			worker_flush(&worker);
		}
		assert_int_equal(receive(&worker, 10, &message), MESSAGE_READY);
		assert_int_equal(message.kind, 8);
		assert_ok(message_unpack(&message, &bytes_record, "worker", &back, &err));
		assert_true(record_equal(&bytes_record, &bytes, &back));
		record_release(&bytes_record, &bytes);
		record_release(&bytes_record, &back);
		message_release(&message);
		text_release(&frame);
	}
	assert_int_equal(receive(&worker, 0.01, &message), MESSAGE_NONE);
	worker_end(&worker, &how);
	assert_string_equal(how.data,
		"sent an invalid reply; its last message: what a library prints is no frame");
	assert_int_equal(worker.pid, 0);
	text_release(&how);
}

TEST(frames_survive_any_split)
{
	struct bytes bytes_sent = {{0}};
	struct error err = {0};
	int ends[2];
	char bytes[64];
	ssize_t whole;

	assert_int_equal(pipe(ends), 0);
	text_append(&bytes_sent.data, "payload");
	assert_ok(message_send(ends[1], 5, &bytes_record, &bytes_sent, &err));
	record_release(&bytes_record, &bytes_sent);
	whole = read(ends[0], bytes, sizeof(bytes));
	assert_true(whole > 7);
	for (ssize_t cut = 0; cut <= whole; cut++) {
		struct text pending = {0};
		struct message message;

		assert_int_equal(write(ends[1], bytes, (size_t)cut), cut);
		assert_int_equal(message_receive(ends[0], &pending, 0, &message),
			cut == whole ? MESSAGE_READY : MESSAGE_NONE);
		if (cut < whole) {
			assert_int_equal(
				write(ends[1], bytes + cut, (size_t)(whole - cut)), whole - cut);
			assert_int_equal(
				message_receive(ends[0], &pending, 1, &message), MESSAGE_READY);
		}
		assert_int_equal(message.kind, 5);
		assert_int_equal(message.payload.length, 15);
		assert_string_equal(message.payload.data + 8, "payload");
		message_release(&message);
		text_release(&pending);
	}
	close(ends[0]);
	close(ends[1]);
}

static void assert_end(const char *role, const char *end)
{
	struct worker worker;
	struct message message;
	struct text how = {0};

	start(&worker, role);
	assert_int_equal(receive(&worker, 10, &message), MESSAGE_CLOSED);
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

/* One that does not end is given up, and that is said. */
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

/* Writing to a worker that has ended is no signal: that it has ended shows when it is heard. */
TEST(a_dead_worker_is_no_signal)
{
	struct bytes bytes = {{0}};
	struct text frame = {0};
	struct message message;
	struct worker worker;
	siginfo_t info;

	start(&worker, "exit3");
	assert_int_equal(waitid(P_PID, (id_t)worker.pid, &info, WEXITED | WNOWAIT), 0);
	message_pack(1, &bytes_record, &bytes, &frame);
	worker_post(&worker, &frame);
	assert_int_equal(worker.unsent.length, 0);
	assert_int_equal(receive(&worker, 10, &message), MESSAGE_CLOSED);
	worker_end(&worker, NULL);
	text_release(&frame);
}

TEST(a_payload_of_another_record_is_an_error)
{
	struct message message = {.kind = 1};
	struct bytes bytes;
	struct error err = {0};

	text_append(&message.payload, "0123456789");
	assert_fails(message_unpack(&message, &bytes_record, "worker", &bytes, &err), STATUS_FAILED,
		"worker: invalid packed record \"bytes\"");
	message_release(&message);
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

/* A program that does not serve the command runs its own main as a worker, and starts workers. */
TEST(a_worker_starts_none)
{
	struct worker worker;
	struct message message;
	struct text how = {0};

	start(&worker, "nested");
	assert_int_equal(receive(&worker, 60, &message), MESSAGE_CLOSED);
	worker_end(&worker, &how);
	assert_non_null(strstr(how.data, "a worker process must not start workers"));
	assert_non_null(strstr(how.data, "must handle the command `exit3`"));
	text_release(&how);
	assert_null(getenv("TILETUNE_INSIDE_WORKER")); /* ours is as it was */
}

static int before(int count, char **arguments)
{
	if (count == 2)
		return play_worker(arguments[1]);
	return RUN_TESTS;
}
BEFORE_TESTS(before)
