/* SPDX-License-Identifier: MIT */
#include "process/pool.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"

enum {
	START_FAILURES_MAX = 3
};

/* A process may need a while to free much memory or a GPU. */
static const double end_timeout_s = 30;
static const double messages_at_once_s = 0.1;

/* ---- queues ---- */
static void queue_append(struct pool_queue *queue, struct pool_task *task)
{
	task->next = NULL;
	if (queue->last)
		queue->last->next = task;
	else
		queue->first = task;
	queue->last = task;
	queue->count++;
}

static void queue_insert(struct pool_queue *queue, struct pool_task *task)
{
	task->next = queue->first;
	queue->first = task;
	if (!queue->last)
		queue->last = task;
	queue->count++;
}

static struct pool_task *queue_take(struct pool_queue *queue)
{
	struct pool_task *task = queue->first;

	if (!task)
		return NULL;
	queue->first = task->next;
	if (!queue->first)
		queue->last = NULL;
	queue->count--;
	task->next = NULL;
	return task;
}

void pool_add(struct pool *pool, struct pool_task *task)
{
	task->was_killed = false;
	queue_append(&pool->queue, task);
}

void pool_add_first(struct pool *pool, struct pool_task *task)
{
	task->was_killed = false;
	queue_insert(&pool->queue, task);
}

struct pool_task *pool_take(struct pool *pool)
{
	struct pool_queue *queue = &pool->queue;

	for (size_t i = 0; i < pool->member_count && !queue->first; i++)
		queue = &pool->members[i].tasks;
	return queue_take(queue);
}

static double until_of(const struct pool_task *task)
{
	return task && task->until_s > 0 ? task->until_s : INFINITY;
}

static void expire(struct pool *pool)
{
	for (size_t left = pool->queue.count; left; left--) {
		struct pool_task *task = queue_take(&pool->queue);

		if (clock_seconds() < until_of(task))
			queue_append(&pool->queue, task);
		else
			pool->kind->fail(
				pool->context, task, POOL_TIMED_OUT, "its time limit has passed");
	}
}

/* ---- one process ---- */
static void start_failed(struct pool *pool, bool for_good, const char *why)
{
	pool->start_failures++;
	pool->not_before_s =
		clock_seconds() + pool->kind->pause_s * (pool->start_failures > 1 ? 6 : 1);
	if (for_good || pool->start_failures >= START_FAILURES_MAX) {
		error_set(&pool->broken, STATUS_NO_DEVICE, "%s", "");
		error_lines(&pool->broken, why);
	}
}

static void pool_start(struct pool *pool, struct pool_member *member)
{
	struct error err = {0};

	*member = (struct pool_member){.last_activity_s = clock_seconds()};
	if (pool->kind->start(pool, &member->worker, &err) != STATUS_OK) {
		start_failed(pool, false, err.message);
		return;
	}
	member->state = pool->kind->handshake_s > 0 ? POOL_HANDSHAKE : POOL_CAN_WORK;
}

void pool_adopt(struct pool *pool, struct worker *worker)
{
	pool->members[0] = (struct pool_member){.state = POOL_CAN_WORK,
		.worker = *worker,
		.has_spoken = true,
		.last_activity_s = clock_seconds()};
	*worker = (struct worker){.stderr_fd = -1};
}

static void take_back(struct pool *pool, struct pool_member *member)
{
	while (pool->queue.first)
		queue_append(&member->tasks, queue_take(&pool->queue));
	pool->queue = member->tasks;
	member->tasks = (struct pool_queue){0};
}

/* The first task may be the cause if the process worked. */
static void worker_failed(
	struct pool *pool, struct pool_member *member, bool refuses, const char *why)
{
	const bool works = member->has_spoken && !refuses;
	struct pool_task *task = works ? queue_take(&member->tasks) : NULL;
	CLEANUP(text_release) struct text how = {0};
	char *words;
	bool killed;

	take_back(pool, member);
	worker_end(&member->worker, &how);
	member->state = POOL_ABSENT;
	killed = !*why && worker_was_killed(&how);
	free(pool->last_end);
	words = pool->last_end = *why ? string_copy(why)
				      : string_format("%s %s", pool->kind->name, text_string(&how));
	if (refuses) /* a process that refuses has not started successfully */
		pool->start_failures += member->start_failures;
	if (!works)
		start_failed(pool, !pool->has_worked && !killed, words);
	if (task && killed && !task->was_killed) {
		task->was_killed = true;
		queue_insert(&pool->queue, task);
	} else if (task)
		pool->kind->fail(pool->context, task, POOL_ENDED, words);
}

