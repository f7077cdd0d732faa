/* SPDX-License-Identifier: MIT */
#include "tune/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

struct ahead {
	pthread_t thread;
	struct session *session;
	size_t number;
	struct search *search;
	enum status status;
	struct error err;
};

static void *prepare(void *argument)
{
	struct ahead *ahead = argument;

	ahead->status = search_prepare(ahead->session, ahead->number, &ahead->search, &ahead->err);
	return NULL;
}

struct ahead *ahead_begin(struct session *session, size_t number)
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
	failed = pthread_create(&ahead->thread, NULL, prepare, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return ahead;
	free(ahead);
	return NULL;
}

enum status ahead_end(struct ahead *ahead, struct search **search, struct error *err)
{
	struct team *team = ahead->session->context->team;
	enum status status;

	team_leave(team);
	pthread_join(ahead->thread, NULL);
	team_enter(team);
	*search = ahead->search;
	status = ahead->status;
	if (status != STATUS_OK && err)
		*err = ahead->err;
	free(ahead);
	return status;
}

void ahead_drop(struct ahead *ahead)
{
	CLEANUP(search_free) struct search *search = NULL;

	if (ahead)
		ahead_end(ahead, &search, NULL);
}
