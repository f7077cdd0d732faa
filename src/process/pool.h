/* SPDX-License-Identifier: MIT
 *
 * Processes that serve requests in order, and are replaced when they end or are silent for too
 * long. After a kill from outside (low memory), a request is sent once more; requests of a process
 * that never sent a message go to the next one.
 */
#ifndef PROCESS_POOL_H
#define PROCESS_POOL_H

#include "process/worker.h"

/* First member of a request. */
struct pool_task {
	struct pool_task *next;
	double timeout_s; /* longest time without a message */
	double until_s;   /* clock_seconds() at which the task fails; 0: never */
	bool was_killed;  /* its process was killed from outside */
};

enum pool_event {
	POOL_READY,
	POOL_WORKS,
	POOL_DONE,    /* the task belongs to its owner again */
	POOL_FAILED,  /* the process must end */
	POOL_REFUSED, /* the process cannot work; another one may */
};

enum pool_end {
	POOL_ENDED,
	POOL_TIMED_OUT, /* timeout_s or until_s of the task is over */
	POOL_BROKEN,
};

struct pool;

struct pool_kind {
	const char *name;   /* "the compiler's process" */
	double pause_s;     /* pause before the second start; sixfold before the third */
	double handshake_s; /* time limit of the handshake; 0 if there is none */
	enum status (*start)(struct pool *pool, struct worker *worker, struct error *err);
	/* Returns false if the task is done without being sent. */
	bool (*send)(void *context, struct worker *worker, struct pool_task *task);
	/* `task` is in progress, or NULL. A failure may set why. */
	enum pool_event (*on_line)(void *context, struct worker *worker, bool handshake,
		struct pool_task *task, const struct text *line, struct text *why);
	/* Returns the task to its owner, who may add it again. */
	void (*fail)(void *context, struct pool_task *task, enum pool_end end, const char *how);
};

enum pool_state {
	POOL_ABSENT,
	POOL_HANDSHAKE,
	POOL_CAN_WORK,
	POOL_TERMINATING,
};

struct pool_queue {
	struct pool_task *first, *last;
	size_t count;
};

struct pool_member {
	enum pool_state state;
	struct worker worker;
	bool has_spoken;
	unsigned start_failures; /* the pool's count before the handshake */
	bool has_more;
	struct pool_queue tasks; /* sent tasks; the process works on the first */
	double last_activity_s;  /* time of the last message, request or kill */
};

struct pool {
	const struct pool_kind *kind;
	void *context;
	struct pool_member *members;
	size_t member_count;
	size_t depth; /* requests per process */
	struct pool_queue queue;
	unsigned start_failures; /* consecutive */
	double not_before_s;
	bool has_worked;
	char *last_end;      /* how the last failed process ended; may be NULL */
	struct error broken; /* status is OK while processes can be started */
};

void pool_open(struct pool *pool, const struct pool_kind *kind, void *context, size_t members,
	size_t depth);
/* Kills all processes and waits for their end. */
void pool_close(struct pool *pool);
/* Takes a process after its handshake. */
void pool_adopt(struct pool *pool, struct worker *worker);
void pool_add(struct pool *pool, struct pool_task *task);
void pool_add_first(struct pool *pool, struct pool_task *task);
/* Removes a task before pool_close(). Returns NULL if none is left. */
struct pool_task *pool_take(struct pool *pool);
/* Takes messages, sends tasks, starts and kills processes. */
void pool_work(struct pool *pool);
/* Returns the time of the next pool_work() if no message comes; may be infinite. */
double pool_next_s(const struct pool *pool);
/* Waits for a message, until pool_next_s(), or for timeout_s. */
void pool_wait(struct pool *const *pools, size_t count, double timeout_s);

#endif
