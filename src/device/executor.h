/* SPDX-License-Identifier: MIT
 *
 * Sends requests to a GPU's worker or a user's program.
 *
 * README.md says which job is to blame if the process dies or hangs. If no job was in progress, the
 * request is repeated once before a job is blamed.
 */
#ifndef DEVICE_EXECUTOR_H
#define DEVICE_EXECUTOR_H

#include "device/device.h"
#include "measure/protocol.h"
#include "process/pool.h"

struct executor;

struct executor_request {
	struct pool_task task;      /* comes first */
	struct measure_request run; /* has the unanswered jobs, but no setup */
	bool *passed;               /* for each job, whether it passed by itself */
	bool is_alone;              /* only one job is requested */
	uint64_t alone;             /* that job's ticket */
	bool all_passed;            /* every job passed by itself */
	unsigned attempts;
	uint64_t *sent; /* tickets of the sent jobs, in order */
	size_t sent_count;
	double silence_s; /* usual limit of time without a message */
	/* members from the last progress message */
	bool has_progress, is_reference;
	uint64_t progress;  /* ticket of the job */
	enum outcome fault; /* outcome of a fatal reply; else ok */
	/* The request that measures the job which this one prepares, or NULL. */
	struct executor_request *next;
	size_t preparing; /* number of requests that still prepare its jobs */
};

struct executor_protocol {
	const char *name;            /* "the measuring worker", in messages */
	bool is_worker;              /* tiletune's own program, whose progress may name no job */
	double pause_s, handshake_s; /* as in struct pool_kind */
	const char *lost_context;    /* begins the message about a lost device */
	/* Starts the process, and completes "hello". */
	enum status (*start)(struct executor *executor, struct worker *worker,
		struct measure_request *hello, struct error *err);
	/* Sets *why if the process cannot work. */
	enum status (*take_hello)(struct executor *executor, const struct text *line,
		struct text *why, struct error *err);
	/* Completes a request. Returns how many seconds may pass without a message. */
	double (*complete)(struct executor *executor, const struct worker *worker,
		struct measure_request *run);
	/* Sets *why if the reply is invalid. May be NULL. */
	void (*take_reply)(struct executor *executor, const struct executor_request *request,
		struct measure_answer *answer, struct text *why);
	/* Called when all jobs are prepared; may answer some of them. May be NULL. */
	void (*prepared)(struct executor *executor, struct executor_request *request);
};

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
	bool has_started;                             /* a handshake succeeded */
	double reference_timeout_s, kernel_timeout_s; /* limits for the worker's setup */
	struct error reason; /* why the last process did not start or work */
	struct executor_failed *failed;
	size_t failed_count, failed_capacity;
};

/* `depth` requests are queued in the process that measures. */
void executor_open(struct executor *executor, struct device *device,
	const struct executor_protocol *protocol, size_t depth);
/* Starts the process that measures. Errors: those of protocol.start, or executor.reason if the
 * process refused to work; else STATUS_NO_DEVICE. */
enum status executor_start(struct executor *executor, struct error *err);
/* Adds processes that prepare jobs. */
void executor_prepare(struct executor *executor, size_t processes);
/* Adds a request with copies of the jobs, or without jobs. prepares says which jobs are prepared
 * first; may be NULL. */
void executor_add(struct executor *executor, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, const bool *prepares);
/* Removes the job from the request. Takes the reply. */
void executor_answer(struct executor *executor, struct executor_request *request, size_t job,
	struct device_reply *reply);
void executor_release(struct executor *executor);

#endif
