/* SPDX-License-Identifier: MIT
 *
 * Messages between the tuner and a process that measures: the worker of a GPU, or a user's program.
 * Each message is a line of JSON (templates/programs.md has a transcript).
 *
 * A request carries everything that it needs, because the process that gets it may be new. The
 * worker caches the tensors, expected values and loaded kernels of earlier requests by hash.
 * "hello" is the handshake and gets one reply. "measure" gets an answer for each of its jobs, in
 * the order in which they end, and none if it has no jobs. If a request of a worker fails as a
 * whole, the answer has an error, and the worker ends. The failure of a candidate is a result with
 * an outcome, never an error.
 *
 * Before each step that can take long or crash the process, an answer with "progress" names the job
 * in progress and how long the step may take; the other side's watchdog uses it. A result that is
 * `fatal` is the last one: the context is lost, and the process ends.
 */
#ifndef MEASURE_PROTOCOL_H
#define MEASURE_PROTOCOL_H

#include "format/result.h"
#include "process/worker.h"

/* ---- requests ---- */
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
	const char *operation, *text; /* borrowed; text is canonical */
	struct reference_plan reference;
	char **cubins; /* files of the reference's code, one per build unit; none if it has no
			* kernel */
	size_t cubin_count;
};
RECORD_DECLARE(struct device_problem, device_problem_record);
void device_problem_key(const struct device_problem *problem, char key[HASH_SIZE]);

/* One candidate, which is loaded, verified if `verify` is set, and sampled. */
struct device_job {
	/* Chosen by the sender, and repeated by the reply. Messages name a job by its index. */
	uint64_t ticket;
	struct device_problem *problem; /* NULL for a kernel without tensors (the anchor) */
	struct plan *plan;
	char **cubins; /* files of the code, one per build unit: kernel_code_read() */
	size_t cubin_count;
	uint32_t load; /* jobs with different numbers are loaded separately, in order */
	bool verify;
	const char *family, *configuration; /* borrowed; for recordings and programs */
	/* The following members are not sent. */
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
				   each     sample batch, and the second half gives the observation */
	double energy_s; /* if above 0, measures energy instead; each job then runs by itself for
			    at least this long */
	double until_s;  /* clock_seconds() at which a program's jobs time out; 0: never */
};

enum measure_kind {
	REQUEST_HELLO,
	REQUEST_PREPARE, /* compiles a job ahead, in another process than the one that measures */
	REQUEST_MEASURE,
};

struct measure_request {
	enum measure_kind kind;
	int64_t id; /* number of the request in its process, from 1 */
	/* Of "hello": */
	char *protocol; /* "tiletune.program/1" */
	uint64_t seed;
	bool is_hello, prepares; /* prepares: the process gets only "prepare" requests */
	char *device;            /* number or UUID; NULL for all GPUs */
	/* Of others: */
	struct measure_setup *setup; /* for the worker of a GPU */
	struct device_job *jobs;
	size_t job_count;
	bool measures, verifies; /* verifies: programs verify all jobs */
	struct sampling sampling;
};
RECORD_DECLARE(struct measure_request, measure_request_record);

/* ---- replies ---- */
/* A GPU of the machine. */
struct device_listing {
	struct device_facts facts;
	struct device_identity identity; /* without the anchor's time */
	char busy_by[128];               /* the holder of the lock, or ""; not from the worker */
};
RECORD_DECLARE(struct device_listing, device_listing_record);

/* The answer of a GPU's worker to "hello". */
struct measure_gpus {
	int64_t id;
	struct error error; /* status OK: no error */
	bool failed;        /* there is an error */
	struct device_listing *gpus;
	size_t count;
};
RECORD_DECLARE(struct measure_gpus, measure_gpus_record);

/* The reply to one job. */
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

/* Any other answer: progress, the reply to a job, or an error. */
struct measure_answer {
	int64_t id;       /* of the request */
	int64_t progress; /* index of the job in progress; -1: between two jobs, or while the
			   * context is made */
	bool is_progress;
	bool reference; /* the reference of the job's problem is being computed */
	double allow_s; /* 0: the usual limit */
	int64_t job;    /* index of the job that `reply` belongs to */
	bool has_outcome;
	struct device_reply reply;
	struct error error; /* status OK: no error */
	bool failed;        /* there is an error */
};
RECORD_DECLARE(struct measure_answer, measure_answer_record);

#endif
