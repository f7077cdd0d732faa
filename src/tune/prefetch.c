/* SPDX-License-Identifier: MIT */
#include "tune/prefetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "tune/resume.h"

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

/* NULL if the problem is concluded, or no thread can be started. */
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
	/* signals must interrupt the waiting main thread */
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

void prefetch_drop(struct prefetch **prefetch)
{
	CLEANUP(search_free) struct search *search = NULL;

	if (*prefetch)
		prefetch_end(*prefetch, &search, NULL);
	*prefetch = NULL;
}

enum status prefetch_search(struct prefetch **prefetch, struct tune_run *run, size_t number,
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
