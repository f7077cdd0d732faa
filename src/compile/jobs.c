/* SPDX-License-Identifier: MIT */
#include "compile/jobs.h"

#include <math.h>

#include "compile/worker.h"
#include "base/clock.h"

struct job {
	struct job *next;      /* in the queue, or among followers */
	struct job *next_same; /* in a bucket of the table */
	struct job *followers;
	uint64_t ticket;
	char key[HASH_SIZE];
	char *name, *arch;
	struct text frame; /* for the worker */
	bool was_killed;   /* with the worker that had it: it has one more try */
};

/* ---- jobs ---- */
static struct job *job_new(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket)
{
	struct job *job = memory_zeroed(1, sizeof(*job));

	job->ticket = ticket;
	job->name = string_copy(unit->name ? unit->name : "kernel.cu");
	job->arch = string_copy(arch);
	cache_key(unit, arch, jobs->compiler, headers_of(jobs->headers, unit->source)->hash,
		job->key);
	return job;
}

/* With its followers; NULL is fine. */
static void job_free(struct job *job)
{
	while (job) {
		struct job *next = job->followers;

		/* a follower has no followers of its own: its list goes on where its own would */
		if (next)
			next->followers = next->next;
		text_release(&job->frame);
		free(job->arch);
		free(job->name);
		free(job);
		job = next;
	}
}

static void job_pack(struct jobs *jobs, struct job *job, const struct build_unit *unit)
{
	struct compile_request request = {.unit = *unit, .arch = job->arch};

	if (headers_of(jobs->headers, unit->source)->source)
		request.header_folders = jobs->header_folders;

	request.unit.name = job->name;
	message_pack(COMPILE_UNIT, &compile_request_record, &request, &job->frame);
}

/* Where in the table a job with this key is linked, or would be. */
static struct job **table_link(struct jobs *jobs, const char key[HASH_SIZE])
{
	struct job **link = &jobs->table[hash_bytes(key, HASH_SIZE - 1, 0) % JOB_BUCKETS];

	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next_same;
	return link;
}

static void jobs_queue(struct jobs *jobs, struct job *job)
{
	if (jobs->last)
		jobs->last->next = job;
	else
		jobs->first = job;
	jobs->last = job;
	jobs->queued++;
}

/* Off the queue; NULL when it is empty. */
static struct job *jobs_next(struct jobs *jobs)
{
	struct job *job = jobs->first;

	if (!job)
		return NULL;
	jobs->first = job->next;
	if (!jobs->first)
		jobs->last = NULL;
	job->next = NULL;
	jobs->queued--;
	return job;
}

/* ---- results ---- */
/* Takes the result. */
static void answer(
	struct jobs *jobs, struct compile_result result, uint64_t ticket, bool from_cache)
{
	result.ticket = ticket;
	result.from_cache = from_cache;
	ARRAY_GROW(jobs->finished, jobs->finished_count, jobs->finished_capacity);
	jobs->finished[jobs->finished_count++] = result;
}

bool jobs_take(struct jobs *jobs, struct compile_result *result)
{
	if (jobs->finished_at == jobs->finished_count)
		return false;
	*result = jobs->finished[jobs->finished_at++];
	if (jobs->finished_at == jobs->finished_count)
		jobs->finished_at = jobs->finished_count = 0;
	jobs->pending--;
	return true;
}

void jobs_submit(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket)
{
	struct job *job = job_new(jobs, unit, arch, ticket);
	struct job **link = table_link(jobs, job->key);
	struct compile_result result;

	jobs->pending++;
	if (*link) {
		job->next = (*link)->followers;
		(*link)->followers = job;
	} else if (jobs->cache && cache_get(jobs->cache, job->key, &result)) {
		answer(jobs, result, ticket, true);
		job_free(job);
	} else {
		job_pack(jobs, job, unit);
		*link = job;
		jobs_queue(jobs, job);
	}
}

