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
	char *device; /* number or UUID; NULL for all GPUs */
};
RECORD_DECLARE(struct measure_list, measure_list_record);

/* Settings of the GPU session. Only reference_timeout_s may differ between the requests to one
 * process. */
struct measure_setup {
	char *device; /* UUID */
	uint64_t seed;
	uint64_t memory_limit_bytes; /* 0: 80% of the free memory */
	double kernel_timeout_s, reference_timeout_s;
	bool l2_warm;  /* all runs use the same set of buffers */
	char *helpers; /* file of the helper kernels' code; NULL: only the context is made */
};
RECORD_DECLARE(struct measure_setup, measure_setup_record);

/* The tensors of a problem and its reference. */
struct device_problem {
	const char *operation,
		*text; /* canonical; only for recordings and programs, not sent to the worker */
	struct reference_plan reference;
	char **cubins; /* files of the reference's code, one per build unit; none if it has no
			* kernel */
	size_t cubin_count;
};
RECORD_DECLARE(struct device_problem, device_problem_record);
void device_problem_key(const struct device_problem *problem, char key[HASH_SIZE]);

/* One candidate, which is loaded, verified if `verify` is set, and sampled. */
struct device_job {
	uint64_t ticket;                /* chosen by the sender; the reply repeats it */
	struct device_problem *problem; /* NULL for a kernel without tensors (the anchor) */
	struct plan *plan;
	char **cubins; /* files of the code, one per build unit: kernel_code_read() */
	size_t cubin_count;
	uint32_t load; /* jobs with different numbers are loaded separately, in order */
	bool verify;
	/* The following members are not sent to the worker. */
	const char *family, *configuration;       /* for recordings and programs */
	const struct kernel_resources *resources; /* per launch, from the compiler; may be NULL */
	double predicted_time_us;                 /* the reply of the model device */
};
RECORD_DECLARE(struct device_job, device_job_record);

/* How the jobs of a request are sampled. Each round takes one observation of every job. Nothing is
 * timed if both rounds and energy_s are 0. */
struct sampling {
	unsigned rounds;
	unsigned rounds_before; /* of earlier requests of the same series; for recordings */
	double seconds_max;     /* no observation begins later; 0: no limit */
	double give_up_us;      /* a job with a slower first observation stops; 0: never */
	double rest_ratio;      /* idle time after a sample batch, relative to the batch's time */
	double sustained_s;     /* if above 0, the GPU is kept busy with the kernel for this long in
				   each     visit, and the second half gives the observation */
	double energy_s; /* if above 0, measures energy instead; each job then runs by itself for
			    at least this long */
	double until_s;  /* clock_seconds() at which a program's jobs time out; 0: never */
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
	char busy_by[128];               /* the holder of the lock, or ""; not from the worker */
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
	bool lost;             /* set by struct device: the GPU is lost, no other reply follows */
	bool fatal;            /* this is the worker's last reply */
	bool reference_failed; /* the outcome is that of the problem's reference, so that no
				* candidate of the problem can be verified */
	bool gave_up;          /* sampling stopped early because of give_up_us */
	struct result result;  /* resources are from the driver, NULL if the kernels did not load;
				* each sample is the median of the sample batch of one round */
};
RECORD_DECLARE(struct device_reply, device_reply_record);

struct measure_progress {
	uint64_t ticket; /* of the job in progress */
	bool has_job;    /* false: between two jobs, or while the context is made */
	float allow_s;   /* 0: the usual limit */
	bool reference;  /* the reference of the job's problem is being computed */
};
RECORD_DECLARE(struct measure_progress, measure_progress_record);

#endif
