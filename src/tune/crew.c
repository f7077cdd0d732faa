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

enum state {
	WAITS,
	IS_TUNED,
	IS_DONE, /* or failed */
};

struct item {
	enum state state;
	double expected_s;
	unsigned losses;
	bool is_ahead; /* some process finds its candidates */
};

struct crew {
	struct session *session;
	struct item *items; /* of the queue */
	size_t left;        /* that are not done */
	size_t failed;
	bool ends;          /* nothing more is handed out */
	enum status status; /* the first that says why a problem is not tuned */
	struct error err;
	/* of several GPUs */
	struct member *members;
	size_t count;
	char *last_run; /* that began: the next one goes on with it */
};

static void notice(const struct session *session, const char *text)
{
	if (session->observer.notice)
		session->observer.notice(session->observer.context, text);
}

static void fail(struct crew *crew, enum status status, const struct error *reason)
{
	if (crew->status != STATUS_OK)
		return;
	crew->status = status;
	crew->err = *reason;
}

/* The longest that waits; TUNER_NONE: none can be begun now. unprepared: of those whose candidates
 * are not found already. */
static int64_t next(const struct crew *crew, bool unprepared)
{
	const struct queue *queue = crew->session->queue;
	int64_t best = TUNER_NONE;
	bool steps_done = true;

	for (size_t i = 0; i < queue->count; i++) {
		const struct item *item = &crew->items[i];

		if (item->state == WAITS && !(unprepared && item->is_ahead) &&
			(queue->items[i].is_step || steps_done) &&
			(best < 0 || item->expected_s > crew->items[best].expected_s))
			best = (int64_t)i;
		if (!crew->count && best >= 0)
			break;
		steps_done &= !queue->items[i].is_step || item->state == IS_DONE;
	}
	return best;
}

/* The problem is not tuned. */
static void leave(struct crew *crew, int64_t number, enum status status, const struct error *reason)
{
	const struct session_observer *observer = &crew->session->observer;
	const struct queue_item *queued = &crew->session->queue->items[number];

	if (observer->failed)
		observer->failed(observer->context, queued->problem, reason);
	if (queued->is_step)
		return;
	crew->failed++;
	fail(crew, status, reason);
}

/* What became of a problem. */
static void take_status(
	struct crew *crew, int64_t number, enum status status, const struct error *reason)
{
	const struct queue_item *queued = &crew->session->queue->items[number];

	crew->items[number].state = IS_DONE;
	crew->left--;
	if (status == STATUS_OK)
		return;
	if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE ||
		(!crew->session->keep_going && !queued->is_step)) {
		crew->ends = true;
		crew->status = STATUS_OK; /* this says more */
		fail(crew, status, reason);
		return;
	}
	leave(crew, number, status, reason);
}

/* ---- one GPU ---- */
static void run_alone(struct crew *crew)
{
	struct ahead *ahead = NULL;

	while (crew->left && !crew->ends) {
		const int64_t number = next(crew, false);
		struct error reason = {0};
		enum status status;

		crew->items[number].state = IS_TUNED;
		status = tuner_tune(&ahead, crew->session, number, next(crew, false), &reason);
		take_status(crew, number, status, &reason);
	}
	tuner_drop(&ahead);
	crew->session->gpus[crew->session->gpu_count++] = tuner_gpu(crew->session);
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
	int64_t number, following; /* of the problem in progress */
	double anchor_us;          /* 0: not opened */
	bool is_compared;
	size_t run; /* in the order in which they began */
};

static const char *uuid_of(const struct crew *crew, const struct member *member)
{
	return device_identity(crew->session->context->devices[member - crew->members])->uuid;
}

/* A GPU is lost: whether the problem may be what does it. */
static void take_back(struct crew *crew, int64_t number, const struct error *reason)
{
	struct item *item = &crew->items[number];

	item->state = WAITS;
	if (++item->losses < LOSSES_MAX)
		return;
	item->state = IS_DONE;
	crew->left--;
	leave(crew, number, STATUS_NO_DEVICE, reason);
}

