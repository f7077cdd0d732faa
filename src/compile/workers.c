/* SPDX-License-Identifier: MIT */
#include "compile/workers.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "compile/protocol.h"

enum {
	START_FAILURES_MAX = 3
};

static const double start_timeout_s = 60;

/* ---- one process ---- */
enum status compile_slot_start(struct slot *slot, const char *path, struct error *err)
{
	const enum status status = worker_start(&slot->worker, path, "worker-compile", true, err);

	slot->state = status == STATUS_OK ? SLOT_IDLE : SLOT_ABSENT;
	return status;
}

void compile_slot_load(struct slot *slot, const char *library_path, bool try, double timeout_s)
{
	const struct compile_load load = {.path = (char *)(uintptr_t)library_path, .try = try};
	struct text frame = {0};

	message_pack(COMPILE_LOAD, &compile_load_record, &load, &frame);
	(void)worker_send(&slot->worker, &frame, NULL);
	text_release(&frame);
	slot->state = SLOT_STARTING;
	slot->deadline_s = clock_seconds() + timeout_s;
}

void compile_slot_end(struct slot *slot, struct text *how)
{
	worker_end(&slot->worker, how);
	slot->state = SLOT_ABSENT;
}

/* ---- all of them ---- */
/* The process is gone, or of no more use. Whatever it compiled is lost with it. */
static void lose_worker(struct compile_workers *workers, struct jobs *jobs, struct slot *slot)
{
	const enum slot_state state = slot->state;
	struct job *job = slot->job;
	struct text how = {0};

	text_append(&how, "the compiler's process was ");
	slot->job = NULL;
	compile_slot_end(slot, &how);
	if (job)
		jobs_fail(jobs, job, OUTCOME_COMPILE_CRASHED, how.data);
	else if (state == SLOT_STARTING)
		workers->start_failures++;
	text_release(&how);
}

static void take_answer(struct compile_workers *workers, struct jobs *jobs, struct slot *slot,
	const struct message *message)
{
	struct compile_result result;

	if (slot->state == SLOT_STARTING && message->kind == COMPILE_LOADED) {
		workers->start_failures = 0;
	} else if (message->kind == COMPILE_RESULT && slot->job &&
		   message_unpack(message, &compile_result_record, "worker-compile", &result,
			   NULL) == STATUS_OK) {
		struct job *job = slot->job;

		slot->job = NULL;
		jobs_finish(jobs, job, result);
	} else {
		lose_worker(workers, jobs, slot);
		return;
	}
	slot->state = SLOT_IDLE;
}

static void check_deadline(
	struct compile_workers *workers, struct jobs *jobs, struct slot *slot, double now)
{
	struct job *job = slot->job;
	char *log;

	if (slot->state == SLOT_DYING || slot->state == SLOT_IDLE || now < slot->deadline_s)
		return;
	if (slot->state == SLOT_STARTING)
		workers->start_failures++;
	/* its end is taken by a later call: memory of that size takes a while to give back */
	worker_kill(&slot->worker);
	slot->state = SLOT_DYING;
	slot->job = NULL;
	if (!job)
		return;
	log = string_format("the compiler took longer than %.3g s", workers->timeout_s);
	jobs_fail(jobs, job, OUTCOME_COMPILE_TIMEOUT, log);
	free(log);
}

static void attend(
	struct compile_workers *workers, struct jobs *jobs, struct slot *slot, double now)
{
	struct message message;
	enum message_result received;

	if (slot->state == SLOT_ABSENT)
		return;
	received = message_receive(slot->worker.from_fd, &slot->worker.pending, 0, &message);
	if (received == MESSAGE_CLOSED) {
		lose_worker(workers, jobs, slot);
	} else if (received == MESSAGE_READY) {
		/* what a killed one still said is too late */
		if (slot->state != SLOT_DYING)
			take_answer(workers, jobs, slot, &message);
		message_release(&message);
	} else {
		check_deadline(workers, jobs, slot, now);
	}
}

