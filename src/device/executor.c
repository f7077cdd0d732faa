/* SPDX-License-Identifier: MIT */
#include "device/executor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum {
	ATTEMPTS_MAX = 2 /* attempts of a request if no job is to blame */
};

/* ---- requests ---- */
/* Also frees the request that measures its job, unless other requests still prepare jobs for it. */
static void request_free(struct executor_request *request)
{
	if (request->next && !--request->next->preparing)
		request_free(request->next);
	record_release(&measure_request_record, &request->run);
	free(request->passed);
	free(request->sent);
	free(request);
}

static struct executor_request *request_new(
	const struct device_job *jobs, size_t count, const struct sampling *sampling)
{
	struct executor_request *request = memory_zeroed(1, sizeof(*request));
	const struct measure_request run = {
		.jobs = (struct device_job *)(uintptr_t)jobs, /* copied */
		.job_count = count,
		.sampling = *sampling};

	record_copy(&measure_request_record, &run, &request->run);
	request->run.sampling = *sampling;
	request->task.until_s = sampling->until_s;
	request->passed = memory_zeroed(count + 1, sizeof(*request->passed));
	request->sent = memory_zeroed(count + 1, sizeof(*request->sent));
	return request;
}

/* Queues a request whose jobs are all prepared. */
static void add_to_measure(struct executor *executor, struct executor_request *request)
{
	if (executor->protocol->prepared && request->run.job_count) {
		executor->protocol->prepared(executor, request);
		if (!request->run.job_count) {
			request_free(request);
			return;
		}
	}
	pool_add(&executor->measures, &request->task);
}

void executor_add(struct executor *executor, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, const bool *prepares)
{
	struct executor_request *request = request_new(jobs, count, sampling);

	for (size_t i = 0; i < count; i++)
		if (prepares && prepares[i]) {
			struct executor_request *preparing = request_new(&jobs[i], 1, sampling);

			preparing->next = request;
			request->preparing++;
			pool_add(&executor->prepares, &preparing->task);
		}
	if (!request->preparing)
		add_to_measure(executor, request);
}

/* Returns SIZE_MAX if no unanswered job has this ticket. */
static size_t find(const struct executor_request *request, uint64_t ticket)
{
	for (size_t i = 0; i < request->run.job_count; i++)
		if (request->run.jobs[i].ticket == ticket)
			return i;
	return SIZE_MAX;
}

/* ---- references that fail ---- */
/* Returns NULL if the reference of the job's problem did not fail. */
static const struct executor_failed *failed_of(
	const struct executor *executor, const struct device_job *job)
{
	char key[HASH_SIZE];

	if (!job->problem || !executor->failed_count)
		return NULL;
	device_problem_key(job->problem, key);
	for (size_t i = 0; i < executor->failed_count; i++)
		if (strcmp(executor->failed[i].key, key) == 0)
			return &executor->failed[i];
	return NULL;
}

static void add_failed(
	struct executor *executor, const struct device_job *job, const struct device_reply *reply)
{
	struct executor_failed *failed;

	ARRAY_GROW(executor->failed, executor->failed_count, executor->failed_capacity);
	failed = &executor->failed[executor->failed_count++];
	*failed = (struct executor_failed){
		.outcome = reply->result.outcome, .detail = string_copy(reply->result.detail)};
	device_problem_key(job->problem, failed->key);
}

/* ---- answers ---- */
void executor_answer(struct executor *executor, struct executor_request *request, size_t job,
	struct device_reply *reply)
{
	struct measure_request *run = &request->run;

	if (reply->reference_failed && run->jobs[job].problem &&
		!failed_of(executor, &run->jobs[job]))
		add_failed(executor, &run->jobs[job], reply);
	device_reply_push(executor->device, *reply);
	*reply = (struct device_reply){0};
	record_release(&device_job_record, &run->jobs[job]);
	run->job_count--;
	memmove(&run->jobs[job], &run->jobs[job + 1], (run->job_count - job) * sizeof(*run->jobs));
	memmove(&request->passed[job], &request->passed[job + 1],
		(run->job_count - job) * sizeof(*request->passed));
}

