/* SPDX-License-Identifier: MIT */
#include "process/team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

struct member {
	struct team *team;
	pthread_t thread;
	size_t number;
};

struct team {
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t changed;
	unsigned long asked, served; /* turns */
	unsigned long tasks;         /* begun so far */
	size_t busy;                 /* members that are at the last of them */
	bool ends;
	team_task *task;
	void *context;
	size_t count;
	struct member *members; /* 0 has no thread of its own */
};

void team_enter(struct team *team)
{
	unsigned long turn;

	if (!team)
		return;
	pthread_mutex_lock(&team->mutex);
	turn = team->asked++;
	while (team->served != turn)
		pthread_cond_wait(&team->changed, &team->mutex);
	pthread_mutex_unlock(&team->mutex);
}

void team_leave(struct team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->mutex);
	team->served++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->mutex);
}

static void work(struct team *team, size_t member)
{
	team_enter(team);
	team->task(team->context, member);
	team_leave(team);
	pthread_mutex_lock(&team->mutex);
	team->busy--;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->mutex);
}

static void *live(void *argument)
{
	struct member *member = argument;
	struct team *team = member->team;
	unsigned long done = 0;

	for (;;) {
		bool ends;

		pthread_mutex_lock(&team->mutex);
		while (team->tasks == done && !team->ends)
			pthread_cond_wait(&team->changed, &team->mutex);
		ends = team->ends;
		done++;
		pthread_mutex_unlock(&team->mutex);
		if (ends)
			return NULL;
		work(team, member->number);
	}
}

struct team *team_new(size_t members)
{
	struct team *team = memory_zeroed(1, sizeof(*team));

	team->members = memory_zeroed(members, sizeof(*team->members));
	team->count = 1;
	pthread_mutex_init(&team->mutex, NULL);
	pthread_cond_init(&team->changed, NULL);
	while (team->count < members) {
		struct member *member = &team->members[team->count];

		*member = (struct member){.team = team, .number = team->count};
		if (pthread_create(&member->thread, NULL, live, member) != 0)
			BUG("thread %zu of %zu cannot be made", team->count, members);
		team->count++;
	}
	return team;
}

void team_run(struct team *team, team_task *task, void *context)
{
	pthread_mutex_lock(&team->mutex);
	team->task = task;
	team->context = context;
	team->busy = team->count;
	team->tasks++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->mutex);
	work(team, 0);
	pthread_mutex_lock(&team->mutex);
	while (team->busy)
		pthread_cond_wait(&team->changed, &team->mutex);
	pthread_mutex_unlock(&team->mutex);
}

void team_free(struct team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->mutex);
	team->ends = true;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->mutex);
	for (size_t i = 1; i < team->count; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->mutex);
	free(team->members);
	free(team);
}