static void lose(struct crew *crew, struct member *member, const struct error *reason)
{
	CLEANUP(memory_free)
	char *text = string_format(
		"%s takes no more problems: %s", uuid_of(crew, member), reason->message);

	if (member->state == MEMBER_TUNES)
		take_back(crew, member->number, reason);
	if (!*crew->session->interrupted)
		notice(crew->session, text);
	member->state = MEMBER_GONE;
	worker_end(&member->worker, NULL);
}

static void post(struct member *member, enum tuner_message kind, const struct record *record,
	const void *value)
{
	CLEANUP(text_release) struct text frame = {0};

	message_pack(kind, record, value, &frame);
	worker_post(&member->worker, &frame);
}

/* The first of those that open is what the others are compared with. */
static void compare_anchors(struct crew *crew)
{
	const struct member *first = crew->members;

	while (first < crew->members + crew->count && first->state == MEMBER_GONE)
		first++;
	for (struct member *member = first < crew->members + crew->count && first->anchor_us > 0
					     ? crew->members
					     : crew->members + crew->count;
		member < crew->members + crew->count; member++) {
		const double ratio = member->anchor_us / first->anchor_us - 1;
		CLEANUP(memory_free) char *text = NULL;

		if (!(member->anchor_us > 0) || member->is_compared)
			continue;
		member->is_compared = true;
		if (fabs(ratio) <= anchor_tolerance)
			continue;
		text = string_format("%s is %.0f%% %s than %s, by the time of a fixed kernel: "
				     "problems that it tunes have times of its own",
			uuid_of(crew, member), 100 * fabs(ratio), ratio > 0 ? "slower" : "faster",
			uuid_of(crew, first));
		notice(crew->session, text);
	}
}

/* Takes what done has. */
static void take_done(struct crew *crew, struct member *member, struct tuner_done *done)
{
	struct session *session = crew->session;
	const struct session_observer *observer = &session->observer;
	const struct problem *problem = session->queue->items[member->number].problem;
	const char *kept;

	if (observer->words && done->words)
		observer->words(observer->context, done->words);
	if (observer->read)
		observer->read(observer->context, problem, &done->told);
	session->unsaved |= done->unsaved;
	session->gpus[member->run] = done->gpu;
	for (size_t i = 0; i < done->entry_count; i++) {
		tuned_put_entry(session->tuned, &done->entries[i], NULL, &kept);
		done->entries[i] = (struct tuned_entry){0};
	}
	if (done->err.status == STATUS_NO_DEVICE) {
		lose(crew, member, &done->err);
		return;
	}
	member->state = MEMBER_IDLE;
	take_status(crew, member->number, done->err.status, &done->err);
}

static void take_begun(struct crew *crew, struct member *member, struct tuner_begun *begun)
{
	if (begun->err.status != STATUS_OK) {
		/* as a journal that cannot be written */
		crew->ends = true;
		fail(crew, begun->err.status, &begun->err);
		return;
	}
	free(crew->last_run);
	crew->last_run = string_copy(begun->run.id);
	member->run = crew->session->gpu_count++;
	string_put(crew->session->gpus[member->run].run_id, RUN_ID_SIZE,
		begun->run.id ? begun->run.id : "");
	if (begun->run.id)
		tuned_put_run(crew->session->tuned, &begun->run);
	begun->run = (struct run){0};
	member->state = MEMBER_IDLE;
}

static enum status take(struct crew *crew, struct member *member, const struct message *message)
{
	static const char who[] = "tuning process";
	struct tuner_opened opened;
	struct tuner_begun begun;
	struct tuner_done done;
	struct tuner_begin words;

