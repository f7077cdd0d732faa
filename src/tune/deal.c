/* SPDX-License-Identifier: MIT */
#include "tune/deal.h"

#include "candidate/problem_reference.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/gpus.h"
#include "tune/search.h"

enum {
	LOSSES_MAX = 2 /* GPUs that may be lost over a problem before it is left alone */
};

static const double idle_s = 0.02;

enum state {
	WAITS,
	IS_TUNED,
	IS_DONE, /* or failed */
};

struct item {
	enum state state;
	double expected_s;
	unsigned losses;
	struct ahead *ahead; /* of one that waits, or NULL */
};

struct dealing {
	struct session *session;
	struct item *items; /* of the queue */
	size_t left;        /* that are not done */
	size_t failed;
	bool ends;          /* nothing more is dealt */
	enum status status; /* the first that says why a problem is not tuned */
	struct error err;
};

/* ---- the next problem's candidates, found and scored while the GPU is at another's ---- */
struct ahead {
	pthread_t thread;
	struct session *session;
	size_t number;
	struct search *search;
	enum status status;
	struct error err;
};

static void *ahead_run(void *argument)
{
	struct ahead *ahead = argument;

	ahead->status = search_prepare(ahead->session, ahead->number, &ahead->search, &ahead->err);
	return NULL;
}

/* NULL: it cannot be known yet, or no thread is available. session outlives it. */
static struct ahead *ahead_begin(struct session *session, size_t number)
{
	struct ahead *ahead;
	sigset_t all, before;
	int failed;

	if (search_needs_turn(session, number) || resume_is_concluded(session, number))
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

static void ahead_drop(struct ahead *ahead)
{
	CLEANUP(search_free) struct search *search = NULL;

	if (ahead)
		ahead_end(ahead, &search, NULL);
}

/* ---- dealing ---- */
static void notice(const struct session *session, const char *text)
{
	if (session->observer.notice)
		session->observer.notice(session->observer.context, text);
}

static void fail(struct dealing *dealing, enum status status, const struct error *reason)
{
	if (dealing->status != STATUS_OK)
		return;
	dealing->status = status;
	dealing->err = *reason;
}

/* SIZE_MAX: none can be begun now. unprepared: of those that are not prepared already. */
static size_t next(const struct dealing *dealing, bool unprepared)
{
	const struct queue *queue = dealing->session->queue;
	const bool one = !dealing->session->context->team;
	size_t best = SIZE_MAX;
	bool steps_done = true;

	for (size_t i = 0; i < queue->count; i++) {
		const struct item *item = &dealing->items[i];

		if (item->state == WAITS && !(unprepared && item->ahead) &&
			(queue->items[i].is_step || steps_done) &&
			(best == SIZE_MAX || item->expected_s > dealing->items[best].expected_s))
			best = i;
		if (one && best != SIZE_MAX)
			break;
		steps_done &= !queue->items[i].is_step || item->state == IS_DONE;
	}
	return best;
}

/* A GPU is lost: whether the problem may be what does it. */
static void take_back(struct dealing *dealing, size_t number, const struct error *reason)
{
	struct item *item = &dealing->items[number];

	item->state = WAITS;
	if (++item->losses < LOSSES_MAX)
		return;
	item->state = IS_DONE;
	dealing->left--;
	dealing->failed++;
	fail(dealing, STATUS_NO_DEVICE, reason);
}

/* False: this GPU takes no more. */
static bool take_status(struct dealing *dealing, const struct session *session, size_t number,
	enum status status, const struct error *reason)
{
	const struct session_observer *observer = &session->observer;
	const struct queue_item *queued = &session->queue->items[number];

	if (status == STATUS_NO_DEVICE && session->context->team) {
		take_back(dealing, number, reason);
		return false;
	}
	dealing->items[number].state = IS_DONE;
	dealing->left--;
	if (status == STATUS_OK)
		return true;
	if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE ||
		(!session->keep_going && !queued->is_step)) {
		dealing->ends = true;
		dealing->status = STATUS_OK; /* this says more */
		fail(dealing, status, reason);
		return false;
	}
	if (observer->failed)
		observer->failed(observer->context, queued->problem, reason);
	if (!queued->is_step) {
		dealing->failed++;
		fail(dealing, status, reason);
	}
	return true;
}

/* Other GPUs have their turns meanwhile. */
static enum status prepare(struct dealing *dealing, struct session *session, size_t number,
	struct search **search, struct error *err)
{
	struct team *team = search_needs_turn(session, number) ? NULL : session->context->team;
	struct ahead *ahead = dealing->items[number].ahead;
	enum status status;

	dealing->items[number].ahead = NULL;
	team_leave(team);
	status = ahead ? ahead_end(ahead, search, err)
		       : search_prepare(session, number, search, err);
	team_enter(team);
	if (status == STATUS_OK)
		(*search)->session = session;
	return status;
}