static void give_up(struct pool *pool, struct pool_member *member, double timeout_s)
{
	struct pool_task *task = member->has_spoken ? queue_take(&member->tasks) : NULL;
	CLEANUP(memory_free)
	char *how = string_format("%s sent nothing for %.3g s", pool->kind->name, timeout_s);

	take_back(pool, member);
	worker_kill(&member->worker);
	if (!member->has_spoken)
		start_failed(pool, false, how);
	member->state = POOL_TERMINATING;
	member->last_activity_s = clock_seconds();
	if (task)
		pool->kind->fail(pool->context, task, POOL_TIMED_OUT, how);
}

static double timeout_of(const struct pool *pool, const struct pool_member *member)
{
	if (member->state == POOL_HANDSHAKE)
		return pool->kind->handshake_s;
	if (member->state == POOL_TERMINATING)
		return end_timeout_s;
	return member->state == POOL_CAN_WORK && member->tasks.first
		       ? member->tasks.first->timeout_s
		       : INFINITY;
}

static double deadline_of(const struct pool *pool, const struct pool_member *member)
{
	return fmin(
		member->last_activity_s + timeout_of(pool, member), until_of(member->tasks.first));
}

/* Returns true if there may be more lines. */
static bool receive(struct pool *pool, struct pool_member *member)
{
	struct worker *worker = &member->worker;
	CLEANUP(text_release) struct text line = {0}, why = {0};
	/* the owner may free the task in on_line() */
	struct pool_task *next = member->tasks.first ? member->tasks.first->next : NULL;
	const enum message_result result =
		line_receive(worker->from_fd, &worker->pending, 0, &line);
	enum pool_event event = POOL_FAILED;

	if (result == MESSAGE_NONE)
		return false;
	member->last_activity_s = clock_seconds();
	if (result == MESSAGE_READY)
		event = pool->kind->on_line(pool->context, worker, member->state == POOL_HANDSHAKE,
			member->tasks.first, &line, &why);
	else if (worker->pending.length > LINE_BYTES_MAX)
		text_appendf(&why, "%s sent a line of more than %d bytes", pool->kind->name,
			(int)LINE_BYTES_MAX);
	if (event == POOL_FAILED || event == POOL_REFUSED) {
		worker_failed(pool, member, event == POOL_REFUSED, text_string(&why));
		return false;
	}
	member->start_failures = event == POOL_READY ? pool->start_failures : 0;
	member->has_spoken = true;
	pool->start_failures = 0;
	pool->broken.status = STATUS_OK;
	if (event == POOL_READY)
		member->state = POOL_CAN_WORK;
	if (event == POOL_DONE) {
		member->tasks.first = next;
		member->tasks.last = next ? member->tasks.last : NULL;
		member->tasks.count--;
		pool->has_worked = true;
	}
	return true;
}

static void attend(struct pool *pool, struct pool_member *member)
{
	double until_s;

	if (member->state == POOL_ABSENT)
		return;
	if (member->state == POOL_TERMINATING) {
		if (worker_is_closed(&member->worker) ||
			clock_seconds() > member->last_activity_s + end_timeout_s) {
			worker_end(&member->worker, NULL);
			member->state = POOL_ABSENT;
		}
		return;
	}
	worker_flush(&member->worker);
	/* endless messages must not block other processes */
	until_s = clock_seconds() + messages_at_once_s;
	while ((member->has_more = receive(pool, member)) && clock_seconds() < until_s)
		;
	if ((member->state == POOL_HANDSHAKE || member->state == POOL_CAN_WORK) &&
		clock_seconds() >= deadline_of(pool, member))
		give_up(pool, member, timeout_of(pool, member));
}

/* ---- all of them ---- */
void pool_open(struct pool *pool, const struct pool_kind *kind, void *context, size_t members,
	size_t depth)
{
	*pool = (struct pool){
		.kind = kind, .context = context, .member_count = members, .depth = depth};
	pool->members = memory_zeroed(members + 1, sizeof(*pool->members));
}