	switch (message->kind) {
	case TUNER_OPENED:
		TRY(message_unpack(message, &tuner_opened_record, who, &opened, NULL));
		member->anchor_us = opened.anchor_us;
		member->state = MEMBER_WAITS;
		if (opened.err.status != STATUS_OK)
			lose(crew, member, &opened.err);
		return STATUS_OK;
	case TUNER_BEGUN:
		TRY(message_unpack(message, &tuner_begun_record, who, &begun, NULL));
		take_begun(crew, member, &begun);
		record_release(&tuner_begun_record, &begun);
		return STATUS_OK;
	case TUNER_DONE:
		TRY(message_unpack(message, &tuner_done_record, who, &done, NULL));
		take_done(crew, member, &done);
		record_release(&tuner_done_record, &done);
		return STATUS_OK;
	case TUNER_NOTICE:
		TRY(message_unpack(message, &tuner_begin_record, who, &words, NULL));
		notice(crew->session, words.resumes);
		record_release(&tuner_begin_record, &words);
		return STATUS_OK;
	default:
		return STATUS_FAILED;
	}
}

static void hear(struct crew *crew, struct member *member)
{
	struct worker *worker = &member->worker;
	enum message_result result = MESSAGE_READY;
	struct message message;

	worker_flush(worker);
	while (member->state != MEMBER_GONE &&
		(result = message_receive(worker->from_fd, &worker->pending, 0, &message)) ==
			MESSAGE_READY) {
		if (take(crew, member, &message) != STATUS_OK)
			result = MESSAGE_CLOSED;
		message_release(&message);
		if (result == MESSAGE_CLOSED)
			break;
	}
	if (member->state != MEMBER_GONE && result == MESSAGE_CLOSED) {
		CLEANUP(text_release) struct text how = {0};
		struct error reason;

		worker_end(worker, &how);
		error_set(&reason, STATUS_NO_DEVICE, "its process %s%s",
			string_starts_with(text_string(&how), "killed") ? "was " : "",
			text_string(&how));
		lose(crew, member, &reason);
	}
}

/* What steps were tuned to by others, where the problem's families need them. */
static struct tuned_entry *entries_of_steps(const struct crew *crew, size_t number, size_t *count)
{
	const struct session *session = crew->session;
	const struct queue *queue = session->queue;
	struct tuned_entry *entries = memory_zeroed(queue->count + 1, sizeof(*entries));

	*count = 0;
	for (size_t i = 0; i < queue->count && search_needs_steps(session, number); i++) {
		const struct tuned_entry *entry =
			queue->items[i].is_step && crew->items[i].state == IS_DONE
				? tuned_find_problem(session->tuned, queue->items[i].problem,
					  session->objective)
				: NULL;

		if (entry)
			entries[(*count)++] = *entry; /* borrowed */
	}
	return entries;
}

static void hand_out(struct crew *crew, struct member *member)
{
	const int64_t prepared = member->following,
		      number = prepared >= 0 && crew->items[prepared].state == WAITS
				       ? prepared
				       : next(crew, false);
	struct tuner_task task = {.number = number};
	CLEANUP(memory_free) struct tuned_entry *entries = NULL;

	if (number < 0)
		return;
	if (prepared >= 0)
		crew->items[prepared].is_ahead = false;
	crew->items[number].state = IS_TUNED;
	task.following = member->following = next(crew, true);
	if (task.following >= 0)
		crew->items[task.following].is_ahead = true;
	task.entries = entries = entries_of_steps(crew, (size_t)number, &task.entry_count);
	member->number = number;
	member->state = MEMBER_TUNES;
	post(member, TUNER_TUNE, &tuner_task_record, &task);
}

static size_t count_in(const struct crew *crew, enum member_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < crew->count; i++)
		count += crew->members[i].state == state;
	return count;
}

static void direct(struct crew *crew)
{
	compare_anchors(crew);
	for (size_t i = 0; i < crew->count; i++) {
		struct member *member = &crew->members[i];
		const struct tuner_begin begin = {crew->last_run};

		if (member->state == MEMBER_WAITS && !count_in(crew, MEMBER_BEGINS)) {
			member->state = MEMBER_BEGINS;
			post(member, TUNER_BEGIN, &tuner_begin_record, &begin);
		}
		if (member->state == MEMBER_IDLE)
			hand_out(crew, member);
	}
}

