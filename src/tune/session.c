/* SPDX-License-Identifier: MIT */
#include "tune/session.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "tune/family_quota.h"
#include "tune/remeasure.h"
#include "tune/resume.h"
#include "tune/search.h"

enum {
	FLIGHTS_ON_DEVICE = 4, /* enough that the device never waits for us */
	FLIGHTS_READY = 16,    /* compiled and waiting; beyond that, asking more is guessing */
	POLL_FDS = 64,
};

static enum status record(struct search *search, struct trial *trial, struct error *err)
{
	struct json *line;

	if (!search->session->journal)
		return STATUS_OK;
	/* to the millisecond: how a search went on over time is what reports show */
	trial->evaluation.at_s = rint(1e3 * (clock_seconds() - search->budget.started)) / 1e3;
	line = evaluation_to_json(&trial->evaluation);
	json_put_int(line, "problem", (int64_t)search->number);
	return journal_write(search->session->journal, "evaluation", line, err);
}

static enum status launch_trial(struct search *search, size_t candidate, struct error *err)
{
	struct trial *trial = memory_zeroed(1, sizeof(*trial));

	ARRAY_GROW(search->trials, search->trial_count, search->trial_capacity);
	search->trials[search->trial_count++] = trial;
	search->asked[candidate] = true;
	return trial_start(&search->setup, candidate, trial, err);
}

/* How many candidates may be compiling at once: the workers never wait for us. */
static size_t compile_window(const struct search *search)
{
	const struct compiler *compiler = search->session->bench->compiler;

	return compiler ? 2 * (size_t)compiler_worker_count(compiler) + 2 : FLIGHTS_READY;
}

static bool stop_asking(struct search *search)
{
	if (!search->stopped_because)
		search->stopped_because = budget_spent(&search->budget);
	return search->exhausted || search->stopped_because || *search->session->interrupted;
}

/* ask strategy -> compile */
static enum status ask(struct search *search, struct error *err)
{
	while (!stop_asking(search) &&
		search_count(search, TRIAL_COMPILING, TRIAL_COMPILING) < compile_window(search) &&
		search_count(search, TRIAL_READY, TRIAL_SAMPLING) < FLIGHTS_READY &&
		search->budget.evaluations + search->trial_count <
			search->session->effort->evaluations) {
		size_t candidate;
		enum ask_result result = search->strategy->ask(search->strategy_state, &candidate);

		if (result == ASK_WAIT && search->trial_count)
			return STATUS_OK;
		if (result != ASK_CANDIDATE) {
			search->exhausted = true;
			search->stopped_because = "the strategy has nothing more to try";
			return STATUS_OK;
		}
		if (!search->asked[candidate] && launch_trial(search, candidate, err) != STATUS_OK)
			return STATUS_FAILED;
	}
	return STATUS_OK;
}

/* compile -> score again -> load */
static enum status advance(struct search *search, struct error *err)
{
	for (size_t i = 0; i < search->trial_count; i++) {
		struct trial *trial = search->trials[i];
		bool moved;

		if (trial->stage == TRIAL_COMPILING &&
			trial_check_compiled(&search->setup, trial, &moved, err) != STATUS_OK)
			return STATUS_FAILED;
		if (trial->stage == TRIAL_READY &&
			search_count(search, TRIAL_LOADING, TRIAL_SAMPLING) < FLIGHTS_ON_DEVICE &&
			trial_load(&search->setup, trial, err) != STATUS_OK)
			return STATUS_FAILED;
	}
	return STATUS_OK;
}

/* verify -> measure */
static enum status take_events(struct search *search, double timeout_s, struct error *err)
{
	struct device_event event;

	while (device_poll(search->session->bench->device, timeout_s, &event)) {
		enum status status = STATUS_OK;

		timeout_s = 0;
		if (event.kind == DEVICE_EVENT_LOST) {
			status = error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
				event.detail ? event.detail : "it stopped answering");
			error_hint(err, "what was measured is in the journal; run again to resume");
			device_event_release(&event);
			return status;
		}
		for (size_t i = 0; i < search->trial_count; i++)
			if (search->trials[i]->handle == event.handle &&
				search->trials[i]->stage != TRIAL_DONE)
				status = trial_event(&search->setup, search->trials[i], &event,
					search->budget.best_us, err);
		device_event_release(&event);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* append to journal -> tell strategy */
static enum status land(struct search *search, struct error *err)
{
	size_t kept = 0, landed;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < search->trial_count; i++) {
		struct trial *trial = search->trials[i];

		if (trial->stage != TRIAL_DONE || status != STATUS_OK) {
			search->trials[kept++] = trial;
			continue;
		}
		status = record(search, trial, err);
		search_add(search, trial->candidate, &trial->evaluation);
		trial_release(&search->setup, trial);
		free(trial);
	}
	landed = search->trial_count - kept;
	search->trial_count = kept; /* those that landed are freed: nobody may look at them */
	if (landed)
		search_show(search, false);
	return status;
}