static void store(struct jobs *jobs, const struct job *job, const struct compile_result *result)
{
	const struct cache_label label = {job->name, job->arch, (char *)(uintptr_t)jobs->compiler};
	struct error err = {0};

	/* a crash or a timeout may be the machine's fault: it is tried again next time */
	if (!jobs->cache ||
		(result->outcome != OUTCOME_OK && result->outcome != OUTCOME_COMPILE_FAILED))
		return;
	if (cache_put(jobs->cache, job->key, &label, result, &err) != STATUS_OK &&
		jobs->cache_problem.status == STATUS_OK)
		jobs->cache_problem = err;
}

/* Takes job and result: stores it, and answers the job's ticket and those that follow it. */
static void jobs_finish(struct jobs *jobs, struct job *job, struct compile_result result)
{
	struct job **link = table_link(jobs, job->key);

	*link = job->next_same;
	store(jobs, job, &result);
	answer(jobs, result, job->ticket, false); /* stays whole until it is taken */
	for (struct job *follower = job->followers; follower; follower = follower->next) {
		struct compile_result copy = {0};

		record_copy(&compile_result_record, &result, &copy);
		answer(jobs, copy, follower->ticket, true);
	}
	job_free(job);
}

/* The same with an outcome without a kernel. */
static void jobs_fail(struct jobs *jobs, struct job *job, enum outcome outcome, const char *log)
{
	jobs_finish(
		jobs, job, (struct compile_result){.outcome = outcome, .log = string_copy(log)});
}

void jobs_release(struct jobs *jobs)
{
	struct compile_result result;
	struct job *job;

	/* all are told before the first is waited for */
	for (unsigned i = 0; i < jobs->slot_count; i++)
		worker_kill(&jobs->slots[i].worker);
	for (unsigned i = 0; i < jobs->slot_count; i++) {
		compile_slot_end(&jobs->slots[i], NULL);
		job_free(jobs->slots[i].job);
	}
	free(jobs->slots);
	while ((job = jobs_next(jobs)))
		job_free(job);
	while (jobs_take(jobs, &result))
		compile_result_release(&result);
	free(jobs->finished);
	cache_close(jobs->cache);
	headers_free(jobs->headers);
	for (size_t i = 0; jobs->header_folders && jobs->header_folders[i]; i++)
		free(jobs->header_folders[i]);
	free(jobs->header_folders);
}

/* ---- the processes ---- */
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
static void lose_worker(struct jobs *jobs, struct slot *slot)
{
	const enum slot_state state = slot->state;
	struct job *job = slot->job;
	CLEANUP(text_release) struct text how = {0};
	CLEANUP(memory_free) char *log = NULL;

	slot->job = NULL;
	compile_slot_end(slot, &how);
	if (job && worker_was_killed(&how) && !job->was_killed) {
		job->was_killed = true;
		jobs_queue(jobs, job);
		return;
	}
	log = string_format("the compiler's process was %s", text_string(&how));
	if (job)
		jobs_fail(jobs, job, OUTCOME_COMPILE_CRASHED, log);
	else if (state == SLOT_STARTING)
		jobs->start_failures++;
}

static void take_answer(struct jobs *jobs, struct slot *slot, const struct message *message)
{
	struct compile_result result;

	if (slot->state == SLOT_STARTING && message->kind == COMPILE_LOADED) {
		jobs->start_failures = 0;
	} else if (message->kind == COMPILE_RESULT && slot->job &&
		   message_unpack(message, &compile_result_record, "worker-compile", &result,
			   NULL) == STATUS_OK) {
		struct job *job = slot->job;

		slot->job = NULL;
		jobs_finish(jobs, job, result);
	} else {
		lose_worker(jobs, slot);
		return;
	}
	slot->state = SLOT_IDLE;
}

static void check_deadline(struct jobs *jobs, struct slot *slot, double now)
{
	struct job *job = slot->job;
	CLEANUP(memory_free) char *log = NULL;

	if (slot->state == SLOT_DYING || slot->state == SLOT_IDLE || now < slot->deadline_s)
		return;
	if (slot->state == SLOT_STARTING)
		jobs->start_failures++;
	/* its end is taken by a later call: memory of that size takes a while to give back */
	worker_kill(&slot->worker);
	slot->state = SLOT_DYING;
	slot->job = NULL;
	if (!job)
		return;
	log = string_format("the compiler took longer than %.3g s", jobs->timeout_s);
	jobs_fail(jobs, job, OUTCOME_COMPILE_TIMEOUT, log);
}