/* One for each GPU at most: it takes memory. */
static void prepare_next(struct dealing *dealing)
{
	const size_t following = next(dealing, true);
	size_t count = 0;

	for (size_t i = 0; i < dealing->session->queue->count; i++)
		count += dealing->items[i].ahead != NULL;
	if (following != SIZE_MAX && count <= dealing->session->context->other_count)
		dealing->items[following].ahead = ahead_begin(dealing->session, following);
}

static enum status tune(
	struct dealing *dealing, struct session *session, size_t number, struct error *err)
{
	const double asked_s = clock_seconds();
	CLEANUP(search_free) struct search *search = NULL;
	bool done;

	TRY(resume_entry(session, number, &done, err));
	if (done)
		return STATUS_OK;
	TRY(prepare(dealing, session, number, &search, err));
	search->waited_seconds = clock_seconds() - asked_s;
	prepare_next(dealing);
	return session_search(search, err);
}

static void serve(struct dealing *dealing, struct session *session, struct error *lost)
{
	struct team *team = session->context->team;

	while (dealing->left && !dealing->ends) {
		const size_t number = next(dealing, false);
		struct error reason = {0};
		enum status status;

		if (number == SIZE_MAX) {
			/* it may be given back, or be a step that others wait for */
			team_leave(team);
			clock_sleep(idle_s);
			team_enter(team);
			continue;
		}
		dealing->items[number].state = IS_TUNED;
		status = tune(dealing, session, number, &reason);
		if (!take_status(dealing, session, number, status, &reason)) {
			*lost = reason;
			lost->status = status;
			return;
		}
	}
}

static enum status join(struct dealing *dealing, struct session *own, struct error *err)
{
	CLEANUP(memory_free) char *text = NULL;

	TRY(gpus_join(dealing->session->context, own->context, &text, err));
	if (text)
		notice(own, text);
	return own->join ? own->join(own->joins, own, err) : STATUS_OK;
}

/* One GPU's thread. */
static void run_one(void *context, size_t member)
{
	struct dealing *dealing = context;
	struct session own = *dealing->session;
	struct error lost = {0};

	if (member) {
		/* fewer may be open than there are threads */
		if (member > own.context->other_count || !dealing->left)
			return;
		own.context = &own.context->others[member - 1];
		own.pool.device = own.context->device;
		if (join(dealing, &own, &lost) != STATUS_OK)
			lost.status = STATUS_NO_DEVICE;
	}
	if (lost.status == STATUS_OK)
		serve(dealing, &own, &lost);
	dealing->session->unsaved |= own.unsaved;
	if (lost.status == STATUS_NO_DEVICE && own.context->team) {
		CLEANUP(memory_free)
		char *text = string_format("%s takes no more problems: %s",
			device_identity(own.context->device)->uuid, lost.message);

		notice(&own, text);
	}
}

enum status deal_queue(struct session *session, struct error *err)
{
	const struct queue *queue = session->queue;
	struct team *team = session->context->team;
	CLEANUP(memory_free)
	struct item *items = memory_zeroed(queue->count + 1, sizeof(*items));
	struct dealing dealing = {.session = session, .items = items, .left = queue->count};

	for (size_t i = 0; i < queue->count; i++)
		items[i].expected_s = queue_expected_seconds(queue->items[i].problem);
	if (team)
		team_run(team, run_one, &dealing);
	else
		run_one(&dealing, 0);
	for (size_t i = 0; i < queue->count; i++)
		ahead_drop(items[i].ahead);
	if (dealing.left && !dealing.ends) {
		dealing.status = error_set(&dealing.err, STATUS_NO_DEVICE,
			"no GPU is left; %zu problems were not tuned", dealing.left);
		error_hint(
			&dealing.err, "what was measured is in the journal; run again to resume");
	}
	if (dealing.status != STATUS_OK)
		*err = dealing.err;
	if (session->problems->count > 1 && dealing.failed && !dealing.ends && !dealing.left)
		error_context(err, "%zu of %zu problems were not tuned; the first", dealing.failed,
			session->problems->count);
	return dealing.status;
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

	TRY(problem_reference(problem, &context->catalogue, device_spec(context->device), &build,
		&reference, err));
	return request_kernels(context->store, &build, err);
}

enum status deal_precompile(struct session *session, struct error *err)
{
	const struct context *context = session->context;
	CLEANUP(queue_release) struct queue queue = {0};
	enum status status;

	TRY(queue_open(&context->catalogue, session->problems, device_spec(context->device),
		&session->pool, &queue, err));
	TRY(request_helpers(context, err));
	for (size_t i = 0; i < queue.count; i++)
		TRY(request_reference(context, queue.items[i].problem, err));
	status = session_run(session, err);
	while (kernel_store_pending(context->store) && !*session->interrupted)
		kernel_store_poll(context->store, 0.2);
	return status;
}
