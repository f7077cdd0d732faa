/* SPDX-License-Identifier: MIT */
#include "device/program_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How long it may be silent: importing libraries, compiling, anything else. */
static const double prepare_seconds = 300, measure_seconds = 60;

struct program_job {
	uint64_t ticket;
	size_t known;
	bool verify, done;
};

struct program_request {
	struct pool_task task; /* comes first */
	bool prepares;         /* one job, so that `next` can be asked for */
	struct program_request *next;
	struct sampling sampling;
	struct program_job *jobs;
	size_t count, left;
	size_t preparing; /* requests that prepare its jobs */
	size_t current;   /* the job that the program says it works on */
	bool verifies;
};

/* ---- requests and their answers ---- */
/* With those that it prepares, if it is the last to do so. */
static void request_free(struct program_request *request)
{
	if (request->next && !--request->next->preparing)
		request_free(request->next);
	free(request->jobs);
	free(request);
}

static bool times(const struct program_request *request)
{
	return request->sampling.rounds > 0;
}

static size_t known_of(struct program *program, const struct device_job *job)
{
	for (size_t i = 0; i < program->known_count; i++)
		if (strcmp(program->known[i].problem, job->problem->text) == 0 &&
			strcmp(program->known[i].configuration, job->configuration) == 0)
			return i;
	ARRAY_GROW(program->known, program->known_count, program->known_capacity);
	program->known[program->known_count] =
		(struct program_known){.problem = string_copy(job->problem->text),
			.configuration = string_copy(job->configuration)};
	return program->known_count++;
}

/* Takes the samples. */
static void answer(struct program *program, struct program_request *request, size_t index,
	struct program_answer *answer)
{
	struct program_job *job = &request->jobs[index];
	struct program_known *known = &program->known[job->known];
	struct device_reply reply = {.ticket = job->ticket,
		.result = {.by_program = true,
			.outcome = (enum outcome)answer->outcome,
			.detail = string_copy(answer->detail),
			.verification = answer->verification}};

	if (times(request) && reply.result.outcome == OUTCOME_OK) {
		reply.result.samples_us = answer->samples_us;
		reply.result.sample_count = answer->sample_count;
		answer->samples_us = NULL;
		known->is_measured = true;
	}
	known->is_verified |= answer->verification.done;
	device_reply_push(program->device, reply);
	job->done = true;
	request->left--;
}

static void answer_outcome(struct program *program, struct program_request *request, size_t job,
	enum outcome outcome, const char *detail)
{
	struct program_answer said = {.outcome = (int)outcome, .detail = (char *)(uintptr_t)detail};

	answer(program, request, job, &said);
}

/* All is prepared. What was not measured yet is verified together with its first samples. */
static void ask_to_measure(struct program *program, struct program_request *request)
{
	for (size_t i = 0; i < request->count; i++)
		if (!request->jobs[i].done && !times(request) &&
			!(request->jobs[i].verify &&
				program->known[request->jobs[i].known].is_measured))
			answer_outcome(program, request, i, OUTCOME_OK, NULL);
	if (request->left)
		pool_add(&program->measures, &request->task);
	else
		request_free(request);
}

/* outcome: of preparing the job that has this ticket. */
static void prepared(struct program *program, struct program_request *request, enum outcome outcome,
	const char *detail)
{
	struct program_request *next = request->next;

	for (size_t i = 0; i < next->count; i++)
		if (next->jobs[i].ticket == request->jobs[0].ticket && outcome != OUTCOME_OK)
			answer_outcome(program, next, i, outcome, detail);
	free(request->jobs);
	free(request);
	if (!--next->preparing)
		ask_to_measure(program, next);
}

static void ask_to_prepare(
	struct program *program, struct program_request *next, const struct program_job *job)
{
	struct program_request *request = memory_zeroed(1, sizeof(*request));

	*request = (struct program_request){.prepares = true,
		.next = next,
		.jobs = memory_copy(job, sizeof(*job)),
		.count = 1,
		.left = 1};
	program->known[job->known].is_prepared = true;
	next->preparing++;
	pool_add(&program->prepares, &request->task);
}

