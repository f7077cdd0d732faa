/* SPDX-License-Identifier: MIT
 *
 * Requests to processes that measure, and replies for the loop. A GPU's worker and a user's program
 * are served alike; struct executor_protocol says what is written to a process and what it answers.
 *
 * One rule of blame: if a process dies or hangs over a single job, that job is crashed or timed
 * out. Several jobs are repeated one by one, beginning with the one that was in progress, until one
 * fails by itself; the others are requested together again. If no job was in progress, the request
 * is repeated once before a job is blamed. A reference that takes a process along fails its
 * problem: all jobs that need it are answered with that.
 */
#ifndef DEVICE_EXECUTOR_H
#define DEVICE_EXECUTOR_H

#include "device/device.h"
#include "measure/protocol.h"
#include "process/pool.h"

struct executor;

struct executor_request {
	struct pool_task task;  /* comes first */
	struct measure_run run; /* its jobs: those without an answer; without the setup */
	bool *passed;           /* per job: it did not fail by itself */
	bool is_alone;          /* only one of the jobs is requested */
	uint64_t alone;         /* its ticket */
	bool all_passed;        /* each by itself: they fail only together */
	unsigned attempts;
	uint64_t *sent; /* tickets of the jobs that the process was sent, in order */
	size_t sent_count;
	bool verifies;                    /* set by the protocol: answers have a verification */
	struct measure_progress progress; /* the last that came */
	enum outcome fault;               /* that the process ended with; ok: it did not say */
	/* Of a request that prepares one job: the request that measures it. */
	struct executor_request *next;
	size_t preparing; /* requests that prepare this one's jobs */
};

/* What a process said. */
struct executor_message {
	bool is_late; /* of an earlier request: nothing is done */
	bool is_progress;
	struct measure_progress progress;
	struct device_reply reply; /* else */
};

struct executor_protocol {
	const char *name;            /* "the measuring worker" */
	double pause_s, handshake_s; /* as in struct pool_kind */
	const char *lost_context;    /* comes before the reason why the device is lost */
	enum status (*start)(
		struct executor *executor, struct worker *worker, bool prepares, struct error *err);
	/* Writes the run's jobs. Returns after how many seconds of silence the process hangs. */
	double (*write)(struct executor *executor, struct worker *worker,
		struct executor_request *request, const struct measure_run *run);
	/* Takes one message: POOL_WORKS with *message, which the caller releases, or what else
	 * pool_kind.on_message returns. */
	enum pool_event (*read)(struct executor *executor, struct worker *worker, bool handshake,
		struct executor_request *request, struct executor_message *message,
		struct text *why);
	/* Before a request is sent to the process that measures, and its jobs are all prepared: may
	 * answer some. May be NULL. */
	void (*prepared)(struct executor *executor, struct executor_request *request);
};

/* A problem whose reference took a process along. */
struct executor_failed {
	char key[HASH_SIZE]; /* of what the problem is made of */
	enum outcome outcome;
	char *detail;
};

struct executor {
	struct device *device;
	const struct executor_protocol *protocol;
	struct pool_kind kind;
	struct pool measures, prepares;
	/* started: a process has answered the handshake */
	bool can_prepare, has_started;                /* started: a process can be given requests */
	double reference_timeout_s, kernel_timeout_s; /* for the worker's setup */
	struct error reason; /* why the last process could not be started, or refused to work */
	struct executor_failed *failed;
	size_t failed_count, failed_capacity;
};

/* One process measures. */
void executor_open(struct executor *executor, struct device *device,
	const struct executor_protocol *protocol, size_t depth);
/* Starts the process that measures, and waits for its handshake. Errors: those of
 * protocol.start, or executor.reason if the process refused to work; else STATUS_NO_DEVICE. */
enum status executor_start(struct executor *executor, struct error *err);
/* `processes` more prepare jobs ahead of it. */
void executor_prepare(struct executor *executor, size_t processes);
/* Copies all; a reply to each job will come. No jobs: the process gets an empty request.
 * prepares: per job; NULL: none is prepared. */
void executor_add(struct executor *executor, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, const bool *prepares);
/* Takes the reply; the job leaves the request. */
void executor_answer(struct executor *executor, struct executor_request *request, size_t job,
	struct device_reply *reply);
void executor_release(struct executor *executor);

#endif