static void answer_outcome(struct executor *executor, struct executor_request *request, size_t job,
	bool reference, enum outcome outcome, const char *detail)
{
	executor_answer(executor, request, job,
		&(struct device_reply){.ticket = request->run.jobs[job].ticket,
			.reference_failed = reference,
			.result = {.outcome = outcome, .detail = string_copy(detail)}});
}

static void finish_preparing(struct executor *executor, struct executor_request *request,
	enum outcome outcome, const char *detail)
{
	struct executor_request *next = request->next;
	const size_t job = find(next, request->run.jobs[0].ticket);

	if (outcome != OUTCOME_OK && job != SIZE_MAX)
		answer_outcome(executor, next, job, false, outcome, detail);
	request->next = NULL;
	request_free(request);
	if (--next->preparing)
		return;
	if (next->run.job_count)
		add_to_measure(executor, next);
	else
		request_free(next);
}

/* Requests the next job that did not pass by itself; after the last one, requests all together. */
static void request_next_alone(struct executor_request *request)
{
	size_t next = 0;

	while (next < request->run.job_count && request->passed[next])
		next++;
	request->is_alone = next < request->run.job_count;
	request->all_passed = !request->is_alone;
	if (request->is_alone)
		request->alone = request->run.jobs[next].ticket;
}

static enum pool_event take_result(struct executor *executor, struct executor_request *request,
	struct device_reply *reply, struct text *why)
{
	const size_t job = find(request, reply->ticket);

	if (job == SIZE_MAX) /* the job is answered already */
		return POOL_WORKS;
	if (reply->fatal) {
		text_append(why, reply->result.detail ? reply->result.detail
						      : outcome_name(reply->result.outcome));
		request->fault = reply->result.outcome;
		return POOL_FAILED;
	}
	if (request->next) {
		finish_preparing(executor, request, reply->result.outcome, reply->result.detail);
		return POOL_DONE;
	}
	request->has_progress = false;
	request->task.was_killed = false;
	if (request->is_alone && request->run.job_count > 1) {
		request->passed[job] = true;
		request_next_alone(request);
		pool_add_first(&executor->measures, &request->task);
		return POOL_DONE;
	}
	executor_answer(executor, request, job, reply);
	if (request->run.job_count)
		return POOL_WORKS;
	request_free(request);
	return POOL_DONE;
}

static enum pool_event take_progress(
	struct executor_request *request, const struct measure_answer *answer)
{
	request->has_progress = answer->progress >= 0;
	request->is_reference = answer->reference;
	if (request->has_progress)
		request->progress = request->sent[answer->progress];
	request->task.timeout_s = answer->allow_s > 0 ? answer->allow_s : request->silence_s;
	if (request->run.job_count)
		return POOL_WORKS;
	request_free(request);
	return POOL_DONE;
}

/* ---- the pools ---- */
static void post(struct worker *worker, struct measure_request *request)
{
	CLEANUP(text_release) struct text line = {0};

	request->id = ++worker->id;
	record_append(&measure_request_record, request, &line);
	worker_post(worker, &line);
}

static enum status start(struct pool *pool, struct worker *worker, struct error *err)
{
	static char protocol[] = "tiletune.program/1";
	struct executor *executor = pool->context;
	struct measure_request hello = {.kind = REQUEST_HELLO,
		.is_hello = true,
		.protocol = protocol,
		.prepares = pool == &executor->prepares};
	const enum status status = executor->protocol->start(executor, worker, &hello, err);

	if (status == STATUS_OK)
		post(worker, &hello);
	else
		executor->reason = *err;
	return status;
}

static bool send(void *context, struct worker *worker, struct pool_task *task)
{
	struct executor *executor = context;
	struct executor_request *request = (struct executor_request *)task;
	const bool is_empty = !request->run.job_count, starts = !executor->has_started;
	struct measure_request run;

	executor->has_started = true;
	for (size_t i = 0; i < request->run.job_count;) {
		const struct executor_failed *failed = failed_of(executor, &request->run.jobs[i]);

		if (failed && request->run.jobs[i].verify)
			answer_outcome(executor, request, i, true, failed->outcome, failed->detail);
		else
			i++;
	}
	if (!request->run.job_count && (!is_empty || starts)) {
		request_free(request);
		return false;
	}
	request->is_alone &= find(request, request->alone) != SIZE_MAX;
	run = request->run;
	if (request->is_alone) {
		run.jobs = &request->run.jobs[find(request, request->alone)];
		run.job_count = 1;
	}
	request->sent_count = run.job_count;
	for (size_t i = 0; i < run.job_count; i++)
		request->sent[i] = run.jobs[i].ticket;
	request->has_progress = false;
	run.kind = request->next ? REQUEST_PREPARE : REQUEST_MEASURE;
	run.measures = !request->next;
	task->timeout_s = request->silence_s = executor->protocol->complete(executor, worker, &run);
	request->run.verifies = run.verifies;
	post(worker, &run);
	request->run.id = run.id;
	return true;
}

