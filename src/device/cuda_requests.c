/* SPDX-License-Identifier: MIT */
#include "device/cuda_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	REQUESTS_AHEAD = 4, /* that the worker has at once: enough that it never waits for us */
	ATTEMPTS_MAX = 2,   /* of a request whose worker died between two steps, or lost its GPU */
};

/* Initialising a driver takes a second or two; on a busy machine with eight GPUs ten. */
static const double start_timeout_s = 90;
static const char who[] = "measuring worker";

struct cuda_request {
	struct pool_task task;  /* comes first */
	struct measure_run run; /* its jobs: those without an answer; without the setup */
	bool *passed;           /* per job: it did not fail alone */
	bool is_alone;          /* one of the jobs is asked for */
	uint64_t alone;         /* its ticket */
	bool all_passed;        /* each alone: only together they fail */
	unsigned attempts;
	struct measure_progress progress; /* the last that came */
	enum outcome fault;               /* that the worker ended with; ok: it did not say */
};

/* ---- requests ---- */
static void request_free(struct cuda_request *request)
{
	record_release(&measure_run_record, &request->run);
	free(request->passed);
	free(request);
}

void cuda_request_add(struct cuda_device *cuda, const struct device_job *jobs, size_t count,
	const struct sampling *sampling)
{
	struct cuda_request *request = memory_zeroed(1, sizeof(*request));
	const struct measure_run run = {.jobs = (struct device_job *)(uintptr_t)jobs, /* copied */
		.job_count = count,
		.sampling = *sampling};

	record_copy(&measure_run_record, &run, &request->run);
	request->passed = memory_zeroed(count + 1, sizeof(*request->passed));
	pool_add(&cuda->pool, &request->task);
}

/* ---- answers ---- */
/* SIZE_MAX: none without an answer has it. */
static size_t find(const struct cuda_request *request, uint64_t ticket)
{
	for (size_t i = 0; i < request->run.job_count; i++)
		if (request->run.jobs[i].ticket == ticket)
			return i;
	return SIZE_MAX;
}

/* NULL: the reference of its problem did not fail. */
static const struct cuda_failed *failed_of(
	const struct cuda_device *cuda, const struct device_job *job)
{
	char key[HASH_SIZE];

	if (!job->problem || !cuda->failed_count)
		return NULL;
	device_problem_key(job->problem, key);
	for (size_t i = 0; i < cuda->failed_count; i++)
		if (strcmp(cuda->failed[i].key, key) == 0)
			return &cuda->failed[i];
	return NULL;
}

static void add_failed(
	struct cuda_device *cuda, const struct device_job *job, const struct device_reply *reply)
{
	struct cuda_failed *failed;

	ARRAY_GROW(cuda->failed, cuda->failed_count, cuda->failed_capacity);
	failed = &cuda->failed[cuda->failed_count++];
	*failed = (struct cuda_failed){
		.outcome = reply->result.outcome, .detail = string_copy(reply->result.detail)};
	device_problem_key(job->problem, failed->key);
}

/* Takes the reply; the job is off the request. */
static void answer(struct cuda_device *cuda, struct cuda_request *request, size_t job,
	struct device_reply *reply)
{
	struct measure_run *run = &request->run;

	if (reply->reference_failed && run->jobs[job].problem && !failed_of(cuda, &run->jobs[job]))
		add_failed(cuda, &run->jobs[job], reply);
	device_reply_push(cuda->device, *reply);
	*reply = (struct device_reply){0};
	record_release(&device_job_record, &run->jobs[job]);
	run->job_count--;
	memmove(&run->jobs[job], &run->jobs[job + 1], (run->job_count - job) * sizeof(*run->jobs));
	memmove(&request->passed[job], &request->passed[job + 1],
		(run->job_count - job) * sizeof(*request->passed));
}

static void answer_outcome(struct cuda_device *cuda, struct cuda_request *request, size_t job,
	bool reference, enum outcome outcome, const char *detail)
{
	answer(cuda, request, job,
		&(struct device_reply){.ticket = request->run.jobs[job].ticket,
			.reference_failed = reference,
			.result = {.outcome = outcome, .detail = string_copy(detail)}});
}

/* The next that did not pass alone, else all together. */
static void ask_next_alone(struct cuda_request *request)
{
	size_t next = 0;

	while (next < request->run.job_count && request->passed[next])
		next++;
	request->is_alone = next < request->run.job_count;
	request->all_passed = !request->is_alone;
	if (request->is_alone)
		request->alone = request->run.jobs[next].ticket;
}

