/* SPDX-License-Identifier: MIT */
#include "tune/tuner.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "candidate/problem_reference.h"
#include "record/record_wire.h"
#include "tune/search.h"

/* ---- the next problem's candidates, found and scored while the GPU is at another's ---- */
struct ahead {
	pthread_t thread;
	struct session *session;
	int64_t number;
	struct search *search;
	enum status status;
	struct error err;
};

static void *ahead_run(void *argument)
{
	struct ahead *ahead = argument;

	ahead->status =
		search_prepare(ahead->session, (size_t)ahead->number, &ahead->search, &ahead->err);
	return NULL;
}

/* NULL: it cannot be known yet, or no thread is available. session outlives it. */
static struct ahead *ahead_begin(struct session *session, int64_t number)
{
	struct ahead *ahead;
	sigset_t all, before;
	int failed;

	if (number < 0 || search_needs_steps(session, (size_t)number) ||
		resume_is_concluded(session, (size_t)number))
		return NULL;
	ahead = memory_zeroed(1, sizeof(*ahead));
	ahead->session = session;
	ahead->number = number;
	/* signals are for those who wait for something */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	failed = pthread_create(&ahead->thread, NULL, ahead_run, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return ahead;
	free(ahead);
	return NULL;
}

static enum status ahead_end(struct ahead *ahead, struct search **search, struct error *err)
{
	enum status status;

	pthread_join(ahead->thread, NULL);
	*search = ahead->search;
	status = ahead->status;
	if (status != STATUS_OK && err)
		*err = ahead->err;
	free(ahead);
	return status;
}

void tuner_drop(struct ahead **ahead)
{
	CLEANUP(search_free) struct search *search = NULL;

	if (*ahead)
		ahead_end(*ahead, &search, NULL);
	*ahead = NULL;
}

enum status tuner_tune(struct ahead **ahead, struct session *session, int64_t number,
	int64_t following, struct error *err)
{
	const double asked_s = clock_seconds();
	CLEANUP(search_free) struct search *search = NULL;
	struct ahead *prepared = NULL;
	bool done;

	TRY(resume_entry(session, (size_t)number, &done, err));
	if (done)
		return STATUS_OK;
	if (*ahead && (*ahead)->number == number) {
		prepared = *ahead;
		*ahead = NULL;
	}
	TRY(prepared ? ahead_end(prepared, &search, err)
		     : search_prepare(session, (size_t)number, &search, err));
	search->waited_seconds = clock_seconds() - asked_s;
	if (!*ahead || (*ahead)->number != following) {
		tuner_drop(ahead);
		*ahead = ahead_begin(session, following);
	}
	return session_search(search, err);
}

struct session_gpu tuner_gpu(const struct session *session)
{
	const struct context *context = session->context;
	struct session_gpu gpu = {.device_s = device_busy_seconds(context->device)};

