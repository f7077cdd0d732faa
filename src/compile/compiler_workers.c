/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "compile/compiler_state.h"
#include "compile/result.h"

enum {
	START_FAILURES_MAX = 3
};

static const double start_timeout_s = 60;

/* The process is gone, or of no more use. Whatever it compiled is lost with it. */
static void lose_worker(struct compiler *compiler, struct slot *slot)
{
	enum worker_state state = slot->worker.state;
	struct job *job = slot->job;
	struct text how = {0};

	text_append(&how, "the compiler's process was ");
	slot->job = NULL;
	worker_reap(&slot->worker, &how);
	if (job)
		finish_without(compiler, job, OUTCOME_COMPILE_CRASHED, how.data);
	else if (state == WORKER_STARTING)
		compiler->start_failures++;
	text_release(&how);
}

static void take_answer(struct compiler *compiler, struct slot *slot, const struct message *message)
{
	struct compile_result result;
	struct probe probe;

	if (slot->worker.state == WORKER_STARTING) {
		if (probe_answer(message, &probe, NULL, NULL) != STATUS_OK) {
			lose_worker(compiler, slot);
			return;
		}
		probe_release(&probe);
		compiler->start_failures = 0;
	} else if (message->kind == WIRE_COMPILED && slot->job &&
		   compile_result_unpack(message->payload.data, message->payload.length, &result)) {
		struct job *job = slot->job;

		slot->job = NULL;
		finish_job(compiler, job, result);
	} else {
		lose_worker(compiler, slot);
		return;
	}
	slot->worker.state = WORKER_IDLE;
}

static void check_deadline(struct compiler *compiler, struct slot *slot, double now)
{
	struct job *job = slot->job;
	char *log;

	if (slot->worker.state == WORKER_DYING || slot->worker.state == WORKER_IDLE ||
		now < slot->worker.deadline_s)
		return;
	if (slot->worker.state == WORKER_STARTING)
		compiler->start_failures++;
	/* its end is taken by a later call: memory of that size takes a while to give back */
	worker_kill(&slot->worker);
	slot->job = NULL;
	if (!job)
		return;
	log = string_format("the compiler took longer than %.3g s", compiler->timeout_s);
	finish_without(compiler, job, OUTCOME_COMPILE_TIMEOUT, log);
	free(log);
}

static void attend(struct compiler *compiler, struct slot *slot, double now)
{
	struct message message;
	enum message_result received;

	if (slot->worker.state == WORKER_ABSENT)
		return;
	received = worker_receive(&slot->worker, &message);
	if (received == MESSAGE_CLOSED) {
		lose_worker(compiler, slot);
	} else if (received == MESSAGE_READY) {
		/* what a killed one still said is too late */
		if (slot->worker.state != WORKER_DYING)
			take_answer(compiler, slot, &message);
		message_release(&message);
	} else {
		check_deadline(compiler, slot, now);
	}
}

static void start_worker(struct compiler *compiler, struct slot *slot)
{
	if (worker_start(&slot->worker, compiler->worker_path, NULL) != STATUS_OK) {
		compiler->start_failures++;
		return;
	}
	/* if it has died already, the next call sees that */
	(void)worker_load(
		&slot->worker, compiler->nvrtc.library_path, false, start_timeout_s, NULL);
}

/* No more processes than there are units to keep them busy. */
static void start_workers(struct compiler *compiler)
{
	size_t coming = 0;

	for (unsigned i = 0; i < compiler->slot_count; i++)
		coming += compiler->slots[i].worker.state == WORKER_STARTING;
	for (unsigned i = 0; i < compiler->slot_count && coming < compiler->queue.count; i++) {
		if (compiler->slots[i].worker.state != WORKER_ABSENT ||
			compiler->start_failures >= START_FAILURES_MAX)
			continue;
		start_worker(compiler, &compiler->slots[i]);
		coming++;
	}
}

static bool anyone_left(const struct compiler *compiler)
{
	for (unsigned i = 0; i < compiler->slot_count; i++)
		if (compiler->slots[i].worker.state != WORKER_ABSENT)
			return true;
	return compiler->start_failures < START_FAILURES_MAX;
}

static void hand_out(struct compiler *compiler)
{
	for (unsigned i = 0; i < compiler->slot_count && compiler->queue.count; i++) {
		struct slot *slot = &compiler->slots[i];

		if (slot->worker.state != WORKER_IDLE)
			continue;
		slot->job = job_queue_pop(&compiler->queue);
		/* if the worker is gone, the next call finds that out and loses this unit */
		(void)worker_compile(&slot->worker, &slot->job->unit, compiler->timeout_s, NULL);
	}
}

void workers_advance(struct compiler *compiler)
{
	double now = clock_seconds();

	for (unsigned i = 0; i < compiler->slot_count; i++)
		attend(compiler, &compiler->slots[i], now);
	hand_out(compiler);
	start_workers(compiler);
	while (compiler->queue.count && !anyone_left(compiler))
		finish_without(compiler, job_queue_pop(&compiler->queue), OUTCOME_COMPILE_CRASHED,
			"no compiler process starts any more");
}

static double earliest_deadline(const struct compiler *compiler)
{
	double earliest = HUGE_VAL;

	for (unsigned i = 0; i < compiler->slot_count; i++) {
		const struct worker *worker = &compiler->slots[i].worker;

		if ((worker->state == WORKER_STARTING || worker->state == WORKER_BUSY) &&
			worker->deadline_s < earliest)
			earliest = worker->deadline_s;
	}
	return earliest;
}

void workers_wait(const struct compiler *compiler, double timeout_s)
{
	struct pollfd *fds = memory_zeroed(compiler->slot_count, sizeof(*fds));
	size_t count = compiler_poll_fds(compiler, fds, compiler->slot_count);
	double wait_s = earliest_deadline(compiler) - clock_seconds();

	if (timeout_s >= 0 && timeout_s < wait_s)
		wait_s = timeout_s;
	if (wait_s < 0)
		wait_s = 0;
	if (wait_s > 60)
		wait_s = 60; /* the caller's loop comes back */
	poll(fds, count, (int)(wait_s * 1e3 + 0.999));
	free(fds);
}

size_t compiler_poll_fds(const struct compiler *compiler, struct pollfd *fds, size_t max)
{
	size_t count = 0;

	for (unsigned i = 0; i < compiler->slot_count && count < max; i++) {
		const struct worker *worker = &compiler->slots[i].worker;

		if (worker->state != WORKER_ABSENT)
			fds[count++] =
				(struct pollfd){.fd = worker->child.from_fd, .events = POLLIN};
	}
	return count;
}

void workers_end(struct compiler *compiler)
{
	/* all are told before the first is waited for */
	for (unsigned i = 0; i < compiler->slot_count; i++)
		if (compiler->slots[i].worker.state != WORKER_ABSENT)
			worker_kill(&compiler->slots[i].worker);
	for (unsigned i = 0; i < compiler->slot_count; i++) {
		struct text how = {0};

		if (compiler->slots[i].worker.state != WORKER_ABSENT)
			worker_reap(&compiler->slots[i].worker, &how);
		text_release(&how);
		job_free(compiler->slots[i].job);
	}
}
