/* SPDX-License-Identifier: MIT
 *
 * What the tuner and its measuring worker say to each other, in frames of process/worker.h.
 *
 * Requests are served in order. HELLO, LIST, HELPERS get one reply each (or REPLY_ERROR); OPEN,
 * PROBLEM and UNLOAD none (what goes wrong there shows in the next reply that needs it); LOAD and
 * VERIFY one; SAMPLE one per handle, in the order in which they end. The failure of a
 * candidate is a reply with an outcome, never an error. A request that cannot be read is answered
 * with REPLY_ERROR, and the worker ends.
 *
 * Before each step that can take long or kill the worker a REPLY_PROGRESS says which handle is
 * in progress and how long the step may take: the other side's watchdog lives on it. A reply that
 * is `fatal` is the worker's last: its context is gone, and the process ends.
 */
#ifndef MEASURE_PROTOCOL_H
#define MEASURE_PROTOCOL_H

#include "format/evaluation.h"
#include "process/worker.h"

enum measure_request {
	REQUEST_LIST = 1, /* which GPUs are there; no payload */
	REQUEST_HELLO,    /* choose one; no context yet, so that its lock can be taken first */
	REQUEST_OPEN,     /* context; memory limit, seed */
	REQUEST_HELPERS,
	REQUEST_PROBLEM,
	REQUEST_LOAD,
	REQUEST_VERIFY, /* struct measure_handle */
	REQUEST_SAMPLE,
	REQUEST_UNLOAD, /* struct measure_handle */
	REQUEST_COUNT
};

enum measure_reply {
	REPLY_LIST = 101, /* struct measure_gpus */
	REPLY_HELLO,      /* struct measure_gpu */
	REPLY_HELPERS,    /* no payload */
	REPLY_LOADED,     /* struct device_event, and so are the next two */
	REPLY_VERIFIED,
	REPLY_SAMPLED,
	REPLY_ERROR,    /* struct error */
	REPLY_PROGRESS, /* struct measure_progress */
};

/* ---- requests ---- */
struct measure_hello {
	char *device; /* number or UUID */
};
RECORD_DECLARE(struct measure_hello, measure_hello_record);

struct measure_open {
	uint64_t seed;
	uint64_t memory_limit_bytes; /* 0: 80% of what is free */
	double kernel_timeout_s, reference_timeout_s;
	bool l2_warm; /* runs are on one set of buffers */
};
RECORD_DECLARE(struct measure_open, measure_open_record);

struct measure_helpers {
	struct text cubin;
};
RECORD_DECLARE(struct measure_helpers, measure_helpers_record);

struct measure_problem {
	uint32_t problem;
	char *title;
	struct reference_plan reference;
	struct text *cubins; /* the reference's, one per build unit; none where nothing is run */
	size_t cubin_count;
};
RECORD_DECLARE(struct measure_problem, measure_problem_record);

struct measure_load {
	uint32_t handle;
	uint32_t problem; /* 0: none (a kernel without tensors) */
	struct plan plan;
	struct text *cubins; /* one per build unit */
	size_t cubin_count;
};
RECORD_DECLARE(struct measure_load, measure_load_record);

struct measure_handle {
	uint32_t handle;
};
RECORD_DECLARE(struct measure_handle, measure_handle_record);

/* How handles are sampled: in rounds over all of them, one observation of each in a round. */
struct sampling {
	unsigned rounds;
	double seconds_max; /* after which no observation is begun; 0: no limit */
	double give_up_us;  /* a handle whose first observation is above it stops; 0: never */
	double rest_ratio;  /* idle time after each visit over what the visit took */
	double energy_s; /* above 0: no samples, but energy: each runs alone for so long at least */
};

struct measure_sample {
	uint32_t *handles;
	size_t handle_count;
	struct sampling sampling;
};
RECORD_DECLARE(struct measure_sample, measure_sample_record);

/* ---- replies ---- */
struct measure_gpu {
	struct device_facts facts;
	struct device_identity identity; /* without the anchor's time */
};
RECORD_DECLARE(struct measure_gpu, measure_gpu_record);

struct measure_gpus {
	struct measure_gpu *gpus;
	size_t count;
};
RECORD_DECLARE(struct measure_gpus, measure_gpus_record);

enum device_event_kind {
	DEVICE_EVENT_LOADED, /* outcome ok: resources hold the driver's blocks_per_sm */
	DEVICE_EVENT_VERIFIED,
	DEVICE_EVENT_SAMPLED, /* one per handle of the request */
	DEVICE_EVENT_LOST,    /* nothing more will come */
};

/* What became of a handle. */
struct device_event {
	enum device_event_kind kind; /* set by the device, as is `predicted` */
	uint32_t handle;
	enum outcome outcome;
	char *detail;
	bool fatal;     /* the worker's last */
	bool reference; /* VERIFIED: it is the problem's reference that failed, for all candidates
			 */
	struct kernel_resources *resources; /* LOADED: per launch; the driver's: regs, smem, blocks,
					     * clusters */
	size_t launch_count;
	struct verification verification; /* VERIFIED */
	enum verified verified;           /* what its output was compared with */
	bool by_program;                  /* by a program of the user's; set by the device */
	struct measured measured;         /* SAMPLED */
	double *samples_us;               /* one for each round, in order */
	size_t sample_count;
	bool predicted; /* samples are the model's */
	bool gave_up;   /* stopped early by give_up_us */
	uint32_t flags; /* FLAG_MASK(THROTTLED), FLAG_MASK(WARM_L2) */
};
RECORD_DECLARE(struct device_event, device_event_record);

struct measure_progress {
	uint32_t handle; /* 0: none */
	float allow_s;   /* 0: the usual limit */
	bool reference;  /* its problem's reference is computed */
};
RECORD_DECLARE(struct measure_progress, measure_progress_record);

RECORD_DECLARE(struct error, measure_error_record);

#endif