/* No more processes than there are units to keep them busy. */
static void start_workers(struct compile_workers *workers, const struct jobs *jobs)
{
	size_t coming = 0;

	for (unsigned i = 0; i < workers->slot_count; i++)
		coming += workers->slots[i].state == SLOT_STARTING;
	for (unsigned i = 0; i < workers->slot_count && coming < jobs->queued; i++) {
		struct slot *slot = &workers->slots[i];

		if (slot->state != SLOT_ABSENT || workers->start_failures >= START_FAILURES_MAX)
			continue;
		if (compile_slot_start(slot, workers->path, NULL) == STATUS_OK)
			compile_slot_load(slot, workers->library_path, false, start_timeout_s);
		else
			workers->start_failures++;
		coming++;
	}
}

static bool anyone_left(const struct compile_workers *workers)
{
	for (unsigned i = 0; i < workers->slot_count; i++)
		if (workers->slots[i].state != SLOT_ABSENT)
			return true;
	return workers->start_failures < START_FAILURES_MAX;
}

static void hand_out(struct compile_workers *workers, struct jobs *jobs)
{
	for (unsigned i = 0; i < workers->slot_count && jobs->queued; i++) {
		struct slot *slot = &workers->slots[i];

		if (slot->state != SLOT_IDLE)
			continue;
		slot->job = jobs_next(jobs);
		slot->state = SLOT_BUSY;
		slot->deadline_s = clock_seconds() + workers->timeout_s;
		/* if the process is gone, the next call finds that out and loses this unit */
		(void)worker_send(&slot->worker, &slot->job->frame, NULL);
	}
}

void compile_workers_advance(struct compile_workers *workers, struct jobs *jobs)
{
	double now = clock_seconds();

	for (unsigned i = 0; i < workers->slot_count; i++)
		attend(workers, jobs, &workers->slots[i], now);
	hand_out(workers, jobs);
	start_workers(workers, jobs);
	while (jobs->queued && !anyone_left(workers))
		jobs_fail(jobs, jobs_next(jobs), OUTCOME_COMPILE_CRASHED,
			"no compiler process starts any more");
}

size_t compile_workers_fds(const struct compile_workers *workers, struct pollfd *fds, size_t max)
{
	size_t count = 0;

	for (unsigned i = 0; i < workers->slot_count && count < max; i++)
		if (workers->slots[i].state != SLOT_ABSENT)
			fds[count++] = (struct pollfd){
				.fd = workers->slots[i].worker.from_fd, .events = POLLIN};
	return count;
}

static double earliest_deadline(const struct compile_workers *workers)
{
	double earliest = HUGE_VAL;

	for (unsigned i = 0; i < workers->slot_count; i++) {
		const struct slot *slot = &workers->slots[i];

		if ((slot->state == SLOT_STARTING || slot->state == SLOT_BUSY) &&
			slot->deadline_s < earliest)
			earliest = slot->deadline_s;
	}
	return earliest;
}

void compile_workers_wait(const struct compile_workers *workers, double timeout_s)
{
	struct pollfd *fds = memory_zeroed(workers->slot_count, sizeof(*fds));
	size_t count = compile_workers_fds(workers, fds, workers->slot_count);
	double wait_s = earliest_deadline(workers) - clock_seconds();

	if (timeout_s >= 0 && timeout_s < wait_s)
		wait_s = timeout_s;
	if (wait_s < 0)
		wait_s = 0;
	if (wait_s > 60)
		wait_s = 60; /* the caller's loop comes back */
	poll(fds, count, (int)(wait_s * 1e3 + 0.999));
	free(fds);
}

void compile_workers_end(struct compile_workers *workers)
{
	/* all are told before the first is waited for */
	for (unsigned i = 0; i < workers->slot_count; i++)
		worker_kill(&workers->slots[i].worker);
	for (unsigned i = 0; i < workers->slot_count; i++) {
		compile_slot_end(&workers->slots[i], NULL);
		job_free(workers->slots[i].job);
	}
	free(workers->slots);
}
