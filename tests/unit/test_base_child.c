/* layer: base
 *
 * Children are this program itself, started with the name of what they shall do.
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

static char *self;

static int play_child(const char *role)
{
	struct text pending = {0};
	struct message message;

	child_follow_parent();
	if (strcmp(role, "crash") == 0) {
		signal(SIGSEGV, SIG_DFL); /* a sanitizer would make an exit of it */
		raise(SIGSEGV);
	}
	if (strcmp(role, "exit3") == 0)
		return 3;
	if (strcmp(role, "nonsense") == 0) {
		printf("this is no frame, and long enough to look like one\n");
		fflush(stdout);
		pause();
	}
	while (message_receive(STDIN_FILENO, &pending, -1, &message) == MESSAGE_READY) {
		message_send(STDOUT_FILENO, message.kind + 1, message.payload.data,
			message.payload.length, NULL);
		message_release(&message);
	}
	text_release(&pending);
	return 0;
}

static void start(struct child *child, const char *role)
{
	const char *arguments[] = {self, "child", role, NULL};
	struct error err = {0};

	assert_ok(child_start(child, self, arguments, NULL, &err));
}

static void frames_come_back_whole(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 1 << 20};
	struct child child;
	struct message message;
	struct error err = {0};
	char *data = calloc(1, 1 << 20);

	(void)state;
	start(&child, "echo");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(data, (int)('a' + i), sizes[i]);
		/* the echo reads as we write, so even a frame beyond the pipe's size gets through
		 */
		assert_ok(message_send(child.to_fd, 7, data, sizes[i], &err));
		assert_int_equal(message_receive(child.from_fd, &child.pending, 10, &message),
			MESSAGE_READY);
		assert_int_equal(message.kind, 8);
		assert_int_equal(message.payload.length, sizes[i]);
		assert_memory_equal(message.payload.data, data, sizes[i]);
		message_release(&message);
	}
	assert_int_equal(
		message_receive(child.from_fd, &child.pending, 0.01, &message), MESSAGE_NONE);
	child_kill(&child);
	assert_true(child_reap(&child).by_signal);
	free(data);
}

static void frames_survive_any_split(void **state)
{
	struct error err = {0};
	int ends[2];
	char bytes[64];
	ssize_t whole;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_ok(message_send(ends[1], 5, "payload", 7, &err));
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
		assert_string_equal(message.payload.data, "payload");
		message_release(&message);
		text_release(&pending);
	}
	close(ends[0]);
	close(ends[1]);
}

static void ends_are_told_apart(void **state)
{
	struct child child;
	struct message message;
	struct text text = {0};
	struct child_exit how;

	(void)state;
	start(&child, "crash");
	assert_int_equal(
		message_receive(child.from_fd, &child.pending, 10, &message), MESSAGE_CLOSED);
	how = child_reap(&child);
	assert_true(how.by_signal);
	assert_int_equal(how.code, SIGSEGV);
	child_describe_exit(how, &text);
	assert_non_null(strstr(text.data, "killed by signal 11"));
	text_release(&text);
	start(&child, "exit3");
	assert_int_equal(
		message_receive(child.from_fd, &child.pending, 10, &message), MESSAGE_CLOSED);
	how = child_reap(&child);
	assert_false(how.by_signal);
	assert_int_equal(how.code, 3);
	start(&child, "nonsense");
	assert_int_equal(
		message_receive(child.from_fd, &child.pending, 10, &message), MESSAGE_CLOSED);
	child_kill(&child);
	child_reap(&child);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
	const char *arguments[] = {"x", NULL};
	struct error err = {0};
	struct child child;

	(void)state;
	assert_fails(child_start(&child, "/nowhere/x", arguments, NULL, &err), STATUS_FAILED,
		"/nowhere/x");
	assert_int_equal(child.pid, 0);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_back_whole),
		cmocka_unit_test(frames_survive_any_split),
		cmocka_unit_test(ends_are_told_apart),
		cmocka_unit_test(a_program_that_is_not_there_is_an_error),
	};
	int failed;

	if (count == 3 && strcmp(arguments[1], "child") == 0)
		return play_child(arguments[2]);
	signal(SIGPIPE, SIG_IGN);
	self = path_executable();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(self);
	return failed;
}
