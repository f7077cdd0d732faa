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
	cache_key(unit, arch, jobs->compiler,
		toolkit_is_included(unit->source) ? toolkit_hash(&jobs->toolkit)
						  : toolkit_prelude(),
		job->key);
	return job;
}

/* With its followers; NULL is fine. */
static void job_free(struct job *job)
{
	while (job) {
		struct job *next = job->followers;

		/* the followers are linked by `next`: the first takes over the rest of the list */
		if (next)
			next->followers = next->next;
		text_release(&job->frame);
		free(job->arch);
		free(job->name);
		free(job);
		job = next;
	}
}

static void job_pack(struct job *job, const struct build_unit *unit)
{
	struct compile_request request = {.unit = *unit, .arch = job->arch};

	request.unit.name = job->name;
	message_pack(COMPILE_UNIT, &compile_request_record, &request, &job->frame);
}

/* The link of the table that holds the job with this key, or the one to put it into. */
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

/* Removes the first job of the queue; NULL if it is empty. */
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
		job_pack(job, unit);
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

/* The same for an outcome without a kernel. */
static void jobs_fail(struct jobs *jobs, struct job *job, enum outcome outcome, const char *log)
{
	jobs_finish(
		jobs, job, (struct compile_result){.outcome = outcome, .log = string_copy(log)});
}

void jobs_release(struct jobs *jobs)
{
	struct compile_result result;
	struct job *job;

	/* all are killed before the first is waited for */
	for (unsigned i = 0; i < jobs->process_count; i++)
		worker_kill(&jobs->processes[i].worker);
	for (unsigned i = 0; i < jobs->process_count; i++) {
		compile_process_end(&jobs->processes[i], NULL);
		job_free(jobs->processes[i].job);
	}
	free(jobs->processes);
	while ((job = jobs_next(jobs)))
		job_free(job);
	while (jobs_take(jobs, &result))
		compile_result_release(&result);
	free(jobs->finished);
	cache_close(jobs->cache);
	toolkit_release(&jobs->toolkit);
}

enum {
	START_FAILURES_MAX = 3
};

static const double start_timeout_s = 60;

/* ---- one process ---- */
enum status compile_process_start(
	struct compile_process *process, const char *path, struct error *err)
{
	const enum status status =
		worker_start(&process->worker, path, "worker-compile", true, err);

	process->state = status == STATUS_OK ? PROCESS_IDLE : PROCESS_ABSENT;
	return status;
}

void compile_process_load(
	struct compile_process *process, const char *library_path, bool try, double timeout_s)
{
	const struct compile_load load = {.path = (char *)(uintptr_t)library_path, .try = try};
	struct text frame = {0};

	message_pack(COMPILE_LOAD, &compile_load_record, &load, &frame);
	(void)worker_send(&process->worker, &frame, NULL);
	text_release(&frame);
	process->state = PROCESS_STARTING;
	process->deadline_s = clock_seconds() + timeout_s;
}

void compile_process_end(struct compile_process *process, struct text *how)
{
	worker_end(&process->worker, how);
	process->state = PROCESS_ABSENT;
}

/* ---- all processes ---- */
/* The process is gone, or of no more use. What it compiled is lost with it. */
static void lose_worker(struct jobs *jobs, struct compile_process *process)
{
	const enum process_state state = process->state;
	struct job *job = process->job;
	CLEANUP(text_release) struct text how = {0};
	CLEANUP(memory_free) char *log = NULL;

	process->job = NULL;
	compile_process_end(process, &how);
	if (job && worker_was_killed(&how) && !job->was_killed) {
		job->was_killed = true;
		jobs_queue(jobs, job);
		return;
	}
	log = string_format("the compiler's process was %s", text_string(&how));
	if (job)
		jobs_fail(jobs, job, OUTCOME_COMPILE_CRASHED, log);
	else if (state == PROCESS_STARTING)
		jobs->start_failures++;
}

static void take_answer(
	struct jobs *jobs, struct compile_process *process, const struct message *message)
{
	struct compile_result result;

	if (process->state == PROCESS_STARTING && message->kind == COMPILE_LOADED) {
		jobs->start_failures = 0;
	} else if (message->kind == COMPILE_RESULT && process->job &&
		   message_unpack(message, &compile_result_record, "worker-compile", &result,
			   NULL) == STATUS_OK) {
		struct job *job = process->job;

		process->job = NULL;
		jobs_finish(jobs, job, result);
	} else {
		lose_worker(jobs, process);
		return;
	}
	process->state = PROCESS_IDLE;
}