static enum pool_heard take_result(struct cuda_device *cuda, struct cuda_request *request,
	struct device_reply *reply, struct text *why)
{
	const size_t job = find(request, reply->ticket);

	if (job == SIZE_MAX || (request->is_alone && reply->ticket != request->alone))
		return POOL_FAILED; /* it speaks nonsense */
	if (reply->fatal) {
		text_append(why, reply->result.detail ? reply->result.detail
						      : outcome_name(reply->result.outcome));
		request->fault = reply->result.outcome;
		return POOL_FAILED;
	}
	request->progress = (struct measure_progress){0};
	request->task.was_killed = false;
	if (request->is_alone) {
		request->passed[job] = true;
		ask_next_alone(request);
		pool_add_first(&cuda->pool, &request->task);
		return POOL_DONE;
	}
	answer(cuda, request, job, reply);
	if (request->run.job_count)
		return POOL_WORKS;
	request_free(request);
	return POOL_DONE;
}

/* ---- the pool ---- */
static enum status start(struct pool *pool, struct worker *worker, struct error *err)
{
	const struct cuda_device *cuda = pool->context;

	return worker_start(worker, cuda->path, "worker-measure", false, err) == STATUS_OK
		       ? STATUS_OK
		       : error_context(err, "starting the measuring worker");
}

static bool send(void *context, struct worker *worker, struct pool_task *task)
{
	struct cuda_device *cuda = context;
	struct cuda_request *request = (struct cuda_request *)task;
	const bool opens = !request->run.job_count;
	CLEANUP(text_release) struct text frame = {0};
	struct measure_run run;

	for (size_t i = 0; i < request->run.job_count;) {
		const struct cuda_failed *failed = failed_of(cuda, &request->run.jobs[i]);

		if (failed && request->run.jobs[i].verify)
			answer_outcome(cuda, request, i, true, failed->outcome, failed->detail);
		else
			i++;
	}
	if (!request->run.job_count && !opens) {
		request_free(request);
		return false;
	}
	request->is_alone &= find(request, request->alone) != SIZE_MAX;
	run = request->run;
	run.setup = cuda->setup;
	if (request->is_alone) {
		run.jobs = &request->run.jobs[find(request, request->alone)];
		run.job_count = 1;
	}
	message_pack(REQUEST_RUN, &measure_run_record, &run, &frame);
	request->progress = (struct measure_progress){0};
	task->silence_s = cuda->setup.kernel_timeout_s;
	worker_post(worker, &frame);
	return true;
}

static enum pool_heard hear(
	void *context, struct worker *worker, bool greets, struct pool_task *task, struct text *why)
{
	struct cuda_device *cuda = context;
	struct cuda_request *request = (struct cuda_request *)task;
	CLEANUP(message_release) struct message message = {0};
	CLEANUP(device_reply_release) struct device_reply reply = {0};
	struct error theirs;
	enum pool_heard heard;

	(void)greets;
	heard = pool_received(message_receive(worker->from_fd, &worker->pending, 0, &message));
	if (heard != POOL_WORKS)
		return heard;
	if (message.kind == REPLY_ERROR &&
		message_unpack(&message, &error_record, who, &theirs, NULL) == STATUS_OK) {
		text_append(why, theirs.message);
		return POOL_REFUSED;
	}
	if (request && message.kind == REPLY_PROGRESS &&
		message_unpack(&message, &measure_progress_record, who, &request->progress, NULL) ==
			STATUS_OK) {
		task->silence_s = request->progress.allow_s > 0 ? (double)request->progress.allow_s
								: cuda->setup.kernel_timeout_s;
		if (request->run.job_count)
			return POOL_WORKS;
		request_free(request);
		return POOL_DONE;
	}
	return request && message.kind == REPLY_RESULT &&
			       message_unpack(&message, &device_reply_record, who, &reply, NULL) ==
				       STATUS_OK
		       ? take_result(cuda, request, &reply, why)
		       : POOL_FAILED;
}

static void lose(struct cuda_device *cuda, const char *why)
{
	if (!cuda->device->lost)
		device_reply_push(cuda->device,
			(struct device_reply){.lost = true,
				.result = {.outcome = OUTCOME_DEVICE_LOST,
					.detail = string_format(
						"starting the measuring worker again: %s", why)}});
}