void pool_close(struct pool *pool)
{
	for (size_t i = 0; i < pool->member_count; i++)
		if (pool->members[i].state != POOL_ABSENT)
			worker_kill(&pool->members[i].worker);
	for (size_t i = 0; i < pool->member_count; i++)
		if (pool->members[i].state != POOL_ABSENT)
			worker_end(&pool->members[i].worker, NULL);
	free(pool->members);
	free(pool->last_end);
	*pool = (struct pool){0};
}

static void hand_out(struct pool *pool, struct pool_member *member, size_t depth)
{
	while (member->state == POOL_CAN_WORK && pool->queue.first && member->tasks.count < depth) {
		struct pool_task *task = queue_take(&pool->queue);

		if (!pool->kind->send(pool->context, &member->worker, task))
			continue;
		if (!member->tasks.count)
			member->last_activity_s = clock_seconds();
		queue_append(&member->tasks, task);
	}
}

static size_t count_in(const struct pool *pool, enum pool_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->member_count; i++)
		count += pool->members[i].state == state;
	return count;
}

static bool wants_process(const struct pool *pool)
{
	return pool->broken.status == STATUS_OK && count_in(pool, POOL_ABSENT) &&
	       pool->queue.count > count_in(pool, POOL_HANDSHAKE);
}

static void start_some(struct pool *pool)
{
	for (size_t i = 0; i < pool->member_count; i++) {
		struct pool_member *member = &pool->members[i];

		if (member->state != POOL_ABSENT || !wants_process(pool) ||
			clock_seconds() < pool->not_before_s)
			continue;
		pool_start(pool, member);
		hand_out(pool, member, 1);
	}
}

void pool_work(struct pool *pool)
{
	expire(pool);
	for (size_t i = 0; i < pool->member_count; i++)
		attend(pool, &pool->members[i]);
	for (size_t depth = 1; depth <= pool->depth; depth++) {
		for (size_t i = 0; i < pool->member_count; i++)
			hand_out(pool, &pool->members[i], depth);
		start_some(pool);
	}
	if (pool->broken.status == STATUS_OK || count_in(pool, POOL_HANDSHAKE) ||
		count_in(pool, POOL_CAN_WORK))
		return;
	for (size_t left = pool->queue.count; left; left--)
		pool->kind->fail(
			pool->context, queue_take(&pool->queue), POOL_BROKEN, pool->broken.message);
}

double pool_next_s(const struct pool *pool)
{
	double next_s = INFINITY;

	for (size_t i = 0; i < pool->member_count; i++)
		next_s = fmin(next_s, pool->members[i].has_more
					      ? pool->members[i].last_activity_s
					      : deadline_of(pool, &pool->members[i]));
	for (const struct pool_task *task = pool->queue.first; task; task = task->next)
		next_s = fmin(next_s, until_of(task));
	return wants_process(pool) ? fmin(next_s, pool->not_before_s) : next_s;
}

static size_t add_fds(const struct pool *pool, struct pollfd *fds)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->member_count; i++) {
		const struct worker *worker = &pool->members[i].worker;

		if (pool->members[i].state == POOL_ABSENT)
			continue;
		fds[count++] = (struct pollfd){.fd = worker->from_fd,
			.events = pool->members[i].state == POOL_TERMINATING ? 0 : POLLIN};
		if (worker->unsent.length)
			fds[count++] = (struct pollfd){.fd = worker->to_fd, .events = POLLOUT};
	}
	return count;
}

void pool_wait(struct pool *const *pools, size_t count, double timeout_s)
{
	CLEANUP(memory_free) struct pollfd *fds = NULL;
	double until_s = clock_seconds() + fmin(timeout_s, 60);
	size_t room = 1, used = 0;

	for (size_t i = 0; i < count; i++)
		room += 2 * pools[i]->member_count;
	fds = memory_zeroed(room, sizeof(*fds));
	for (size_t i = 0; i < count; i++) {
		used += add_fds(pools[i], fds + used);
		until_s = fmin(until_s, pool_next_s(pools[i]));
	}
	poll(fds, used, (int)(fmax(until_s - clock_seconds(), 0) * 1e3 + 0.999));
}
