/* SPDX-License-Identifier: MIT
 *
 * Processes that serve requests: compilers, GPU workers, users' programs. A process is started when
 * there is work for it, gets requests in the order in which they came, and is replaced when it ends
 * or is silent for too long. A request whose process was killed from outside, for example because
 * memory is short, is sent once more; its owner decides on everything else. A process that ends
 * before its first message has not started, and its requests go to the next one.
 *
 * struct pool_kind knows the messages. Only pool_wait() waits.
 */
#ifndef PROCESS_POOL_H
#define PROCESS_POOL_H

#include "process/worker.h"

/* A request, part of a struct of its owner, who frees it when it is done or failed. */
struct pool_task {
	struct pool_task *next;
	double timeout_s; /* how long the process may be silent while it works on this task */
	double until_s;   /* clock_seconds() at which the task fails in any case; 0: never */
	bool was_killed;  /* an outside signal killed its process after the task was added (or, if
			     its owner says so, partly answered) */
};

enum pool_event {
	POOL_READY,   /* the handshake: requests can be sent */
	POOL_WORKS,   /* a message that is not the last one of the task */
	POOL_DONE,    /* the task is answered, and its owner's again */
	POOL_FAILED,  /* the process is gone, sent an invalid message or must end; why may say so */
	POOL_REFUSED, /* the process cannot work at all; another process may */
};

enum pool_end {
	POOL_ENDED,     /* the process is gone */
	POOL_TIMED_OUT, /* it was silent for task->timeout_s, or task->until_s is over */
	POOL_BROKEN,    /* no more processes can be started */
};

struct pool;

struct pool_kind {
	const char *name; /* "the compiler's process", in messages */
	double pause_s;   /* before a second attempt to start one; six times that before a third */
	double handshake_s; /* longest time until the handshake; 0 if the kind has none */
	enum status (*start)(struct pool *pool, struct worker *worker, struct error *err);
	/* Sends the request with worker_post(). False: the task is done without being sent. */
	bool (*send)(void *context, struct worker *worker, struct pool_task *task);
	/* Takes one line. task is the task in progress, or NULL (none, or the handshake). */
	enum pool_event (*on_line)(void *context, struct worker *worker, bool handshake,
		struct pool_task *task, const struct text *line, struct text *why);
	/* Returns the task to its owner, who may add it again. how is a sentence. */
	void (*fail)(void *context, struct pool_task *task, enum pool_end end, const char *how);
};

enum pool_state {
	POOL_ABSENT,
	POOL_HANDSHAKE,
	POOL_CAN_WORK,
	POOL_TERMINATING, /* killed, but its end has not been seen yet */
};

struct pool_queue {
	struct pool_task *first, *last;
	size_t count;
};

struct pool_member {
	enum pool_state state;
	struct worker worker;
	bool has_spoken;
	unsigned start_failures; /* start failures of the pool before this process's handshake */
	bool has_more;           /* more messages may be waiting */
	struct pool_queue tasks; /* sent to the process, which works on the first one */
	double last_activity_s;  /* time of the last message or request, or of the kill */
};

struct pool {
	const struct pool_kind *kind;
	void *context;
	struct pool_member *members;
	size_t member_count;
	size_t depth; /* requests queued per process, so that it need not wait for the next one */
	struct pool_queue queue;
	unsigned start_failures; /* consecutive failures of all processes */
	double not_before_s;     /* earliest time to start a process */
	bool has_worked;
	char *last_end;      /* a sentence about the end of the last failed process; may be NULL */
	struct error broken; /* if not OK, no process can be started any more */
};

void pool_open(struct pool *pool, const struct pool_kind *kind, void *context, size_t members,
	size_t depth);
/* Kills all processes and waits until they have ended. Tasks still belong to their owners. A zeroed
 * pool is closed. */
void pool_close(struct pool *pool);
/* Takes over a started process, which needs no handshake any more, as the pool's first one. */
void pool_adopt(struct pool *pool, struct worker *worker);
void pool_add(struct pool *pool, struct pool_task *task);
void pool_add_first(struct pool *pool, struct pool_task *task);
/* Removes an unanswered task before the pool is closed. Returns NULL if none is left. */
struct pool_task *pool_take(struct pool *pool);
/* Takes messages, sends tasks, starts processes, and kills late ones. Never waits. */
void pool_work(struct pool *pool);
/* Returns the time at which pool_work() must be called even without messages; infinite: never. */
double pool_next_s(const struct pool *pool);
/* Waits until pool_next_s(), until a message arrives, or for timeout_s. */
void pool_wait(struct pool *const *pools, size_t count, double timeout_s);

#endif
