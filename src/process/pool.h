/* SPDX-License-Identifier: MIT
 *
 * Processes that serve requests: compilers, GPU workers, users' programs. They are started when
 * there is work for them, get requests in the order in which those came, and are replaced when they
 * end or say nothing for too long. A request whose process was killed from outside, as when memory
 * is short, is sent once more; its owner decides on all else. A process that
 * ends before its first word has not started: its requests are for the next one.
 *
 * What is sent and heard is the kind's; nothing here waits but pool_wait().
 */
#ifndef PROCESS_POOL_H
#define PROCESS_POOL_H

#include "process/worker.h"

/* A request, part of a struct of its owner's, who frees it when it is done or failed. */
struct pool_task {
	struct pool_task *next;
	double silence_s; /* how long the process may say nothing while it is at it */
	bool was_killed;  /* its process, from outside, since the task was added or answered in
			   * part, which its owner says */
};

enum pool_heard {
	POOL_SILENT,  /* there is no whole message */
	POOL_READY,   /* it greets: it can be asked */
	POOL_WORKS,   /* a word, not the last one */
	POOL_DONE,    /* the task is answered, and the owner's again */
	POOL_FAILED,  /* it is gone, spoke nonsense, or must end; why may say so */
	POOL_REFUSED, /* it cannot work at all: why; another process may */
};

/* What hear() returns for what it received: POOL_WORKS, if that is a message to look at. */
enum pool_heard pool_received(enum message_result result);

enum pool_end {
	POOL_ENDED,     /* the process is gone */
	POOL_TIMED_OUT, /* it said nothing for task->silence_s, and is killed */
	POOL_BROKEN,    /* no process can be started any more */
};

struct pool;

struct pool_kind {
	const char *name; /* "the compiler's process", in messages */
	double pause_s;   /* before a second attempt to start one; six times that before a third */
	double first_word_s; /* silence until its first word after the start, where that is longer
			      */
	double greeting_s;   /* until it greets; 0: it does not, and can be asked at once */
	enum status (*start)(struct pool *pool, struct worker *worker, struct error *err);
	/* worker_post() of the request. False: nothing is to be asked any more, it is done. */
	bool (*send)(void *context, struct worker *worker, struct pool_task *task);
	/* Takes one message. task: what the process is at, NULL: nothing, or it greets. */
	enum pool_heard (*hear)(void *context, struct worker *worker, bool greets,
		struct pool_task *task, struct text *why);
	/* The owner's again, who may add it once more. how: in one sentence. */
	void (*fail)(void *context, struct pool_task *task, enum pool_end end, const char *how);
};

enum pool_state {
	POOL_ABSENT,
	POOL_GREETS,
	POOL_CAN_WORK,
	POOL_DIES, /* killed; its end is not seen yet */
};

struct pool_queue {
	struct pool_task *first, *last;
	size_t count;
};

struct pool_member {
	enum pool_state state;
	struct worker worker;
	bool has_spoken;         /* since it was started */
	bool has_more;           /* it said more than was heard */
	struct pool_queue tasks; /* that it was sent; it is at the first */
	double said_s; /* when it last said something, or was asked; of one that dies: when killed
			*/
};

struct pool {
	const struct pool_kind *kind;
	void *context;
	struct pool_member *members;
	size_t member_count;
	size_t depth; /* requests that a process has at once: it need not wait for the next one */
	struct pool_queue queue;
	unsigned start_failures; /* in a row: since a process last said something */
	double not_before_s;     /* no process is started earlier */
	bool has_worked;
	struct error broken; /* status not OK: why no process can be started any more */
};

void pool_open(struct pool *pool, const struct pool_kind *kind, void *context, size_t members,
	size_t depth);
/* Kills all processes, and waits until they have ended. Tasks stay their owners'. A zeroed pool is
 * closed. */
void pool_close(struct pool *pool);
/* The same; processes are started again when there is work. Only while no task is in progress. */
void pool_rest(struct pool *pool);
/* A process that can be asked becomes the first one's; takes it. */
void pool_adopt(struct pool *pool, struct worker *worker);
void pool_add(struct pool *pool, struct pool_task *task);
void pool_add_first(struct pool *pool, struct pool_task *task);
/* Any that is not answered, before the pool is closed; NULL: there is none. */
struct pool_task *pool_take(struct pool *pool);
/* Hears, hands out, starts, gives up. */
void pool_work(struct pool *pool);
/* When pool_work() has something to do though no message came; infinite: never. */
double pool_next_s(const struct pool *pool);
/* Until then, or until one of them has something to say; at most timeout_s. */
void pool_wait(struct pool *const *pools, size_t count, double timeout_s);

#endif