static void attend(struct jobs *jobs, struct slot *slot, double now)
{
	struct message message;
	enum message_result received;

	if (slot->state == SLOT_ABSENT)
		return;
	received = message_receive(slot->worker.from_fd, &slot->worker.pending, 0, &message);
	if (received == MESSAGE_CLOSED) {
		lose_worker(jobs, slot);
	} else if (received == MESSAGE_READY) {
		/* what a killed one still said is too late */
		if (slot->state != SLOT_DYING)
			take_answer(jobs, slot, &message);
		message_release(&message);
	} else {
		check_deadline(jobs, slot, now);
	}
}

/* No more processes than there are units to keep them busy. */
static void start_workers(struct jobs *jobs)
{
	size_t coming = 0;

	for (unsigned i = 0; i < jobs->slot_count; i++)
		coming += jobs->slots[i].state == SLOT_STARTING;
	for (unsigned i = 0; i < jobs->slot_count && coming < jobs->queued; i++) {
		struct slot *slot = &jobs->slots[i];

		if (slot->state != SLOT_ABSENT || jobs->start_failures >= START_FAILURES_MAX)
			continue;
		if (compile_slot_start(slot, jobs->worker_path, NULL) == STATUS_OK)
			compile_slot_load(slot, jobs->library_path, false, start_timeout_s);
		else
			jobs->start_failures++;
		coming++;
	}
}

static bool anyone_left(const struct jobs *jobs)
{
	for (unsigned i = 0; i < jobs->slot_count; i++)
		if (jobs->slots[i].state != SLOT_ABSENT)
			return true;
	return jobs->start_failures < START_FAILURES_MAX;
}

static void hand_out(struct jobs *jobs)
{
	for (unsigned i = 0; i < jobs->slot_count && jobs->queued; i++) {
		struct slot *slot = &jobs->slots[i];

		if (slot->state != SLOT_IDLE)
			continue;
		slot->job = jobs_next(jobs);
		slot->state = SLOT_BUSY;
		slot->deadline_s = clock_seconds() + jobs->timeout_s;
		/* if the process is gone, the next call finds that out and loses this unit */
		(void)worker_send(&slot->worker, &slot->job->frame, NULL);
	}
}

void jobs_advance(struct jobs *jobs)
{
	double now = clock_seconds();

	for (unsigned i = 0; i < jobs->slot_count; i++)
		attend(jobs, &jobs->slots[i], now);
	hand_out(jobs);
	start_workers(jobs);
	while (jobs->queued && !anyone_left(jobs))
		jobs_fail(jobs, jobs_next(jobs), OUTCOME_COMPILE_CRASHED,
			"no compiler process starts any more");
}

size_t jobs_fds(const struct jobs *jobs, struct pollfd *fds, size_t max)
{
	size_t count = 0;

	for (unsigned i = 0; i < jobs->slot_count && count < max; i++)
		if (jobs->slots[i].state != SLOT_ABSENT)
			fds[count++] = (struct pollfd){
				.fd = jobs->slots[i].worker.from_fd, .events = POLLIN};
	return count;
}

void jobs_wait(const struct jobs *jobs, double timeout_s)
{
	CLEANUP(memory_free) struct pollfd *fds = memory_zeroed(jobs->slot_count, sizeof(*fds));
	size_t count = jobs_fds(jobs, fds, jobs->slot_count);
	double wait_s = 60; /* the caller's loop comes back */

	for (unsigned i = 0; i < jobs->slot_count; i++)
		if (jobs->slots[i].state == SLOT_STARTING || jobs->slots[i].state == SLOT_BUSY)
			wait_s = fmin(wait_s, jobs->slots[i].deadline_s - clock_seconds());
	if (timeout_s >= 0)
		wait_s = fmin(wait_s, timeout_s);
	poll(fds, count, (int)(fmax(wait_s, 0) * 1e3 + 0.999));
}