	if (session->run_id)
		string_put(gpu.run_id, sizeof(gpu.run_id), session->run_id);
	if (context->store) {
		gpu.compile_s = kernel_store_count(context->store).seconds;
		gpu.workers = compiler_worker_count(context->compiler);
	}
	return gpu;
}

/* ---- messages ---- */
static const struct record_member task_members[] = {
	RECORD_VALUE(struct tuner_task, resumes, "resumes", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct tuner_task, number, "number"),
	RECORD_VALUE(struct tuner_task, following, "following"),
	RECORD_RECORDS(struct tuner_task, entries, entry_count, tuned_entry_record, "entries"),
};
RECORD_DEFINE(struct tuner_task, tuner_task_record, task_members, .name = "task");

#define GPU(field) RECORD_VALUE(struct tuner_answer, gpu.field, #field)
static const struct record_member answer_members[] = {
	RECORD_NESTED(struct tuner_answer, err, error_record, "err"),
	RECORD_VALUE(struct tuner_answer, anchor_us, "anchor_us"),
	RECORD_NESTED(struct tuner_answer, run, run_record, "run"),
	RECORD_VALUE(struct tuner_answer, unsaved, "unsaved"),
	RECORD_VALUE(struct tuner_answer, taken, "taken"),
	RECORD_RECORDS(struct tuner_answer, entries, entry_count, tuned_entry_record, "entries"),
	RECORD_TEXT(struct tuner_answer, gpu.run_id, "run_id"),
	GPU(compile_s),
	GPU(device_s),
	GPU(workers),
};
RECORD_DEFINE(struct tuner_answer, tuner_answer_record, answer_members, .name = "answer");

/* ---- the process ---- */
static const double alive_every_s = 1;

enum {
	WORDS_MAX = 1 << 16
};

struct serving {
	struct session session;
	int output;
	double alive_told_s;
	struct ahead *ahead;
};

static RECORD_RELEASE(answer_release, tuner_answer_record);

/* answer: NULL: nothing more than the kind. */
static void tell(
	const struct serving *serving, enum tuner_message kind, const struct tuner_answer *answer)
{
	if (message_send(serving->output, kind, answer ? &tuner_answer_record : NULL, answer,
		    NULL) != STATUS_OK)
		_exit(STATUS_FAILED); /* the process that started this one has ended */
}

static void tell_alive(void *context)
{
	struct serving *serving = context;
	const double now_s = clock_seconds();

	if (now_s < serving->alive_told_s + alive_every_s)
		return;
	serving->alive_told_s = now_s;
	tell(serving, TUNER_ALIVE, NULL);
}

static void serve_begin(struct serving *serving, const struct tuner_task *task)
{
	struct session *session = &serving->session;
	CLEANUP(answer_release) struct tuner_answer begun = {0};

	if (session->join)
		begun.err.status = session->join(
			session->joins, session, task->resumes, &begun.run, &begun.err);
	tell(serving, TUNER_BEGUN, &begun);
}

static void serve_task(struct serving *serving, struct tuner_task *task)
{
	struct session *session = &serving->session;
	const struct problem *problem = session->queue->items[task->number].problem;
	struct tuned_entry *entry;
	CLEANUP(answer_release) struct tuner_answer done = {0};
	const char *kept;

	for (size_t i = 0; i < task->entry_count; i++) {
		tuned_put_entry(session->tuned, &task->entries[i], NULL, &kept);
		task->entries[i] = (struct tuned_entry){0};
	}
	done.err.status =
		tuner_tune(&serving->ahead, session, task->number, task->following, &done.err);
	done.unsaved = session->unsaved;
	if (session->taker.write)
		session->taker.write(session->taker.context, problem, &done.taken);
	done.gpu = tuner_gpu(session);
	entry = tuned_find_problem(session->tuned, problem, session->objective);
	done.entries = entry;
	done.entry_count = entry != NULL;
	fflush(stdout);
	tell(serving, TUNER_DONE, &done);
	done.entries = NULL; /* it is the tuned file's */
}

static void serve(struct serving *serving, const struct message *message)
{
	struct tuner_task task;

	if (message->kind == TUNER_END || message_unpack(message, &tuner_task_record,
						  "tuning process", &task, NULL) != STATUS_OK)
		return;
	if (message->kind == TUNER_BEGIN)
		serve_begin(serving, &task);
	else
		serve_task(serving, &task);
	record_release(&tuner_task_record, &task);
}

int tuner_main(void *argument, int input, int output)
{
	const struct tuner_member *member = argument;
	struct serving serving = {.session = *member->session, .output = output};
	struct context *context = serving.session.context;
	struct tuner_answer opened = {0};
	struct text pending = {0};
	bool ends = false;
	struct message message;

	setvbuf(stdout, NULL, _IOFBF, WORDS_MAX); /* what is said of a problem stays together */
	context->alive = tell_alive;
	context->alive_context = &serving;
	opened.err.status = context_take(context, member->gpu, &opened.err);
	serving.session.pool.device = context->device;
	opened.anchor_us = context->device->identity.anchor_us;
	tell(&serving, TUNER_OPENED, &opened);
	while (!ends && message_receive(input, &pending, -1, &message) == MESSAGE_READY) {
		serve(&serving, &message);
		ends = message.kind == TUNER_END;
		message_release(&message);
	}
	text_release(&pending);
	*serving.session.interrupted = 1;
	tuner_drop(&serving.ahead);
	context_release(context); /* its processes have ended then */
	return STATUS_OK;
}

/* ---- compilers alone ---- */
static enum status request_kernels(
	struct kernel_store *store, const struct build *build, struct error *err)
{
	for (size_t i = 0; i < build->unit_count; i++) {
		const struct compile_result *kernel;

		TRY(kernel_store_request(store, &build->units[i], &kernel, err));
	}
	return STATUS_OK;
}

static enum status request_helpers(const struct context *context, struct error *err)
{
	CLEANUP(build_release) struct build build = {0};

	TRY(plain_build(
		(const char *const *)context->template_folders, "common/helpers.cu", &build, err));
	return request_kernels(context->store, &build, err);
}

static enum status request_reference(
	const struct context *context, const struct problem *problem, struct error *err)
{
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(reference_plan_release) struct reference_plan reference = {0};

	TRY(problem_reference(
		problem, &context->catalogue, context->device->spec, &build, &reference, err));
	return request_kernels(context->store, &build, err);
}

enum status tuner_precompile(struct session *session, struct error *err)
{
	const struct context *context = session->context;
	CLEANUP(queue_release) struct queue queue = {0};
	enum status status;

	TRY(queue_open(&context->catalogue, session->problems, context->device->spec,
		&session->pool, &queue, err));
	TRY(request_helpers(context, err));
	for (size_t i = 0; i < queue.count; i++)
		TRY(request_reference(context, queue.items[i].problem, err));
	status = session_run(session, err);
	free(session->gpus);
	while (compiler_pending(context->compiler) && !*session->interrupted)
		compiler_poll(context->compiler, 0.2);
	return status;
}