static void check_deadline(struct jobs *jobs, struct compile_process *process, double now)
{
	struct job *job = process->job;
	CLEANUP(memory_free) char *log = NULL;

	if (process->state == PROCESS_DYING || process->state == PROCESS_IDLE ||
		now < process->deadline_s)
		return;
	if (process->state == PROCESS_STARTING)
		jobs->start_failures++;
	/* a later call sees its end: the kernel takes a while to free that much memory */
	worker_kill(&process->worker);
	process->state = PROCESS_DYING;
	process->job = NULL;
	if (!job)
		return;
	log = string_format("the compiler took longer than %.3g s", jobs->timeout_s);
	jobs_fail(jobs, job, OUTCOME_COMPILE_TIMEOUT, log);
}

static void attend(struct jobs *jobs, struct compile_process *process, double now)
{
	struct message message;
	enum message_result received;

	if (process->state == PROCESS_ABSENT)
		return;
	received = message_receive(process->worker.from_fd, &process->worker.pending, 0, &message);
	if (received == MESSAGE_CLOSED) {
		lose_worker(jobs, process);
	} else if (received == MESSAGE_READY) {
		/* an answer of a killed worker is too late */
		if (process->state != PROCESS_DYING)
			take_answer(jobs, process, &message);
		message_release(&message);
	} else {
		check_deadline(jobs, process, now);
	}
}

/* No more processes than there are units to keep them busy. */
static void start_workers(struct jobs *jobs)
{
	size_t coming = 0;

	for (unsigned i = 0; i < jobs->process_count; i++)
		coming += jobs->processes[i].state == PROCESS_STARTING;
	for (unsigned i = 0; i < jobs->process_count && coming < jobs->queued; i++) {
		struct compile_process *process = &jobs->processes[i];

		if (process->state != PROCESS_ABSENT || jobs->start_failures >= START_FAILURES_MAX)
			continue;
		if (compile_process_start(process, jobs->worker_path, NULL) == STATUS_OK)
			compile_process_load(process, jobs->library_path, false, start_timeout_s);
		else
			jobs->start_failures++;
		coming++;
	}
}

static bool anyone_left(const struct jobs *jobs)
{
	for (unsigned i = 0; i < jobs->process_count; i++)
		if (jobs->processes[i].state != PROCESS_ABSENT)
			return true;
	return jobs->start_failures < START_FAILURES_MAX;
}

static void hand_out(struct jobs *jobs)
{
	for (unsigned i = 0; i < jobs->process_count && jobs->queued; i++) {
		struct compile_process *process = &jobs->processes[i];

		if (process->state != PROCESS_IDLE)
			continue;
		process->job = jobs_next(jobs);
		process->state = PROCESS_BUSY;
		process->deadline_s = clock_seconds() + jobs->timeout_s;
		/* if the process is gone, the next call finds that out and loses this unit */
		(void)worker_send(&process->worker, &process->job->frame, NULL);
	}
}

void jobs_advance(struct jobs *jobs)
{
	double now = clock_seconds();

	for (unsigned i = 0; i < jobs->process_count; i++)
		attend(jobs, &jobs->processes[i], now);
	hand_out(jobs);
	start_workers(jobs);
	while (jobs->queued && !anyone_left(jobs))
		jobs_fail(jobs, jobs_next(jobs), OUTCOME_COMPILE_CRASHED,
			"no compiler process starts any more");
}

size_t jobs_fds(const struct jobs *jobs, struct pollfd *fds, size_t max)
{
	size_t count = 0;

	for (unsigned i = 0; i < jobs->process_count && count < max; i++)
		if (jobs->processes[i].state != PROCESS_ABSENT)
			fds[count++] = (struct pollfd){
				.fd = jobs->processes[i].worker.from_fd, .events = POLLIN};
	return count;
}

void jobs_wait(const struct jobs *jobs, double timeout_s)
{
	CLEANUP(memory_free) struct pollfd *fds = memory_zeroed(jobs->process_count, sizeof(*fds));
	size_t count = jobs_fds(jobs, fds, jobs->process_count);
	double wait_s = 60; /* the caller calls again */

	for (unsigned i = 0; i < jobs->process_count; i++)
		if (jobs->processes[i].state == PROCESS_STARTING ||
			jobs->processes[i].state == PROCESS_BUSY)
			wait_s = fmin(wait_s, jobs->processes[i].deadline_s - clock_seconds());
	if (timeout_s >= 0)
		wait_s = fmin(wait_s, timeout_s);
	poll(fds, count, (int)(fmax(wait_s, 0) * 1e3 + 0.999));
}
