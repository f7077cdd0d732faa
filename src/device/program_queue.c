/* SPDX-License-Identifier: MIT */
#include "device/program_queue.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

/* ---- requests and their answers ---- */
struct program_handle *program_handle_of(const struct program *program, device_handle handle)
{
	return &program->handles[handle - 1];
}

void program_request(struct program *program, enum device_event_kind kind,
	const device_handle *handles, size_t count, const struct sampling *sampling)
{
	struct program_request *request = memory_zeroed(1, sizeof(*request));

	*request = (struct program_request){.kind = kind,
		.sampling = *sampling,
		.handles = memory_copy(handles, (count + !count) * sizeof(*handles)),
		.count = count,
		.left = count};
	ARRAY_GROW(program->requests, program->request_count, program->request_capacity);
	program->requests[program->request_count++] = request;
}

static void request_remove(struct program *program, struct program_request *request)
{
	size_t kept = 0;

	for (size_t i = 0; i < program->request_count; i++)
		if (program->requests[i] != request)
			program->requests[kept++] = program->requests[i];
	program->request_count = kept;
	free(request->handles);
	free(request);
}

void program_push(struct program *program, enum device_event_kind kind, device_handle handle,
	enum outcome outcome, const char *detail)
{
	device_event_push(program->device, (struct device_event){.kind = kind,
						   .handle = handle,
						   .by_program = true,
						   .outcome = outcome,
						   .detail = string_copy(detail)});
}

/* Takes the samples. A request that is answered is gone then, and its process has nothing to do. */
static void answer(struct program *program, struct program_request *request, size_t job,
	struct program_answer *answer)
{
	struct program_handle *handle = program_handle_of(program, request->handles[job]);
	struct device_event event = {.kind = request->kind,
		.handle = request->handles[job],
		.by_program = true,
		.outcome = (enum outcome)answer->outcome,
		.detail = string_copy(answer->detail),
		.verification = answer->verification};

	if (request->kind == DEVICE_EVENT_SAMPLED && event.outcome == OUTCOME_OK) {
		event.samples_us = answer->samples_us;
		event.sample_count = answer->sample_count;
		answer->samples_us = NULL;
		handle->is_measured = true;
	}
	handle->is_verified |= answer->verification.done;
	device_event_push(program->device, event);
	request->handles[job] = 0;
	if (--request->left)
		return;
	if (request->by)
		request->by->state = PROGRAM_IDLE;
	request_remove(program, request);
}

static void answer_failure(struct program *program, struct program_request *request, size_t job,
	enum outcome outcome, const char *detail)
{
	struct program_answer failure = {
		.outcome = (int)outcome, .detail = (char *)(uintptr_t)detail};

	answer(program, request, job, &failure);
}

/* ---- asking ---- */
static void send(
	struct program *program, struct program_request *request, struct program_process *process)
{
	const struct sampling *sampling = &request->sampling;
	struct json *line = json_new_object(), *jobs = json_new_array();
	size_t kept = 0;

	for (size_t i = 0; i < request->count; i++)
		if (request->handles[i])
			request->handles[kept++] = request->handles[i];
	request->count = kept;
	request->verifies = request->kind == DEVICE_EVENT_VERIFIED;
	for (size_t i = 0; i < kept; i++) {
		const struct program_handle *handle =
			program_handle_of(program, request->handles[i]);
		struct json *job = json_new_object();

		json_put(job, "problem", program_values(program->problems[handle->problem - 1]));
		json_put(job, "configuration", program_values(handle->configuration));
		json_push(jobs, job);
		request->verifies |= !handle->is_verified;
	}
	json_put(line, "jobs", jobs);
	request->by = process;
	request->current = 0;
	if (request->kind != DEVICE_EVENT_LOADED) {
		json_put_bool(line, "verify", request->verifies);
		json_put_int(line, "rounds", sampling->rounds);
		json_put_double(line, "seconds", sampling->seconds_max);
		json_put_double(line, "give_up_us", sampling->give_up_us);
	}
	(void)program_ask(
		process, request->kind == DEVICE_EVENT_LOADED ? "prepare" : "measure", line);
}

