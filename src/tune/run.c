/* SPDX-License-Identifier: MIT */
#include "tune/search.h"

#include <pthread.h>

#include "base/clock.h"

void tune_notice(const struct tune_run *run, const char *text)
{
	if (text && run->options->observer.notice)
		run->options->observer.notice(run->options->observer.context, text);
}

enum status tune_interrupted(struct error *err)
{
	return error_set(
		err, STATUS_INTERRUPTED, "interrupted; run the same command again to resume");
}

enum status tune_save(struct tune_run *run, struct error *err)
{
	const char *path = run->options->tuned_path;
	enum status status = path ? tuned_save(run->tuned, path, run->run_id, err) : STATUS_OK;

	run->unsaved = status != STATUS_OK;
	return status;
}

enum status tune_put_entry(struct tune_run *run, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept, struct error *err)
{
	/* ignore errors here, because saving the file reports them */
	if (run->options->tuned_path)
		tuned_refresh(run->tuned, run->options->tuned_path, run->run_id, NULL);
	tuned_put_entry(run->tuned, entry, judge, kept);
	return tune_save(run, err);
}

/* ---- finding the next problem's candidates while the device measures ---- */
struct prefetch {
	pthread_t thread;
	struct tune_run *run;
	size_t number;
	struct search *search;
	enum status status;
	struct error err;
};

static void *prefetch_run(void *argument)
{
	struct prefetch *prefetch = argument;

	prefetch->status =
		search_prepare(prefetch->run, prefetch->number, &prefetch->search, &prefetch->err);
	return NULL;
}

/* Returns NULL if the problem is concluded, or if no thread can be started. */
static struct prefetch *prefetch_begin(struct tune_run *run, size_t number)
{
	struct prefetch *prefetch;
	sigset_t all, before;
	int failed;

	if (resume_is_concluded(run, number))
		return NULL;
	prefetch = memory_zeroed(1, sizeof(*prefetch));
	prefetch->run = run;
	prefetch->number = number;
	/* only the main thread may receive signals, which interrupt its waiting */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	failed = pthread_create(&prefetch->thread, NULL, prefetch_run, prefetch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return prefetch;
	free(prefetch);
	return NULL;
}

static enum status prefetch_end(
	struct prefetch *prefetch, struct search **search, struct error *err)
{
	enum status status;

	pthread_join(prefetch->thread, NULL);
	*search = prefetch->search;
	status = prefetch->status;
	if (status != STATUS_OK && err)
		*err = prefetch->err;
	free(prefetch);
	return status;
}

static void prefetch_drop(struct prefetch **prefetch)
{
	CLEANUP(search_free) struct search *search = NULL;

	if (*prefetch)
		prefetch_end(*prefetch, &search, NULL);
	*prefetch = NULL;
}

/* *prefetch is NULL before the first call. */
static enum status prefetch_search(struct prefetch **prefetch, struct tune_run *run, size_t number,
	struct search **search, struct error *err)
{
	const double asked_s = clock_seconds();

	if (*prefetch && (*prefetch)->number != number)
		prefetch_drop(prefetch);
	if (*prefetch) {
		struct prefetch *ready = *prefetch;

		*prefetch = NULL;
		TRY(prefetch_end(ready, search, err));
	} else {
		TRY(search_prepare(run, number, search, err));
	}
	(*search)->waited_seconds = clock_seconds() - asked_s;
	if (number + 1 < run->problems->count)
		*prefetch = prefetch_begin(run, number + 1);
	return STATUS_OK;
}

static enum status tune_problem(
	struct tune_run *run, size_t number, struct prefetch **prefetch, struct error *err)
{
	CLEANUP(search_free) struct search *search = NULL;
	bool done;

	TRY(resume_entry(run, number, &done, err));
	if (done)
		return STATUS_OK;
	TRY(prefetch_search(prefetch, run, number, &search, err));
	return search_run(search, err);
}

enum status tune_problems(struct tune_run *run, struct error *err)
{
	const struct tune_observer *observer = &run->options->observer;
	const struct problem_list *problems = run->problems;
	struct prefetch *prefetch = NULL;
	enum status status = STATUS_OK;
	struct error first = {0};
	size_t failed = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct error reason = {0};

		status = tune_problem(run, i, &prefetch, &reason);
		if (status == STATUS_OK)
			continue;
		if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE ||
			!run->options->keep_going) {
			prefetch_drop(&prefetch);
			*err = reason;
			return status;
		}
		if (observer->failed)
			observer->failed(observer->context, problems->items[i], &reason);
		if (failed++ == 0)
			first = reason;
	}
	prefetch_drop(&prefetch);
	if (!failed)
		return STATUS_OK;
	*err = first;
	if (run->problems->count > 1)
		error_context(err, "%zu of %zu problems were not tuned; the first is", failed,
			run->problems->count);
	return first.status;
}