/* Sleeps until a compiler or the device has something to say. */
static void wait_for_news(struct search *search)
{
	const struct context *bench = search->session->bench;
	struct pollfd fds[POLL_FDS];
	size_t count = device_poll_fds(bench->device, fds, POLL_FDS);

	if (bench->compiler)
		count += compiler_poll_fds(bench->compiler, fds + count, POLL_FDS - count);
	if (search->trial_count && !device_pending(bench->device) &&
		!(bench->compiler && compiler_pending(bench->compiler)))
		return;
	if (count)
		poll(fds, (nfds_t)count, 200);
}

static enum status launch_all(
	struct search *search, const size_t *candidates, size_t count, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		if (!search->asked[candidates[i]])
			status = launch_trial(search, candidates[i], err);
	return status;
}

/* Until the strategy has had its say and all trials have landed. */
static enum status turn(struct search *search, struct error *err)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK) {
		status = ask(search, err);
		if (status == STATUS_OK && search->session->bench->store)
			kernel_store_poll(search->session->bench->store, 0);
		if (status == STATUS_OK)
			status = advance(search, err);
		if (status == STATUS_OK)
			status = take_events(search, 0, err);
		if (status == STATUS_OK)
			status = land(search, err);
		if (status == STATUS_OK && *search->session->interrupted)
			status = error_set(err, STATUS_INTERRUPTED,
				"interrupted; run again to go on where it stopped");
		if (!search->trial_count && stop_asking(search))
			break;
		if (status == STATUS_OK)
			wait_for_news(search);
	}
	return status;
}

static enum status search_loop(struct search *search, struct error *err)
{
	enum status status = launch_all(search, search->planned, search->planned_count, err);
	size_t *passed_over = NULL, count = 0;

	if (status == STATUS_OK)
		status = turn(search, err);
	if (status == STATUS_OK)
		count = fair_candidates(search, &passed_over);
	if (status == STATUS_OK && count)
		status = launch_all(search, passed_over, count, err);
	if (status == STATUS_OK && count)
		status = turn(search, err);
	free(passed_over);
	return status;
}

static enum status run_problem(struct session *session, size_t number, struct error *err)
{
	struct search search;
	bool done = false;
	enum status status = resume_entry(session, number, &done, err);

	if (status != STATUS_OK || done)
		return status;
	status = search_open(session, number, &search, err);
	if (status == STATUS_OK)
		status = search_loop(&search, err);
	if (status == STATUS_OK)
		status = final_round(&search, err);
	if (status == STATUS_OK)
		status = search_conclude(&search, err);
	search_close(&search);
	return status;
}

static enum status run_queue(struct session *session, struct error *err)
{
	enum status worst = STATUS_OK;

	for (size_t i = 0; i < session->queue->count; i++) {
		const struct queue_item *item = &session->queue->items[i];
		struct error reason = {0};
		enum status status = run_problem(session, i, &reason);

		if (status == STATUS_OK)
			continue;
		if ((!session->keep_going && !item->is_step) || status == STATUS_INTERRUPTED ||
			status == STATUS_NO_DEVICE) {
			*err = reason;
			return status;
		}
		if (session->observer.failed)
			session->observer.failed(session->observer.context, item->problem, &reason);
		if (worst == STATUS_OK && !item->is_step) {
			worst = status;
			*err = reason;
		}
	}
	return worst;
}

enum status session_save(struct session *session, struct error *err)
{
	enum status status = session->tuned_path
				     ? tuned_save(session->tuned, session->tuned_path, err)
				     : STATUS_OK;

	session->unsaved = status != STATUS_OK;
	return status;
}

enum status session_run(struct session *session, struct error *err)
{
	struct context *bench = session->bench;
	struct queue queue;
	enum status status;

	session->pool.device = bench->device;
	session->pool.tuned = session->tuned;
	session->pool.measured_steps = device_measures(bench->device);
	status = queue_open(&bench->catalogue, session->problems, device_spec(bench->device),
		&session->pool, &queue, err);
	if (status != STATUS_OK)
		return status;
	session->queue = &queue;
	status = run_queue(session, err);
	session->queue = NULL;
	queue_release(&queue);
	return status;
}
