/* SPDX-License-Identifier: MIT
 *
 * Sends requests to processes that measure, and collects their replies. It serves the worker of a
 * GPU and a user's program in the same way; struct executor_protocol converts the messages.
 *
 * If a process dies or hangs during a request with a single job, the outcome of that job is crashed
 * or timed_out. If the request has several jobs, they are repeated one by one, beginning with the
 * job that was in progress, until one fails by itself. The other jobs are then requested together
 * again. If no job was in progress, the request is repeated once before a job is blamed. If a
 * reference crashes or hangs, all jobs of its problem get its outcome.
 */
#ifndef DEVICE_EXECUTOR_H
#define DEVICE_EXECUTOR_H

#include "device/device.h"
#include "measure/protocol.h"
#include "process/pool.h"

struct executor;

struct executor_request {
	struct pool_task task;      /* must come first, because tasks are cast to requests */
	struct measure_request run; /* with the unanswered jobs and without the setup */
	bool *passed;               /* per job: the job did not fail when it ran by itself */
	bool is_alone;              /* only one of the jobs is requested */
	uint64_t alone;             /* ticket of that job */
	bool all_passed;            /* every job passed by itself, so they fail only together */
	unsigned attempts;
	uint64_t *sent; /* tickets of the jobs that were sent to the process, in order */
	size_t sent_count;
	/* The job that the last progress message named, if it named one, and whether its
	 * reference is being computed. */
	double silence_s; /* the usual limit of the process's silence */
	bool has_progress, is_reference;
	uint64_t progress;  /* ticket */
	enum outcome fault; /* outcome of a fatal reply; ok if there was none */
	/* If this request prepares a job, the request that measures it; else NULL. */
	struct executor_request *next;
	size_t preparing; /* number of requests that still prepare jobs of this one */
};

struct executor_protocol {
	const char *name;            /* "the measuring worker", in messages */
	bool is_worker;              /* it is our own program: its progress may name no job */
	double pause_s, handshake_s; /* as in struct pool_kind */
	const char *lost_context;    /* prefix of the reason why the device is lost */
	/* Starts the process, and fills in what "hello" says besides the protocol. */
	enum status (*start)(struct executor *executor, struct worker *worker,
		struct measure_request *hello, struct error *err);
	/* Reads the answer to "hello". Sets *why if the process cannot work. */
	enum status (*take_hello)(struct executor *executor, const struct text *line,
		struct text *why, struct error *err);
	/* Completes a request before it is sent. Returns the seconds of silence after which the
	 * process counts as hung. */
	double (*complete)(struct executor *executor, const struct worker *worker,
		struct measure_request *run);
	/* Checks and adapts the reply to a job of the request. Sets *why if it is invalid. May be
	 * NULL. */
	void (*take_reply)(struct executor *executor, const struct executor_request *request,
		struct measure_answer *answer, struct text *why);
	/* Called when all jobs of a request are prepared, before it goes to the process that
	 * measures. May answer some of the jobs. May be NULL. */
	void (*prepared)(struct executor *executor, struct executor_request *request);
};

/* A problem whose reference failed. */
struct executor_failed {
	char key[HASH_SIZE]; /* device_problem_key() */
	enum outcome outcome;
	char *detail;
};

struct executor {
	struct device *device;
	const struct executor_protocol *protocol;
	struct pool_kind kind;
	struct pool measures, prepares;
	bool can_prepare;
	bool has_started;                             /* a process has answered the handshake */
	double reference_timeout_s, kernel_timeout_s; /* for the worker's setup */
	struct error reason; /* why the last process did not start or refused to work */
	struct executor_failed *failed;
	size_t failed_count, failed_capacity;
};

/* Opens an executor with one process that measures. `depth` requests are queued in the process. */
void executor_open(struct executor *executor, struct device *device,
	const struct executor_protocol *protocol, size_t depth);
/* Starts the process that measures, and waits for its handshake. Errors: those of
 * protocol.start, or executor.reason if the process refused to work; else STATUS_NO_DEVICE. */
enum status executor_start(struct executor *executor, struct error *err);
/* Adds processes that prepare jobs before the process that measures gets them. */
void executor_prepare(struct executor *executor, size_t processes);
/* Adds a request with copies of the jobs. Each job gets a reply later. Without jobs, the process
 * gets an empty request. prepares says for each job whether it is prepared first; NULL means none.
 */
void executor_add(struct executor *executor, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, const bool *prepares);
/* Answers a job and removes it from the request. Takes the reply. */
void executor_answer(struct executor *executor, struct executor_request *request, size_t job,
	struct device_reply *reply);
void executor_release(struct executor *executor);

#endif