/* Sets *why if the answer does not fit the request. */
static bool is_valid(const struct executor *executor, const struct executor_request *request,
	const struct measure_answer *answer, struct text *why)
{
	const int64_t job = answer->is_progress ? answer->progress : answer->job;
	const int64_t least = answer->is_progress && executor->protocol->is_worker ? -1 : 0;
	const char *who = executor->protocol->name;

	if (answer->id > request->run.id || answer->id < 1)
		text_appendf(why, "%s answered id %lld, expected %lld", who, (long long)answer->id,
			(long long)request->run.id);
	else if (answer->id < request->run.id)
		return true;
	else if (job < least || job >= (int64_t)request->sent_count)
		text_appendf(why, "%s answered job %lld of %zu", who, (long long)job,
			request->sent_count);
	else if (!answer->is_progress && !answer->has_outcome)
		text_appendf(why, "%s answered without \"outcome\" or \"progress\"", who);
	return !why->length;
}

static enum pool_event take_answer(struct executor *executor, struct executor_request *request,
	struct measure_answer *answer, struct text *why)
{
	if (answer->failed && executor->protocol->is_worker) {
		executor->reason = answer->error;
		text_append(why, answer->error.message);
		return POOL_REFUSED;
	}
	if (!request) /* no request is in progress, so the answer is late */
		return executor->protocol->is_worker ? POOL_FAILED : POOL_WORKS;
	if (!is_valid(executor, request, answer, why))
		return POOL_FAILED;
	if (answer->id < request->run.id)
		return POOL_WORKS;
	if (answer->is_progress)
		return take_progress(request, answer);
	answer->reply.ticket = request->sent[answer->job];
	if (executor->protocol->take_reply)
		executor->protocol->take_reply(executor, request, answer, why);
	return why->length ? POOL_FAILED : take_result(executor, request, &answer->reply, why);
}

static enum pool_event executor_read_line(void *context, struct worker *worker, bool handshake,
	struct pool_task *task, const struct text *line, struct text *why)
{
	struct executor *executor = context;
	struct measure_answer answer = {0};
	struct error err = {0};
	enum status status;
	enum pool_event event = POOL_READY;

	(void)worker;
	if (handshake) {
		status = executor->protocol->take_hello(executor, line, why, &err);
		if (why->length)
			return POOL_REFUSED;
	} else {
		status = line_read(&measure_answer_record, line, "its line", &answer, &err);
		if (status == STATUS_OK)
			event = take_answer(
				executor, (struct executor_request *)task, &answer, why);
		record_release(&measure_answer_record, &answer);
	}
	if (status == STATUS_OK)
		return event;
	text_appendf(why, "%s sent an invalid answer: %s: %.200s", executor->protocol->name,
		err.message, text_string(line));
	return POOL_FAILED;
}

static void lose_device(struct executor *executor, const char *why)
{
	struct device_reply lost = {.lost = true, .result.outcome = OUTCOME_DEVICE_LOST};

	if (executor->device->lost)
		return;
	lost.result.detail = string_format("%s%s", executor->protocol->lost_context, why);
	device_reply_push(executor->device, lost);
}

