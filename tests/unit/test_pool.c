/* SPDX-License-Identifier: MIT
 *
 * A pool of processes. This program is each of them and serves lines: "N" is answered by "N"; "die
 * N" exits; "kill N FILE" sends SIGKILL to itself unless FILE exists, and creates FILE; "hang"
 * gives no answer; "lie" gives an invalid one; "flood" sends endless messages that are not answers.
 */
#include "unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/pool.h"

static int serve(void)
{
	const int fd = worker_begin();
	char line[512], file[400];
	FILE *input = fdopen(STDIN_FILENO, "r");
	static char words[13000 * 5];

	for (size_t i = 0; i < sizeof(words); i += 5)
		memcpy(words + i, "word\n", 5);
	dprintf(fd, "hello\n");
	while (fgets(line, sizeof(line), input)) {
		if (strncmp(line, "die", 3) == 0)
			return 3;
		if (sscanf(line, "kill %399s", file) == 1 && mkdir(file, 0777) == 0)
			raise(SIGKILL);
		while (strncmp(line, "hang", 4) == 0)
			pause();
		while (strncmp(line, "flood", 5) == 0)
			(void)!write(fd, words, sizeof(words));
		if (strncmp(line, "lie", 3) == 0)
			dprintf(fd, "another line\n");
		dprintf(fd, "%s", line);
	}
	return 0;
}

struct task {
	struct pool_task task;
	char line[512];
	size_t done; /* position among the finished tasks, from 1 */
	bool failed;
	enum pool_end end;
	char how[200];
};

struct owner {
	struct pool pool;
	size_t done, started;
	const char *path;
	unsigned fails; /* one bit per start, lowest first; a set bit makes the start fail */
};

static enum status start(struct pool *pool, struct worker *worker, struct error *err)
{
	struct owner *owner = pool->context;
	const bool fails = owner->fails >> owner->started++ & 1;

	return worker_start(worker, fails ? "/nowhere/x" : owner->path, "serve", false, err);
}

static bool send(void *context, struct worker *worker, struct pool_task *task)
{
	struct text line = {0};

	(void)context;
	text_append(&line, ((struct task *)task)->line);
	text_append_char(&line, '\n');
	worker_post(worker, &line);
	text_release(&line);
	return true;
}

static enum pool_event hear(void *context, struct worker *worker, bool handshake,
	struct pool_task *task, const struct text *line, struct text *why)
{
	struct owner *owner = context;
	const char *expected = handshake ? "hello" : ((struct task *)task)->line;

	(void)worker, (void)why;
	if (strcmp(text_string(line), expected) != 0)
		return strcmp(text_string(line), "word") == 0 ? POOL_WORKS : POOL_FAILED;
	if (handshake)
		return POOL_READY;
	((struct task *)task)->done = ++owner->done;
	return POOL_DONE;
}

static void take_failure(void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct task *own = (struct task *)task;

	(void)context;
	own->failed = true;
	own->end = end;
	snprintf(own->how, sizeof(own->how), "%s", how);
}

static const struct pool_kind kind = {.name = "it",
	.handshake_s = 30,
	.start = start,
	.send = send,
	.on_line = hear,
	.fail = take_failure};

static void wait_for(struct owner *owner)
{
	struct pool *pool = &owner->pool;

	pool_wait(&pool, 1, 60);
}

static void run(struct owner *owner, struct task *tasks, size_t count, size_t members, size_t depth)
{
	size_t left;

	pool_open(&owner->pool, &kind, owner, members, depth);
	for (size_t i = 0; i < count; i++) {
		if (!(tasks[i].task.timeout_s > 0))
			tasks[i].task.timeout_s = 60;
		pool_add(&owner->pool, &tasks[i].task);
	}
	do {
		pool_work(&owner->pool);
		left = count;
		for (size_t i = 0; i < count; i++)
			left -= tasks[i].done || tasks[i].failed;
		if (left)
			wait_for(owner);
	} while (left);
}

/* One process answers in the order of the requests, even if several are queued. */
TEST(tasks_keep_their_order)
{
	for (size_t depth = 1; depth <= 4; depth++) {
		struct owner owner = {0};
		struct task tasks[20] = {0};

		for (size_t i = 0; i < 20; i++)
			snprintf(tasks[i].line, sizeof(tasks[i].line), "%zu", i);
		run(&owner, tasks, 20, 1, depth);
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(tasks[i].done, i + 1);
		assert_int_equal(owner.started, 1);
		pool_close(&owner.pool);
	}
}

/* The task that ends its process fails; the tasks queued behind it are served by the next
 * process. */
TEST(an_end_costs_one_task)
{
	struct owner owner = {0};
	struct task tasks[5] = {
		{.line = "1"}, {.line = "die"}, {.line = "2"}, {.line = "3"}, {.line = "4"}};

	run(&owner, tasks, 5, 1, 4);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(tasks[i].failed, i == 1);
	assert_int_equal(tasks[1].end, POOL_ENDED);
	assert_string_equal(tasks[1].how, "it ended with exit code 3");
	assert_int_equal(owner.started, 2);
	pool_close(&owner.pool);
}

