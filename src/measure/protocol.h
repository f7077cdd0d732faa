/* SPDX-License-Identifier: MIT
 *
 * Messages between the tuner and its measuring worker, in frames of process/message.h.
 *
 * A request carries everything that it needs, because the process that gets it may be new. A
 * process caches the tensors, expected values and loaded kernels of earlier requests by hash. LIST
 * is the handshake and gets one reply. RUN gets a result for each of its jobs, in the order in
 * which they end, and none if it has no jobs. A request that fails as a whole is answered with
 * REPLY_ERROR, and the worker ends. The failure of a candidate is a result with an outcome, never
 * an error.
 *
 * Before each step that can take long or crash the worker, a REPLY_PROGRESS names the job in
 * progress and how long the step may take; the other side's watchdog uses it. A result that is
 * `fatal` is the last one: the context is lost, and the process ends.
 */
#ifndef MEASURE_PROTOCOL_H
#define MEASURE_PROTOCOL_H

#include "format/result.h"
#include "process/worker.h"

enum measure_request {
	REQUEST_LIST = 1, /* lists the GPUs; makes no context */
	REQUEST_RUN
};

enum measure_reply {
	REPLY_LIST = 101, /* struct measure_gpus */
	REPLY_RESULT,     /* struct device_reply */
	REPLY_ERROR,      /* struct error */
	REPLY_PROGRESS,   /* struct measure_progress */
};

/* ---- requests ---- */
struct measure_list {
	char *device; /* number or UUID; NULL: all */
};
RECORD_DECLARE(struct measure_list, measure_list_record);

/* How the GPU is used; the same in all requests to one process. */
struct measure_setup {
	char *device; /* UUID */
	uint64_t seed;
	uint64_t memory_limit_bytes; /* 0: 80% of what is free */
	double kernel_timeout_s, reference_timeout_s;
	bool l2_warm;        /* runs are on one set of buffers */
	struct text helpers; /* cubin of the helper kernels; empty: only the context is made */
};
RECORD_DECLARE(struct measure_setup, measure_setup_record);

/* What candidates compute and are compared with. */
struct device_problem {
	const char *operation,
		*text; /* canonical; for recordings and programs, not for the worker */
	struct reference_plan reference;
	struct text *cubins; /* the reference's, one per build unit; none if nothing runs */
	size_t cubin_count;
};
RECORD_DECLARE(struct device_problem, device_problem_record);
void device_problem_key(const struct device_problem *problem, char key[HASH_SIZE]);

/* One candidate, to be loaded, verified where that is asked for, and sampled. */
struct device_job {
	uint64_t ticket;                /* chosen by the sender; the reply repeats it */
	struct device_problem *problem; /* NULL: a kernel without tensors (the anchor) */
	struct plan *plan;
	struct text *cubins; /* one per build unit */
	size_t cubin_count;
	uint32_t load; /* jobs that differ only in this are loaded separately, in order */
	bool verify;
	/* not for the worker: */
	const char *family, *configuration;       /* for recordings and programs */
	const struct kernel_resources *resources; /* per launch, from the compiler; or NULL */
	double predicted_time_us;                 /* the model device's answer */
};
RECORD_DECLARE(struct device_job, device_job_record);

/* How the jobs of a request are sampled: in rounds over all of them, one observation of each in a
 * round. Neither rounds nor energy: nothing is timed. */
struct sampling {
	unsigned rounds;
	unsigned rounds_before; /* of earlier requests of the same series; for recordings */
	double seconds_max;     /* no observation begins later; 0: no limit */
	double give_up_us;      /* a job with a slower first observation stops; 0: never */
	double rest_ratio;      /* idle time after each visit over what the visit took */
	double energy_s; /* above 0: measures energy instead; each job runs by itself for at least
			    this long */
	double until_s;  /* clock_seconds() when a program's jobs are given up; 0: never */
};

struct measure_run {
	struct measure_setup setup;
	struct device_job *jobs;
	size_t job_count;
	struct sampling sampling;
};
RECORD_DECLARE(struct measure_run, measure_run_record);

/* ---- replies ---- */
/* A GPU of the machine. */
struct device_listing {
	struct device_facts facts;
	struct device_identity identity; /* without the anchor's time */
	char busy_by[128];               /* who holds the lock, or ""; not from the worker */
};
RECORD_DECLARE(struct device_listing, device_listing_record);

struct measure_gpus {
	struct device_listing *gpus;
	size_t count;
};
RECORD_DECLARE(struct measure_gpus, measure_gpus_record);

/* The answer to one job. */
struct device_reply {
	uint64_t ticket;       /* of the job */
	bool lost;             /* set by the device: it is lost, and no other reply will come */
	bool fatal;            /* the worker's last reply */
	bool reference_failed; /* the outcome is that of the problem's reference, so that no
				* candidate of the problem can be verified */
	bool gave_up;          /* sampling stopped early because of give_up_us */
	struct result result;  /* its resources are the driver's, NULL if the kernels did not load;
				* a sample is the median of a sample batch, one for each round */
};
RECORD_DECLARE(struct device_reply, device_reply_record);

struct measure_progress {
	uint64_t ticket; /* of the job that is in progress */
	bool has_job;    /* false: between two jobs, or while the context is made */
	float allow_s;   /* 0: the usual limit */
	bool reference;  /* the reference of the job's problem is being computed */
};
RECORD_DECLARE(struct measure_progress, measure_progress_record);

#endif
