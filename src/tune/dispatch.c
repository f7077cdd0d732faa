/* SPDX-License-Identifier: MIT */
#include "tune/tuner.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "tune/search.h"

enum {
	LOSSES_MAX = 2 /* GPUs that may be lost over a problem before it is left alone */
};

/* The anchor's time is the clock's alone: 1160.6 to 1171.0 us, 0.9%, in 103 runs on 27 H200s. */
static const double anchor_tolerance = 0.015;
/* Processes that were interrupted may save what they have; then they are ended. */
static const double interrupted_s = 1.5, wait_s = 0.2;
/* As a GPU's memory is given back; as a compiler has its limits, and candidates are being found. */
static const double end_timeout_s = 30, silence_default_s = 900;

struct dispatch {
	struct session *session;
	size_t left; /* that are not done */
	size_t failed;
	bool ends;          /* nothing more is handed out */
	enum status status; /* the first that says why a problem is not tuned */
	struct error err;
	/* of several GPUs */
	struct member *members;
	size_t count;
	double silence_s;
	char *last_run; /* that began: the next one goes on with it */
};

static void fail(struct dispatch *dispatch, enum status status, const struct error *reason)
{
	if (dispatch->status != STATUS_OK)
		return;
	dispatch->status = status;
	dispatch->err = *reason;
}

/* Where several GPUs ask for problems the longest comes first. */
static int64_t next(const struct dispatch *dispatch, bool unprepared)
{
	return queue_next(dispatch->session->queue, dispatch->count > 0, unprepared);
}

/* The problem is not tuned. */
static void leave(
	struct dispatch *dispatch, int64_t number, enum status status, const struct error *reason)
{
	const struct session_observer *observer = &dispatch->session->observer;
	const struct queue_item *queued = &dispatch->session->queue->items[number];

	if (observer->failed)
		observer->failed(observer->context, queued->problem, reason);
	if (queued->is_step)
		return;
	dispatch->failed++;
	fail(dispatch, status, reason);
}

/* What became of a problem. */
static void take_status(
	struct dispatch *dispatch, int64_t number, enum status status, const struct error *reason)
{
	struct queue_item *queued = &dispatch->session->queue->items[number];

	queued->state = QUEUE_IS_DONE;
	dispatch->left--;
	if (status == STATUS_OK)
		return;
	if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE ||
		(!dispatch->session->keep_going && !queued->is_step)) {
		dispatch->ends = true;
		dispatch->status = STATUS_OK; /* this says more */
		fail(dispatch, status, reason);
		return;
	}
	leave(dispatch, number, status, reason);
}

/* ---- one GPU ---- */
static void run_alone(struct dispatch *dispatch)
{
	struct ahead *ahead = NULL;

	while (dispatch->left && !dispatch->ends) {
		const int64_t number = next(dispatch, false);
		struct error reason = {0};
		enum status status;

		dispatch->session->queue->items[number].state = QUEUE_IS_TUNED;
		status = tuner_tune(
			&ahead, dispatch->session, number, next(dispatch, false), &reason);
		take_status(dispatch, number, status, &reason);
	}
	tuner_drop(&ahead);
	dispatch->session->gpus[dispatch->session->gpu_count++] = tuner_gpu(dispatch->session);
}

/* ---- several: a process for each ---- */
enum member_state {
	MEMBER_OPENS,
	MEMBER_WAITS, /* to begin its run: one after the other, so that runs are one chain */
	MEMBER_BEGINS,
	MEMBER_IDLE,
	MEMBER_TUNES,
	MEMBER_GONE,
};

struct member {
	enum member_state state;
	struct worker worker;
	double said_s;             /* when it last said something, or was asked */
	int64_t number, following; /* of the problem in progress */
	double anchor_us;          /* 0: not opened */
	bool is_compared;
	size_t run; /* in the order in which they began */
};

static const char *uuid_of(const struct dispatch *dispatch, const struct member *member)
{
	return dispatch->session->context->devices[member - dispatch->members]->identity.uuid;
}

/* A GPU is lost: whether the problem may be what does it. */
static void take_back(struct dispatch *dispatch, int64_t number, const struct error *reason)
{
	struct queue_item *item = &dispatch->session->queue->items[number];

	item->state = QUEUE_WAITS;
	if (++item->losses < LOSSES_MAX)
		return;
	item->state = QUEUE_IS_DONE;
	dispatch->left--;
	leave(dispatch, number, STATUS_NO_DEVICE, reason);
}