static void lose(struct program *program, const char *why)
{
	program_push(program, DEVICE_EVENT_LOST, 0, OUTCOME_DEVICE_LOST, why);
	program->lost = true;
	while (program->request_count)
		request_remove(program, program->requests[0]);
}

/* A process that has nothing to do; NULL: none, one may be starting. */
static struct program_process *process_for(struct program *program, enum device_event_kind kind)
{
	const bool prepares = kind == DEVICE_EVENT_LOADED;
	const size_t count = prepares ? program->process_count : 1;
	struct program_process *down = NULL;
	struct error err = {0};

	for (size_t i = prepares; i < count; i++) {
		if (program->processes[i].state == PROGRAM_IDLE)
			return &program->processes[i];
		if (program->processes[i].state == PROGRAM_GREETING)
			return NULL;
		if (program->processes[i].state == PROGRAM_DOWN && !down)
			down = &program->processes[i];
	}
	if (down &&
		program_start(down, program->family, program->seed, prepares, &err) != STATUS_OK)
		lose(program, err.message);
	return NULL;
}

/* Asks what can be asked; what needs no process is answered. */
static void pump(struct program *program)
{
	for (size_t i = 0; i < program->request_count && !program->lost;) {
		struct program_request *request = program->requests[i];
		struct program_process *process;
		const size_t count = program->request_count;

		for (size_t k = 0; !request->by && k < request->count; k++) {
			const device_handle handle = request->handles[k];
			const bool is_last = request->left == 1;

			if (handle && program_handle_of(program, handle)->failure != OUTCOME_OK)
				answer_failure(program, request, k,
					program_handle_of(program, handle)->failure,
					program_handle_of(program, handle)->failure_detail);
			else if (handle && request->kind == DEVICE_EVENT_LOADED &&
				 program->process_count == 1)
				answer_failure(program, request, k, OUTCOME_OK, NULL);
			else
				continue;
			if (is_last)
				break;
		}
		if (program->request_count < count)
			continue;
		process = request->by ? NULL : process_for(program, request->kind);
		if (process)
			send(program, request, process);
		i++;
	}
}

/* ---- what goes wrong ---- */
static struct program_request *request_of(
	const struct program *program, const struct program_process *process)
{
	for (size_t i = 0; i < program->request_count; i++)
		if (program->requests[i]->by == process)
			return program->requests[i];
	return NULL;
}

/* Ends the process; the job in progress is charged with it. */
static void fail(struct program *program, struct program_process *process, enum outcome outcome,
	struct text *why)
{
	struct program_request *request = request_of(program, process);
	const bool greeted = process->state != PROGRAM_GREETING;
	struct program_handle *handle;
	size_t job;

	program_end(process, why);
	if (!greeted && process != &program->processes[0])
		program->process_count = 1; /* the one that measures compiles, too */
	else if (!greeted)
		lose(program, text_string(why));
	if (!request)
		return;
	job = request->current;
	request->by = NULL;
	for (size_t i = 0; !request->handles[job]; i++)
		job = i;
	if (request->kind == DEVICE_EVENT_LOADED)
		outcome = outcome == OUTCOME_TIMED_OUT ? OUTCOME_COMPILE_TIMEOUT
						       : OUTCOME_COMPILE_CRASHED;
	handle = program_handle_of(program, request->handles[job]);
	handle->failure = outcome;
	free(handle->failure_detail);
	handle->failure_detail = string_copy(text_string(why));
	answer_failure(program, request, job, outcome, text_string(why));
}

/* ---- hearing ---- */
/* What is wrong with an answer as such; false: nothing. */
static bool is_nonsense(const struct program_request *request, const struct program_answer *answer,
	struct text *why)
{
	const bool is_progress = answer->progress >= 0;
	const int64_t job = is_progress ? answer->progress : answer->job;
	const bool measured = request->kind != DEVICE_EVENT_LOADED && !is_progress &&
			      answer->outcome == OUTCOME_OK;

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
static void take(struct program *program, struct program_process *process,
	struct program_answer *said, struct text *why)
{
	struct program_request *request = request_of(program, process);

