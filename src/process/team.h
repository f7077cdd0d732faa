/* SPDX-License-Identifier: MIT
 *
 * Threads that take turns. Shared data are touched only by the thread whose turn it is; a thread
 * releases the turn while it waits or works on private data. So the shared parts need no locks of
 * their own. Turns go in the order in which they were asked for: no thread starves.
 *
 * A thread lives as long as its team: the worker processes that it started end with it.
 */
#ifndef PROCESS_TEAM_H
#define PROCESS_TEAM_H

#include <stddef.h>

struct team;

/* One task for each of a team's members, at the same time; each begins in its turn. */
typedef void team_task(void *context, size_t member);

/* Member 0 is the calling thread. */
struct team *team_new(size_t members);
void team_free(struct team *team); /* NULL is fine */
/* Returns when every member is done. */
void team_run(struct team *team, team_task *task, void *context);

/* For what other members must not wait for. NULL: there are no others, nothing happens. */
void team_leave(struct team *team);
void team_enter(struct team *team);

#endif