/* Handles the end of a request's process. */
static void blame(struct executor *executor, struct executor_request *request, enum outcome outcome,
	const char *detail)
{
	const bool known = request->has_progress && find(request, request->progress) != SIZE_MAX;
	const bool reference = known && request->is_reference;
	const uint64_t suspect = request->is_alone ? request->alone
				 : known           ? request->progress
						   : request->run.jobs[0].ticket;

	if ((!known || outcome == OUTCOME_DEVICE_LOST) && ++request->attempts < ATTEMPTS_MAX)
		return;
	/* after a timeout, other references get less time */
	if (reference && outcome == OUTCOME_TIMED_OUT)
		executor->reference_timeout_s =
			fmin(executor->reference_timeout_s, executor->kernel_timeout_s);
	if (reference || request->is_alone || request->all_passed || request->run.job_count == 1) {
		answer_outcome(
			executor, request, find(request, suspect), reference, outcome, detail);
		request->is_alone = false;
		request->attempts = 0;
	} else {
		request->is_alone = true;
		request->alone = suspect;
	}
}

static void executor_fail(void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct executor *executor = context;
	struct executor_request *request = (struct executor_request *)task;
	const enum outcome fault = request->fault;
	CLEANUP(memory_free)
	char *late = string_format("there was no answer within %.3g s", task->timeout_s);

	if (request->next) {
		/* without processes that prepare, the process that measures compiles the job */
		executor->can_prepare &= end != POOL_BROKEN;
		finish_preparing(executor, request,
			end == POOL_BROKEN      ? OUTCOME_OK
			: end == POOL_TIMED_OUT ? OUTCOME_COMPILE_TIMEOUT
						: OUTCOME_COMPILE_CRASHED,
			how);
		return;
	}
	request->fault = OUTCOME_OK;
	if (end == POOL_TIMED_OUT && task->until_s > 0 && clock_seconds() >= task->until_s)
		while (request->run.job_count)
			answer_outcome(executor, request, 0, false, OUTCOME_TIMED_OUT,
				"no answer before the budget was spent");
	else if (end == POOL_BROKEN)
		lose_device(executor, how);
	else if (fault != OUTCOME_OK)
		blame(executor, request, fault, how);
	else if (request->run.job_count)
		blame(executor, request,
			end == POOL_TIMED_OUT ? OUTCOME_TIMED_OUT : OUTCOME_CRASHED,
			end == POOL_TIMED_OUT ? late : how);
	if (request->run.job_count && end != POOL_BROKEN)
		pool_add_first(&executor->measures, task);
	else
		request_free(request);
}

/* ---- opening and closing ---- */
static void open_pool(struct executor *executor, struct pool *pool, size_t processes, size_t depth)
{
	pool_open(pool, &executor->kind, executor, processes, depth);
	executor->device->pools[executor->device->pool_count++] = pool;
}

void executor_open(struct executor *executor, struct device *device,
	const struct executor_protocol *protocol, size_t depth)
{
	*executor = (struct executor){.device = device,
		.protocol = protocol,
		.kind = {.name = protocol->name,
			.pause_s = protocol->pause_s,
			.handshake_s = protocol->handshake_s,
			.start = start,
			.send = send,
			.on_line = executor_read_line,
			.fail = executor_fail}};
	open_pool(executor, &executor->measures, 1, depth);
}

enum status executor_start(struct executor *executor, struct error *err)
{
	struct pool *pool = &executor->measures;
	const struct sampling none = {0};

	executor_add(executor, NULL, 0, &none, NULL);
	do {
		pool_wait(&pool, 1, INFINITY);
		pool_work(pool);
	} while (!executor->has_started && !executor->device->lost &&
		 executor->reason.status == STATUS_OK);
	if (executor->has_started)
		return STATUS_OK;
	if (executor->reason.status != STATUS_OK) {
		*err = executor->reason;
		return err->status;
	}
	error_set(err, STATUS_NO_DEVICE, "%s", "");
	return error_lines(err, pool->broken.message);
}

void executor_prepare(struct executor *executor, size_t processes)
{
	executor->can_prepare = processes > 0;
	open_pool(executor, &executor->prepares, processes, 1);
}

void executor_release(struct executor *executor)
{
	struct pool_task *task;

	while ((task = pool_take(&executor->prepares)) != NULL ||
		(task = pool_take(&executor->measures)) != NULL)
		request_free((struct executor_request *)task);
	pool_close(&executor->prepares);
	pool_close(&executor->measures);
	for (size_t i = 0; i < executor->failed_count; i++)
		free(executor->failed[i].detail);
	free(executor->failed);
}