/* A task whose process is killed from outside is repeated once, and then fails. */
TEST(a_kill_costs_another_try)
{
	char file[] = TEST_SCRATCH "/pool-killed-XXXXXX";
	struct owner owner = {0};
	struct task tasks[2] = {{.line = ""}, {.line = "1"}};

	assert_non_null(mkdtemp(file));
	assert_int_equal(rmdir(file), 0);
	snprintf(tasks[0].line, sizeof(tasks[0].line), "kill %s", file);
	run(&owner, tasks, 2, 1, 2);
	assert_true(tasks[0].done && tasks[1].done);
	assert_int_equal(owner.started, 2);
	assert_true(tasks[0].task.was_killed);
	assert_int_equal(rmdir(file), 0);
	pool_close(&owner.pool);
}

/* The retry counts for one request, not for the whole lifetime of the task. */
TEST(a_kill_before_an_answer_does_not_count)
{
	char file[] = TEST_SCRATCH "/pool-again-XXXXXX";
	struct owner owner = {0};
	struct task task = {.line = "", .task.timeout_s = 60};

	assert_non_null(mkdtemp(file));
	snprintf(task.line, sizeof(task.line), "kill %s", file);
	pool_open(&owner.pool, &kind, &owner, 1, 1);
	for (size_t turn = 1; turn <= 3; turn++) {
		assert_int_equal(rmdir(file), 0); /* the process is killed each time */
		pool_add(&owner.pool, &task.task);
		for (pool_work(&owner.pool); task.done < turn && !task.failed;
			pool_work(&owner.pool))
			wait_for(&owner);
		assert_int_equal(task.done, turn);
	}
	assert_int_equal(rmdir(file), 0);
	pool_close(&owner.pool);
}

/* A process that is ended for an invalid answer was not killed from outside, so its task is not
 * repeated. */
TEST(a_lie_is_no_kill)
{
	struct owner owner = {0};
	struct task tasks[2] = {{.line = "lie"}, {.line = "1"}};

	run(&owner, tasks, 2, 1, 1);
	assert_true(tasks[0].failed && tasks[0].end == POOL_ENDED);
	assert_string_equal(tasks[0].how, "it sent an invalid reply");
	assert_true(tasks[1].done);
	assert_int_equal(owner.started, 2);
	pool_close(&owner.pool);
}

/* A process started between the failures, so the pool does not give up. */
TEST(starts_that_fail_far_apart_break_nothing)
{
	struct owner owner = {.fails = 1 + 2 + 8 + 16 + 64 + 128};
	struct task tasks[4] = {{.line = "die"}, {.line = "die"}, {.line = "1"}, {.line = "2"}};

	run(&owner, tasks, 4, 1, 1);
	assert_true(tasks[0].failed && tasks[0].end == POOL_ENDED);
	assert_true(tasks[1].failed && tasks[1].end == POOL_ENDED);
	assert_true(tasks[2].done && tasks[3].done);
	assert_int_equal(owner.started, 9);
	pool_close(&owner.pool);
}

/* A process that sends messages without end does not block its owner. */
TEST(words_without_end_are_not_heard_out)
{
	struct owner owner = {0};
	struct task task = {.line = "flood", .task.timeout_s = 60};
	const double begun_s = clock_seconds();

	pool_open(&owner.pool, &kind, &owner, 1, 1);
	pool_add(&owner.pool, &task.task);
	do {
		pool_work(&owner.pool);
		wait_for(&owner);
	} while (!owner.pool.members[0].has_more && clock_seconds() < begun_s + 60);
	assert_true(pool_next_s(&owner.pool) <=
		    clock_seconds()); /* the pool asks to be polled again at once */
	assert_false(task.done || task.failed);
	pool_close(&owner.pool);
}

TEST(silence_is_not_waited_for)
{
	struct owner owner = {0};
	struct task tasks[2] = {{.line = "hang", .task.timeout_s = 0.3}, {.line = "1"}};

	run(&owner, tasks, 2, 1, 2);
	assert_true(tasks[0].failed && tasks[0].end == POOL_TIMED_OUT);
	assert_true(tasks[1].done == 1);
	assert_int_equal(owner.started, 2);
	pool_close(&owner.pool);
}

/* The pool starts at most one process per task, and each process gets one task before any gets
 * two. */
TEST(processes_are_started_as_needed)
{
	struct owner owner = {0};
	struct task tasks[2] = {{.line = "1"}, {.line = "2"}};

	run(&owner, tasks, 2, 8, 4);
	assert_int_equal(owner.started, 2);
	pool_close(&owner.pool);
}

/* While the process of the only task starts, the pool just waits for it. */
TEST(a_process_that_starts_is_waited_for)
{
	struct owner owner = {0};
	struct task task = {.line = "1", .task.timeout_s = 60};

	pool_open(&owner.pool, &kind, &owner, 2, 1);
	pool_add(&owner.pool, &task.task);
	pool_work(&owner.pool);
	assert_int_equal(owner.started, 1);
	assert_true(pool_next_s(&owner.pool) > clock_seconds() + 10);
	pool_close(&owner.pool);
}

TEST(a_pool_that_cannot_start_fails_its_tasks)
{
	struct owner owner = {.path = "/nowhere/x"};
	struct task tasks[3] = {{.line = "1"}, {.line = "2"}, {.line = "3"}};

	run(&owner, tasks, 3, 2, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(tasks[i].end, POOL_BROKEN);
		assert_non_null(strstr(tasks[i].how, "/nowhere/x"));
	}
	assert_int_equal(owner.pool.broken.status, STATUS_NO_DEVICE);
	pool_close(&owner.pool);
}

static int before(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "serve") == 0)
		return serve();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