static void lose(struct dispatch *dispatch, struct member *member, const struct error *reason)
{
	const char *uuid = uuid_of(dispatch, member), *why = reason->message;
	CLEANUP(memory_free) char *text = string_format("%s takes no more problems: %s", uuid, why);

	if (member->state == MEMBER_TUNES)
		take_back(dispatch, member->number, reason);
	if (!*dispatch->session->interrupted)
		session_notice(dispatch->session, text);
	if (member->following >= 0)
		dispatch->session->queue->items[member->following].is_ahead = false;
	member->state = MEMBER_GONE;
	worker_end(&member->worker, NULL);
}

/* task: NULL: none. */
static void post(struct member *member, enum tuner_message kind, const struct tuner_task *task)
{
	CLEANUP(text_release) struct text frame = {0};

	message_pack(kind, task ? &tuner_task_record : NULL, task, &frame);
	worker_post(&member->worker, &frame);
	member->said_s = clock_seconds();
}

/* The first of those that open is what the others are compared with. */
static void compare_anchors(struct dispatch *dispatch)
{
	const struct member *first = NULL;

	for (size_t i = 0; i < dispatch->count; i++) {
		struct member *member = &dispatch->members[i];
		CLEANUP(memory_free) char *text = NULL;
		double ratio;

		if (!first && member->state != MEMBER_GONE)
			first = member;
		if (!first || !(first->anchor_us > 0) || !(member->anchor_us > 0) ||
			member->is_compared)
			continue;
		ratio = member->anchor_us / first->anchor_us - 1;
		member->is_compared = true;
		if (fabs(ratio) <= anchor_tolerance)
			continue;
		text = string_format("%s is %.0f%% %s than %s, by the time of a fixed kernel: "
				     "problems that it tunes have times of its own",
			uuid_of(dispatch, member), 100 * fabs(ratio),
			ratio > 0 ? "slower" : "faster", uuid_of(dispatch, first));
		session_notice(dispatch->session, text);
	}
}

/* Takes what done has. */
static void take_done(struct dispatch *dispatch, struct member *member, struct tuner_answer *done)
{
	struct session *session = dispatch->session;
	const struct problem *problem = session->queue->items[member->number].problem;
	const char *kept;

	if (session->taker.read)
		session->taker.read(session->taker.context, problem, &done->taken);
	session->unsaved |= done->unsaved;
	session->gpus[member->run] = done->gpu;
	for (size_t i = 0; i < done->entry_count; i++) {
		tuned_put_entry(session->tuned, &done->entries[i], NULL, &kept);
		done->entries[i] = (struct tuned_entry){0};
	}
	if (done->err.status == STATUS_NO_DEVICE) {
		lose(dispatch, member, &done->err);
		return;
	}
	member->state = MEMBER_IDLE;
	take_status(dispatch, member->number, done->err.status, &done->err);
}

static void take_begun(struct dispatch *dispatch, struct member *member, struct tuner_answer *begun)
{
	if (begun->err.status != STATUS_OK) {
		/* as a journal that cannot be written */
		dispatch->ends = true;
		fail(dispatch, begun->err.status, &begun->err);
		return;
	}
	free(dispatch->last_run);
	dispatch->last_run = string_copy(begun->run.id);
	member->run = dispatch->session->gpu_count++;
	string_put(dispatch->session->gpus[member->run].run_id, RUN_ID_SIZE,
		begun->run.id ? begun->run.id : "");
	if (begun->run.id)
		tuned_put_run(dispatch->session->tuned, &begun->run);
	begun->run = (struct run){0};
	member->state = MEMBER_IDLE;
}

static void take_opened(
	struct dispatch *dispatch, struct member *member, const struct tuner_answer *opened)
{
	member->anchor_us = opened->anchor_us;
	member->state = MEMBER_WAITS;
	if (opened->err.status != STATUS_OK)
		lose(dispatch, member, &opened->err);
}

static enum status take(
	struct dispatch *dispatch, struct member *member, const struct message *message)
{
	struct tuner_answer answer;