void program_request_add(struct program *program, const struct device_job *jobs, size_t count,
	const struct sampling *sampling)
{
	struct program_request *request = memory_zeroed(1, sizeof(*request));

	*request = (struct program_request){.sampling = *sampling,
		.jobs = memory_zeroed(count + 1, sizeof(*request->jobs)),
		.count = count,
		.left = count};
	for (size_t i = 0; i < count; i++)
		request->jobs[i] = (struct program_job){.ticket = jobs[i].ticket,
			.known = known_of(program, &jobs[i]),
			.verify = jobs[i].verify};
	for (size_t i = 0; i < count; i++)
		if (program->can_prepare && !program->known[request->jobs[i].known].is_prepared)
			ask_to_prepare(program, request, &request->jobs[i]);
	if (!request->preparing)
		ask_to_measure(program, request);
}

/* ---- the pools ---- */
static enum status start(struct pool *pool, struct worker *worker, struct error *err)
{
	const struct program *program = pool->context;

	return program_start(worker, program->path, program->family, program->seed,
		pool == &program->prepares, err);
}

/* Those without an answer come first, and are its jobs then. */
static void compact(struct program_request *request)
{
	size_t kept = 0;

	for (size_t i = 0; i < request->count; i++)
		if (!request->jobs[i].done)
			request->jobs[kept++] = request->jobs[i];
	request->count = kept;
	request->current = 0;
}

static bool send(void *context, struct worker *worker, struct pool_task *task)
{
	struct program *program = context;
	struct program_request *request = (struct program_request *)task;
	const struct sampling *sampling = &request->sampling;
	struct json *line, *jobs;

	program->has_greeted = true;
	if (!request->count) { /* that was all */
		request_free(request);
		return false;
	}
	line = json_new_object();
	jobs = json_new_array();
	compact(request);
	request->verifies = false;
	for (size_t i = 0; i < request->count; i++) {
		const struct program_known *known = &program->known[request->jobs[i].known];
		struct json *job = json_new_object();

		json_put(job, "problem", program_values(known->problem));
		json_put(job, "configuration", program_values(known->configuration));
		json_push(jobs, job);
		request->verifies |= !known->is_verified || !times(request);
	}
	json_put(line, "jobs", jobs);
	if (!request->prepares) {
		json_put_bool(line, "verify", request->verifies);
		json_put_int(line, "rounds", times(request) ? sampling->rounds : 1);
		json_put_double(line, "seconds", sampling->seconds_max);
		json_put_double(line, "give_up_us", sampling->give_up_us);
	}
	task->silence_s = request->prepares ? prepare_seconds : measure_seconds;
	program_post(worker, request->prepares ? "prepare" : "measure", line);
	return true;
}

/* What is wrong with an answer as such; false: nothing. */
static bool is_nonsense(const struct program_request *request, const struct program_answer *answer,
	struct text *why)
{
	const bool is_progress = answer->progress >= 0;
	const int64_t job = is_progress ? answer->progress : answer->job;
	const bool measured = !request->prepares && !is_progress && answer->outcome == OUTCOME_OK;

	if (job < 0 || (size_t)job >= request->count)
		text_appendf(why, "the program answered job %lld of %zu", (long long)job,
			request->count);
	else if (!is_progress && answer->outcome < 0)
		text_append(why, "the program answered without \"outcome\" or \"progress\"");
	else if (measured && !answer->sample_count)
		text_append(why, "the program measured without \"samples_us\"");
	else if (measured && request->verifies && !answer->verification.done)
		text_append(why, "the program was asked to verify and answered without "
				 "\"verification\"");
	return why->length > 0;
}

/* An answer to what is answered already is left out. */
static enum pool_heard take(struct program *program, int64_t id, struct program_request *request,
	struct program_answer *said, struct text *why)
{
	if (said->id > id || said->id < 1) {
		text_appendf(why, "the program answered id %lld, expected %lld",
			(long long)said->id, (long long)id);
		return POOL_FAILED;
	}
	if (!request || said->id < id)
		return POOL_WORKS;
	if (is_nonsense(request, said, why))
		return POOL_FAILED;
	if (said->progress < 0 && request->jobs[said->job].done)
		return POOL_WORKS;
	if (said->allow_s > 0)
		request->task.silence_s = said->allow_s;
	if (said->progress >= 0) {
		request->current = (size_t)said->progress;
		return POOL_WORKS;
	}
	if (said->verification.done && said->verification.violations && said->outcome == OUTCOME_OK)
		said->outcome = OUTCOME_WRONG_RESULT;
	if (said->outcome == OUTCOME_WRONG_RESULT && !said->detail)
		said->detail = string_format("%llu elements differ, the worst by %g",
			(unsigned long long)said->verification.violations,
			said->verification.max_abs_error);
	if (request->prepares) {
		prepared(program, request, (enum outcome)said->outcome, said->detail);
		return POOL_DONE;
	}
	answer(program, request, (size_t)said->job, said);
	request->task.was_killed = false;
	if (request->left)
		return POOL_WORKS;
	request_free(request);
	return POOL_DONE;
}