/* The request's worker is gone: whose fault it is, or how that is found out. */
static void blame(struct cuda_device *cuda, struct cuda_request *request, enum outcome outcome,
	const char *detail)
{
	const struct measure_progress *progress = &request->progress;
	const bool known = progress->has_job && find(request, progress->ticket) != SIZE_MAX;
	const bool reference = known && progress->reference;
	const uint64_t suspect = request->is_alone ? request->alone
				 : known           ? progress->ticket
						   : request->run.jobs[0].ticket;

	/* between two steps; a lost device is no fault of theirs the first time */
	if ((!known || outcome == OUTCOME_DEVICE_LOST) && ++request->attempts < ATTEMPTS_MAX)
		return;
	/* for those of other problems it is not waited as long */
	if (reference && outcome == OUTCOME_TIMED_OUT)
		cuda->setup.reference_timeout_s =
			fmin(cuda->setup.reference_timeout_s, cuda->setup.kernel_timeout_s);
	if (reference || request->is_alone || request->all_passed || request->run.job_count == 1) {
		answer_outcome(cuda, request, find(request, suspect), reference, outcome, detail);
		request->is_alone = false;
		request->attempts = 0;
	} else {
		request->is_alone = true;
		request->alone = suspect;
	}
}

static void fail(void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct cuda_device *cuda = context;
	struct cuda_request *request = (struct cuda_request *)task;
	const enum outcome fault = request->fault;
	CLEANUP(memory_free)
	char *late = string_format("no answer within %.3g s", task->silence_s);

	request->fault = OUTCOME_OK;
	if (end == POOL_BROKEN)
		lose(cuda, how);
	else if (fault != OUTCOME_OK)
		blame(cuda, request, fault, how);
	else if (request->run.job_count)
		blame(cuda, request, end == POOL_TIMED_OUT ? OUTCOME_TIMED_OUT : OUTCOME_CRASHED,
			end == POOL_TIMED_OUT ? late : how);
	if (request->run.job_count && end != POOL_BROKEN)
		pool_add_first(&cuda->pool, task);
	else
		request_free(request);
}

static const struct pool_kind kind = {.name = "the measuring worker",
	.pause_s = 0.5,
	.first_word_s = start_timeout_s,
	.start = start,
	.send = send,
	.hear = hear,
	.fail = fail};

void cuda_requests_open(struct cuda_device *cuda)
{
	pool_open(&cuda->pool, &kind, cuda, 1, REQUESTS_AHEAD);
	cuda->device->pools[cuda->device->pool_count++] = &cuda->pool;
}

void cuda_requests_release(struct cuda_device *cuda)
{
	struct pool_task *task;

	while ((task = pool_take(&cuda->pool)) != NULL)
		request_free((struct cuda_request *)task);
	pool_close(&cuda->pool);
	for (size_t i = 0; i < cuda->failed_count; i++)
		free(cuda->failed[i].detail);
	free(cuda->failed);
}

/* ---- what is in the machine ---- */
static enum status ask(
	struct worker *worker, const char *selector, struct measure_gpus *gpus, struct error *err)
{
	const struct measure_list asked = {(char *)(uintptr_t)selector};
	CLEANUP(message_release) struct message message = {0};
	CLEANUP(text_release) struct text frame = {0};
	struct error theirs;

	message_pack(REQUEST_LIST, &measure_list_record, &asked, &frame);
	worker_post(worker, &frame);
	switch (message_receive(worker->from_fd, &worker->pending, start_timeout_s, &message)) {
	case MESSAGE_NONE:
		return error_set(
			err, STATUS_NO_DEVICE, "%s: no answer within %.0f s", who, start_timeout_s);
	case MESSAGE_CLOSED:
		return error_set(err, STATUS_NO_DEVICE, "%s: it ended", who);
	case MESSAGE_READY:
		break;
	}
	if (message.kind == REPLY_LIST)
		return message_unpack(&message, &measure_gpus_record, who, gpus, err);
	TRY(message_unpack(&message, &error_record, who, &theirs, err));
	if (err)
		*err = theirs;
	return theirs.status == STATUS_OK ? STATUS_FAILED : theirs.status;
}

enum status cuda_list_gpus(const char *path, const char *selector, struct worker *worker,
	struct measure_gpus *gpus, struct error *err)
{
	enum status status = STATUS_OK;
	bool killed = false;

	for (int attempt = 0; attempt == 0 || (attempt == 1 && killed); attempt++) {
		CLEANUP(text_release) struct text how = {0};

		if (worker_start(worker, path, "worker-measure", false, err) != STATUS_OK)
			return error_context(err, "starting the measuring worker");
		status = ask(worker, selector, gpus, err);
		if (status != STATUS_OK)
			worker_end(worker, &how);
		killed = status != STATUS_OK && worker_was_killed(&how);
	}
	return status;
}