	member->said_s = clock_seconds();
	if (message->kind == TUNER_ALIVE)
		return STATUS_OK;
	TRY(message_unpack(message, &tuner_answer_record, "tuning process", &answer, NULL));
	if (message->kind == TUNER_DONE)
		take_done(dispatch, member, &answer);
	else if (message->kind == TUNER_BEGUN)
		take_begun(dispatch, member, &answer);
	else
		take_opened(dispatch, member, &answer);
	record_release(&tuner_answer_record, &answer);
	return STATUS_OK;
}

static bool is_asked(const struct member *member)
{
	return member->state == MEMBER_OPENS || member->state == MEMBER_BEGINS ||
	       member->state == MEMBER_TUNES;
}

static void hear(struct dispatch *dispatch, struct member *member)
{
	struct worker *worker = &member->worker;
	enum message_result result = MESSAGE_READY;
	CLEANUP(text_release) struct text how = {0};
	struct error reason;

	worker_flush(worker);
	while (member->state != MEMBER_GONE && result == MESSAGE_READY) {
		CLEANUP(message_release) struct message message = {0};

		result = message_receive(worker->from_fd, &worker->pending, 0, &message);
		if (result == MESSAGE_READY && take(dispatch, member, &message) != STATUS_OK)
			result = MESSAGE_CLOSED;
	}
	if (member->state != MEMBER_GONE && result == MESSAGE_CLOSED)
		worker_end(worker, &how);
	else if (is_asked(member) && clock_seconds() > member->said_s + dispatch->silence_s)
		text_appendf(&how, "said nothing for %g s", dispatch->silence_s);
	if (!how.length)
		return;
	error_set(&reason, STATUS_NO_DEVICE, "its process %s", text_string(&how));
	lose(dispatch, member, &reason);
}

/* What steps were tuned to by others, where the problem's families need them. */
static struct tuned_entry *entries_of_steps(
	const struct dispatch *dispatch, size_t number, size_t *count)
{
	const struct session *session = dispatch->session;
	const struct queue *queue = session->queue;
	struct tuned_entry *entries = memory_zeroed(queue->count + 1, sizeof(*entries));

	*count = 0;
	for (size_t i = 0; i < queue->count && search_needs_steps(session, number); i++) {
		const struct tuned_entry *entry =
			queue->items[i].is_step && queue->items[i].state == QUEUE_IS_DONE
				? tuned_find_problem(session->tuned, queue->items[i].problem,
					  session->objective)
				: NULL;

		if (entry)
			entries[(*count)++] = *entry; /* borrowed */
	}
	return entries;
}

static void hand_out(struct dispatch *dispatch, struct member *member)
{
	struct queue_item *items = dispatch->session->queue->items;
	const int64_t prepared = member->following,
		      number = prepared >= 0 && items[prepared].state == QUEUE_WAITS
				       ? prepared
				       : next(dispatch, false);
	struct tuner_task task = {.number = number};
	CLEANUP(memory_free) struct tuned_entry *entries = NULL;

	if (number < 0)
		return;
	if (prepared >= 0)
		items[prepared].is_ahead = false;
	items[number].state = QUEUE_IS_TUNED;
	task.following = member->following = next(dispatch, true);
	if (task.following >= 0)
		items[task.following].is_ahead = true;
	task.entries = entries = entries_of_steps(dispatch, (size_t)number, &task.entry_count);
	member->number = number;
	member->state = MEMBER_TUNES;
	post(member, TUNER_TUNE, &task);
}

static size_t count_in(const struct dispatch *dispatch, enum member_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < dispatch->count; i++)
		count += dispatch->members[i].state == state;
	return count;
}

static void direct(struct dispatch *dispatch)
{
	compare_anchors(dispatch);
	for (size_t i = 0; i < dispatch->count; i++) {
		struct member *member = &dispatch->members[i];
		const struct tuner_task begin = {.resumes = dispatch->last_run};

		if (member->state == MEMBER_WAITS && !count_in(dispatch, MEMBER_BEGINS)) {
			member->state = MEMBER_BEGINS;
			post(member, TUNER_BEGIN, &begin);
		}
		if (member->state == MEMBER_IDLE)
			hand_out(dispatch, member);
	}
}