static enum pool_heard hear(
	void *context, struct worker *worker, bool greets, struct pool_task *task, struct text *why)
{
	struct program *program = context;
	struct program_hello hello = {0};
	struct program_answer said = {.progress = -1, .outcome = -1};
	const enum program_heard heard =
		program_hear(worker, greets ? &program_hello_record : &program_answer_record,
			greets ? (void *)&hello : &said, why);
	enum pool_heard result = heard == PROGRAM_SILENT ? POOL_SILENT : POOL_FAILED;

	if (heard == PROGRAM_SAID && greets) {
		record_release(&program_hello_record, &program->hello);
		program->hello = hello;
		return POOL_READY;
	}
	if (heard == PROGRAM_SAID)
		result = take(program, worker->id, (struct program_request *)task, &said, why);
	record_release(&program_hello_record, &hello);
	record_release(&program_answer_record, &said);
	return result;
}

static void lose(struct program *program, const char *why)
{
	if (!program->device->lost)
		device_reply_push(program->device, (struct device_reply){.lost = true,
							   .result = {.by_program = true,
								   .outcome = OUTCOME_DEVICE_LOST,
								   .detail = string_copy(why)}});
}

/* The job in progress is charged with the end of its process. */
static void fail(void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct program *program = context;
	struct program_request *request = (struct program_request *)task;
	const bool is_late = end == POOL_TIMED_OUT;
	size_t job = request->current;

	if (request->prepares) {
		/* the one that measures compiles, too */
		program->can_prepare &= end != POOL_BROKEN;
		prepared(program, request,
			end == POOL_BROKEN ? OUTCOME_OK
			: is_late          ? OUTCOME_COMPILE_TIMEOUT
					   : OUTCOME_COMPILE_CRASHED,
			how);
		return;
	}
	if (end == POOL_BROKEN) {
		lose(program, how);
		request_free(request);
		return;
	}
	for (size_t i = 0; request->jobs[job].done; i++)
		job = i;
	answer_outcome(program, request, job, is_late ? OUTCOME_TIMED_OUT : OUTCOME_CRASHED, how);
	if (request->left)
		pool_add_first(&program->measures, task);
	else
		request_free(request);
}

static const struct pool_kind kind = {.name = "the program",
	.greeting_s = 120,
	.start = start,
	.send = send,
	.hear = hear,
	.fail = fail};

static void open_pool(struct program *program, struct pool *pool, size_t processes)
{
	pool_open(pool, &kind, program, processes, 1);
	program->device->pools[program->device->pool_count++] = pool;
}

enum status program_queue_open(struct program *program, struct error *err)
{
	struct program_request *greeting = memory_zeroed(1, sizeof(*greeting));
	struct pool *pool = &program->measures;

	open_pool(program, pool, 1);
	pool_add(pool, &greeting->task);
	do {
		pool_wait(&pool, 1, INFINITY);
		pool_work(pool);
	} while (!program->has_greeted && !program->device->lost);
	if (!program->device->lost)
		return STATUS_OK;
	error_set(err, STATUS_FAILED, "%s", "");
	return error_lines(err, program->device->replies[0].result.detail);
}

void program_queue_prepare(struct program *program, size_t processes)
{
	program->can_prepare = processes > 0;
	open_pool(program, &program->prepares, processes);
}

void program_queue_release(struct program *program)
{
	struct pool_task *task;

	while ((task = pool_take(&program->prepares)) != NULL ||
		(task = pool_take(&program->measures)) != NULL)
		request_free((struct program_request *)task);
	pool_close(&program->prepares);
	pool_close(&program->measures);
	for (size_t i = 0; i < program->known_count; i++) {
		free(program->known[i].problem);
		free(program->known[i].configuration);
	}
	free(program->known);
	record_release(&program_hello_record, &program->hello);
}