static void wait_for_words(const struct crew *crew)
{
	CLEANUP(memory_free)
	struct pollfd *fds = memory_zeroed(crew->count + 1, sizeof(*fds));
	size_t count = 0;

	for (size_t i = 0; i < crew->count; i++)
		if (crew->members[i].state != MEMBER_GONE)
			fds[count++] = (struct pollfd){
				.fd = crew->members[i].worker.from_fd, .events = POLLIN};
	poll(fds, (nfds_t)count, (int)(1e3 * wait_s));
}

static void start_all(struct crew *crew)
{
	for (size_t i = 0; i < crew->count; i++) {
		struct member *member = &crew->members[i];
		struct tuner_member own = {crew->session, i};
		struct error reason = {0};

		member->following = TUNER_NONE;
		if (worker_fork(&member->worker, tuner_main, &own, &reason) != STATUS_OK)
			lose(crew, member, &reason);
	}
}

/* They save the best that they have, for some time. */
static void interrupt(struct crew *crew)
{
	const double end_s = clock_seconds() + interrupted_s;

	for (size_t i = 0; i < crew->count; i++)
		if (crew->members[i].state == MEMBER_TUNES)
			kill(crew->members[i].worker.pid, SIGINT);
	while (count_in(crew, MEMBER_TUNES) && clock_seconds() < end_s) {
		wait_for_words(crew);
		for (size_t i = 0; i < crew->count; i++)
			hear(crew, &crew->members[i]);
	}
	crew->ends = true;
	crew->status = session_interrupted(&crew->err);
}

static void run_together(struct crew *crew)
{
	const struct journal_run *resume = crew->session->resume;

	crew->last_run = string_copy(resume ? resume->run.id : NULL);
	start_all(crew);
	while (crew->left && !crew->ends && count_in(crew, MEMBER_GONE) < crew->count) {
		direct(crew);
		wait_for_words(crew);
		for (size_t i = 0; i < crew->count; i++)
			hear(crew, &crew->members[i]);
		if (*crew->session->interrupted)
			interrupt(crew);
	}
	for (size_t i = 0; i < crew->count; i++)
		worker_kill(&crew->members[i].worker);
	for (size_t i = 0; i < crew->count; i++)
		worker_end(&crew->members[i].worker, NULL);
	free(crew->last_run);
	if (crew->session->tuned_path)
		tuned_refresh(crew->session->tuned, crew->session->tuned_path, NULL, NULL);
}

enum status crew_run(struct session *session, struct error *err)
{
	const struct queue *queue = session->queue;
	const size_t gpus = session->context->device_count;
	CLEANUP(memory_free) struct item *items = memory_zeroed(queue->count + 1, sizeof(*items));
	CLEANUP(memory_free) struct member *members = memory_zeroed(gpus + 1, sizeof(*members));
	struct crew crew = {.session = session,
		.items = items,
		.left = queue->count,
		.members = members,
		.count = gpus};

	session->gpus = memory_zeroed(gpus + 1, sizeof(*session->gpus));
	session->gpu_count = 0;
	for (size_t i = 0; i < queue->count; i++)
		items[i].expected_s = queue_expected_seconds(queue->items[i].problem);
	if (gpus && queue->count)
		run_together(&crew);
	else
		run_alone(&crew);
	if (crew.left && !crew.ends) {
		crew.status = error_set(&crew.err, STATUS_NO_DEVICE,
			"no GPU is left; %zu problems were not tuned", crew.left);
		error_hint(&crew.err, "what was measured is in the journal; run again to resume");
	}
	if (crew.status != STATUS_OK)
		*err = crew.err;
	if (session->problems->count > 1 && crew.failed && !crew.ends && !crew.left)
		error_context(err, "%zu of %zu problems were not tuned; the first", crew.failed,
			session->problems->count);
	return crew.status;
}