/* Waits for a while until one says something. */
static void hear_all(struct dispatch *dispatch)
{
	CLEANUP(memory_free)
	struct pollfd *fds = memory_zeroed(dispatch->count + 1, sizeof(*fds));
	size_t count = 0;

	for (size_t i = 0; i < dispatch->count; i++)
		if (dispatch->members[i].state != MEMBER_GONE)
			fds[count++] = (struct pollfd){
				.fd = dispatch->members[i].worker.from_fd, .events = POLLIN};
	poll(fds, (nfds_t)count, (int)(1e3 * wait_s));
	for (size_t i = 0; i < dispatch->count; i++)
		hear(dispatch, &dispatch->members[i]);
}

static void start_all(struct dispatch *dispatch)
{
	for (size_t i = 0; i < dispatch->count; i++) {
		struct member *member = &dispatch->members[i];
		struct tuner_member own = {dispatch->session, i};
		struct error reason = {0};

		member->following = QUEUE_NONE;
		member->said_s = clock_seconds();
		if (worker_fork(&member->worker, tuner_main, &own, &reason) != STATUS_OK)
			lose(dispatch, member, &reason);
	}
}

/* They save the best that they have, for some time. */
static void interrupt(struct dispatch *dispatch)
{
	const double end_s = clock_seconds() + interrupted_s;

	for (size_t i = 0; i < dispatch->count; i++)
		if (dispatch->members[i].state == MEMBER_TUNES)
			kill(dispatch->members[i].worker.pid, SIGINT);
	while (count_in(dispatch, MEMBER_TUNES) && clock_seconds() < end_s)
		hear_all(dispatch);
	dispatch->ends = true;
	dispatch->status = session_interrupted(&dispatch->err);
}

/* The GPUs are free then for the next processes; those that are busy are killed. */
static void end_all(struct dispatch *dispatch)
{
	const double end_s = clock_seconds() + end_timeout_s;

	for (size_t i = 0; i < dispatch->count; i++) {
		struct member *member = &dispatch->members[i];

		if (member->state == MEMBER_IDLE && !*dispatch->session->interrupted)
			post(member, TUNER_END, NULL);
		else
			worker_kill(&member->worker);
	}
	for (size_t i = 0; i < dispatch->count; i++) {
		struct member *member = &dispatch->members[i];

		while (member->state == MEMBER_IDLE && !worker_is_closed(&member->worker) &&
			clock_seconds() < end_s)
			clock_sleep(0.001);
		worker_end(&member->worker, NULL);
	}
}

static void run_together(struct dispatch *dispatch)
{
	const struct journal_run *resume = dispatch->session->resume;
	const char *chosen = getenv("TILETUNE_TUNER_TIMEOUT");

	dispatch->silence_s = chosen ? strtod(chosen, NULL) : silence_default_s;
	dispatch->last_run = string_copy(resume ? resume->run.id : NULL);
	start_all(dispatch);
	while (dispatch->left && !dispatch->ends &&
		count_in(dispatch, MEMBER_GONE) < dispatch->count) {
		direct(dispatch);
		hear_all(dispatch);
		if (*dispatch->session->interrupted)
			interrupt(dispatch);
	}
	end_all(dispatch);
	free(dispatch->last_run);
	if (dispatch->session->tuned_path)
		tuned_refresh(dispatch->session->tuned, dispatch->session->tuned_path, NULL, NULL);
}

enum status dispatch_run(struct session *session, struct error *err)
{
	const struct queue *queue = session->queue;
	const size_t gpus = session->context->device_count;
	CLEANUP(memory_free) struct member *members = memory_zeroed(gpus + 1, sizeof(*members));
	struct dispatch dispatch = {
		.session = session, .left = queue->count, .members = members, .count = gpus};

	session->gpus = memory_zeroed(gpus + 1, sizeof(*session->gpus));
	session->gpu_count = 0;
	if (gpus && queue->count)
		run_together(&dispatch);
	else
		run_alone(&dispatch);
	if (dispatch.left && !dispatch.ends) {
		dispatch.status = error_set(&dispatch.err, STATUS_NO_DEVICE,
			"no GPU is left; %zu problems were not tuned", dispatch.left);
		error_hint(
			&dispatch.err, "what was measured is in the journal; run again to resume");
	}
	if (dispatch.status != STATUS_OK)
		*err = dispatch.err;
	if (session->problems->count > 1 && dispatch.failed && !dispatch.ends && !dispatch.left)
		error_context(err, "%zu of %zu problems were not tuned; the first", dispatch.failed,
			session->problems->count);
	return dispatch.status;
}
