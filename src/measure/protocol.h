/* SPDX-License-Identifier: MIT
 *
 * Messages between the tuner and a GPU's worker or a user's program (README.md,
 * templates/programs.md). A request carries everything it needs, because its process may be new. A
 * failed candidate has an outcome; an error ends the worker.
 */
#ifndef MEASURE_PROTOCOL_H
#define MEASURE_PROTOCOL_H

#include "format/result.h"
#include "process/worker.h"

/* ---- requests ---- */
/* Only reference_timeout_s may change between requests to a process. */
struct measure_setup {
	char *device; /* UUID */
	uint64_t seed;
	double kernel_timeout_s, reference_timeout_s;
	bool l2_warm;  /* all runs use one set of buffers */
	char *helpers; /* file of the helper kernels; if NULL, only the context is made */
};
RECORD_DECLARE(struct measure_setup, measure_setup_record);

struct device_problem {
	const char *operation, *text; /* borrowed; text is canonical */
	struct reference_plan reference;
	char **cubins; /* files with the reference kernel's code, one per build unit */
	size_t cubin_count;
};
RECORD_DECLARE(struct device_problem, device_problem_record);
void device_problem_key(const struct device_problem *problem, char key[HASH_SIZE]);

/* A candidate that is loaded, verified if `verify` is set, and sampled. */
struct device_job {
	/* the reply repeats the ticket */
	uint64_t ticket;
	struct device_problem *problem; /* NULL for the anchor */
	struct plan *plan;
	char **cubins; /* one file per build unit */
	size_t cubin_count;
	uint32_t load; /* jobs with different numbers are loaded separately */
	bool verify;
	const char *family, *configuration; /* borrowed */
	/* members that are not sent: */
	const struct kernel_resources *resources; /* one per launch; may be NULL */
	double predicted_time_us;                 /* used by the model device */
};
RECORD_DECLARE(struct device_job, device_job_record);

/* A round takes one observation of every job. Nothing is timed without rounds and energy_s. */
struct sampling {
	unsigned rounds;
	unsigned rounds_before; /* rounds of earlier requests; for recordings */
	double seconds_max;     /* no observation begins later; 0: no limit */
	double give_up_us;      /* a job with a slower first observation stops; 0: never */
	double rest_ratio;      /* idle time after a sample batch, relative to its busy time */
	double sustained_s; /* if above 0, a sample batch keeps the GPU busy for this long, and its
			       second half counts */
	double energy_s;    /* if above 0, measures the energy of each job for at least this long
			       instead */
	double until_s;     /* clock_seconds() at which jobs time out; 0: never */
};

enum measure_kind {
	REQUEST_HELLO,
	REQUEST_PREPARE, /* another process compiles ahead of time */
	REQUEST_MEASURE,
};

struct measure_request {
	enum measure_kind kind;
	int64_t id; /* counts the requests of the process, from 1 */
	/* Members of "hello": */
	char *protocol; /* "tiletune.program/1" */
	uint64_t seed;
	bool is_hello, prepares; /* prepares: only "prepare" requests follow */
	char *device;            /* number or UUID; NULL for all GPUs */
	/* Members of other requests: */
	struct measure_setup *setup;
	struct device_job *jobs;
	size_t job_count;
	bool measures, verifies; /* verifies: a program verifies all jobs */
	struct sampling sampling;
};
RECORD_DECLARE(struct measure_request, measure_request_record);

/* ---- replies ---- */
struct device_listing {
	struct device_facts facts;
	struct device_identity identity; /* does not have the anchor's time */
	char busy_by[128];               /* holder of the GPU's lock, or ""; not sent */
};
RECORD_DECLARE(struct device_listing, device_listing_record);

struct device_reply {
	uint64_t ticket;
	bool lost;             /* the device is lost: no other reply follows */
	bool fatal;            /* the context is lost: the worker ends */
	bool reference_failed; /* no candidate of the problem can be verified */
	bool gave_up;          /* sampling stopped at give_up_us */
	struct result result;  /* resources may be NULL; a sample is the median of a sample batch */
};

struct measure_answer {
	int64_t id;       /* the request's id */
	int64_t progress; /* index of the job in progress, or -1 */
	bool is_progress;
	bool reference; /* the job's reference is being computed */
	double allow_s; /* 0 selects the usual limit */
	int64_t job;    /* index of the job in the request */
	bool has_outcome;
	struct device_reply reply;
	struct error error;          /* status is OK if there is none */
	bool failed;                 /* there is an error */
	struct device_listing *gpus; /* in a worker's answer to "hello" */
	size_t gpu_count;
};
RECORD_DECLARE(struct measure_answer, measure_answer_record);

#endif