	if (said->id > process->id || said->id < 1) {
		text_appendf(why, "the program answered id %lld, expected %lld",
			(long long)said->id, (long long)process->id);
		return;
	}
	if (said->id < process->id || !request || is_nonsense(request, said, why))
		return;
	if (said->progress < 0 && !request->handles[said->job])
		return;
	process->said_s = clock_seconds();
	if (said->allow_s > 0)
		process->allow_s = said->allow_s;
	if (said->progress >= 0) {
		request->current = (size_t)said->progress;
		return;
	}
	if (said->verification.done && said->verification.violations && said->outcome == OUTCOME_OK)
		said->outcome = OUTCOME_WRONG_RESULT;
	answer(program, request, (size_t)said->job, said);
}

/* True: one line was heard. */
static bool hear(struct program *program, struct program_process *process)
{
	CLEANUP(text_release) struct text why = {0};
	struct program_hello hello = {0};
	struct program_answer said = {.progress = -1, .outcome = -1};
	const bool greets = process->state == PROGRAM_GREETING;
	enum program_heard heard =
		program_hear(process, greets ? &program_hello_record : &program_answer_record,
			greets ? (void *)&hello : &said, &why);

	if (heard == PROGRAM_SAID && greets)
		process->state = PROGRAM_IDLE;
	else if (heard == PROGRAM_SAID)
		take(program, process, &said, &why);
	if (heard == PROGRAM_FAILED || why.length)
		fail(program, process, OUTCOME_CRASHED, &why);
	record_release(&program_hello_record, &hello);
	record_release(&program_answer_record, &said);
	return heard == PROGRAM_SAID && process->state != PROGRAM_DOWN;
}

size_t program_fds(const struct device *device, struct pollfd *fds, size_t max)
{
	const struct program *program = device->state;
	size_t count = 0;

	for (size_t i = 0; i < PROCESSES_MAX && count < max; i++)
		if (program->processes[i].state != PROGRAM_DOWN)
			fds[count++] = (struct pollfd){
				.fd = program->processes[i].worker.from_fd, .events = POLLIN};
	return count;
}

static void expect_words(struct program *program, struct program_process *process)
{
	CLEANUP(text_release) struct text why = {0};

	if ((process->state != PROGRAM_GREETING && process->state != PROGRAM_BUSY) ||
		clock_seconds() < process->said_s + process->allow_s)
		return;
	text_appendf(&why, "the program said nothing for %.3g s", process->allow_s);
	fail(program, process, OUTCOME_TIMED_OUT, &why);
}

void program_work(struct device *device, double timeout_s)
{
	struct program *program = device->state;
	const double deadline = clock_seconds() + (timeout_s > 0 ? timeout_s : 0);

	for (;;) {
		struct pollfd fds[PROCESSES_MAX];
		double until = deadline;
		size_t working = 0;

		pump(program);
		for (size_t i = 0; i < PROCESSES_MAX; i++) {
			const struct program_process *process = &program->processes[i];

			if (process->state != PROGRAM_GREETING && process->state != PROGRAM_BUSY)
				continue;
			until = fmin(until, process->said_s + process->allow_s);
			working++;
		}
		if (device->event_count || program->lost || !working)
			return;
		poll(fds, program_fds(device, fds, PROCESSES_MAX),
			(int)fmax(0, 1e3 * (until - clock_seconds()) + 0.999));
		for (size_t i = 0; i < PROCESSES_MAX; i++) {
			struct program_process *process = &program->processes[i];

			while (process->state != PROGRAM_DOWN && hear(program, process))
				;
			expect_words(program, process);
		}
		if (!device->event_count && clock_seconds() >= deadline)
			return;
	}
}

void program_queue_release(struct program *program)
{
	while (program->request_count)
		request_remove(program, program->requests[0]);
	for (size_t i = 0; i < program->handle_count; i++) {
		free(program->handles[i].configuration);
		free(program->handles[i].failure_detail);
	}
	for (size_t i = 0; i < program->problem_count; i++)
		free(program->problems[i]);
	free(program->requests);
	free(program->handles);
	free(program->problems);
}
