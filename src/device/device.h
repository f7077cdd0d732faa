/* SPDX-License-Identifier: MIT
 *
 * A device as the loop sees it: something that verifies and samples candidates.
 * Four kinds behind one table: cuda (the real GPU, in a worker process), model (a spec sheet;
 * time is predicted), replay (a recorded journal), program (one that takes configurations and
 * answers with times).
 *
 * A job is a value: it is submitted with all that it needs, and is answered with one reply. A
 * crash or hang of the GPU's process ends in a reply to the job that fails also alone (crashed,
 * timed_out), and a fresh process, which serves the other jobs without the caller's doing. Only
 *when no process works any more is the device lost.
 *
 *	device_open -> { device_submit -> device_poll ... }* -> device_close
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "candidate/build.h"
#include "measure/protocol.h"
#include "process/pool.h"

struct catalogue;
struct device;
struct family;

struct device_options {
	const char *const *config_folders;
	const struct catalogue *catalogue; /* for recordings from before an operation got all of its
					    * keys; NULL: problems are as they were recorded */
	const char *worker_path;           /* NULL: this executable; `PATH worker-measure` */
	const struct text *helpers_cubin;  /* or device_helpers(), for cuda */
	const struct family *program;      /* of the device "program": whose it is; borrowed */
	double wait_s;                     /* for the GPU's lock */
	uint64_t seed;                     /* of the inputs */
	double kernel_timeout_s;           /* watchdog for one request; 0: 10 */
	double reference_timeout_s;        /* large problems are slow in fp64; 0: 300 */
	uint64_t memory_limit_bytes;       /* 0: 80% of what is free */
	bool l2_warm;                      /* runs find what they read in the L2, if it fits */
};

/* name: "cuda:0", "cuda:GPU-...", "model:h200-sxm", "replay:FILE", "program". Errors:
 * STATUS_BAD_INPUT for an unknown name, STATUS_NO_DEVICE with what was looked for, or who holds the
 * lock. */
enum status device_open(const char *name, const struct device_options *options,
	struct device **device, struct error *err);
void device_close(struct device *device);

typedef void device_recorded_visit(void *context, const char *family, const char *configuration);

/* Gives the helper kernels where device_options could not: their architecture is known only once
 * the device is open. Measures the anchor. On a device that measures it is needed before anything
 * is verified or sampled; elsewhere it does nothing. */
enum status device_helpers(struct device *device, const struct text *cubin, struct error *err);

/* Jobs are loaded and verified in order; then all that are right so far are sampled in turn. An
 * reply to each will come. Errors: STATUS_NO_DEVICE when the device is lost. */
enum status device_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err);

size_t device_pending(const struct device *device); /* replies still to come */
/* For how long it has had something to do; 0 where answers come at once. */
double device_busy_seconds(const struct device *device);
/* True and a reply (caller releases), or false when none came within timeout_s. */
bool device_poll(struct device *device, double timeout_s, struct device_reply *reply);
void device_reply_release(struct device_reply *reply);

/* Real GPUs, for `tiletune devices` and --device auto; count 0 with *why set (caller frees) when
 * there is no driver or no GPU. */
enum status device_list_cuda(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err);
/* What follows "cuda:": the number of a GPU or its UUID. count where there is none. */
size_t device_listing_find(const struct device_listing *list, size_t count, const char *selector);

/* ---- the kinds. One more: one file that ends in a `const struct device_kind`, and one line in
 * device.c ---- */
enum {
	DEVICE_POOLS_MAX = 2
};

struct device {
	const struct device_kind *kind;
	struct device_spec *spec;        /* owned; set by open */
	struct device_identity identity; /* filled by open */
	int lock_fd;                     /* of the GPU; -1: none */
	void *state;                     /* the kind's own */
	/* Of the anchor kernel, to be sampled in turn with others; from device_helpers() on,
	 * without a plan on a device that runs no kernels. */
	struct device_job anchor;
	struct pool *pools[DEVICE_POOLS_MAX]; /* that work for it */
	size_t pool_count;
	bool lost, by_program;        /* by_program: a user's program verifies and times */
	struct device_reply *replies; /* that wait to be polled */
	size_t reply_first, reply_count, reply_capacity; /* first: of those not yet taken */
	size_t unanswered; /* jobs that were submitted, and have no reply yet */
	size_t ahead;      /* candidates that it should have at a time, so that it does not wait */
	double busy_s, busy_since_s; /* since: 0 while nothing is pending */
};

/* Takes what the reply owns. */
static inline void device_reply_push(struct device *device, struct device_reply reply)
{
	ARRAY_GROW(device->replies, device->reply_count, device->reply_capacity);
	reply.result.by_program = device->by_program;
	device->replies[device->reply_count++] = reply;
	device->lost |= reply.lost;
	device->unanswered -= reply.lost ? device->unanswered : device->unanswered > 0;
}

struct device_kind {
	const char *name;        /* before the colon */
	bool compiles, measures; /* false: it needs no cubins; its times are predicted */
	/* rest: what follows the colon ("" if nothing). On failure close is called, too. */
	enum status (*open)(struct device *device, const char *rest,
		const struct device_options *options, struct error *err);
	void (*close)(struct device *device); /* state may be NULL; NULL: nothing to do */
	/* As the functions of device.h of the same name; helpers may be NULL. */
	enum status (*helpers)(struct device *device, const struct text *cubin, struct error *err);
	enum status (*submit)(struct device *device, const struct device_job *jobs, size_t count,
		const struct sampling *sampling, struct error *err);
	/* What a recording can answer for: calls visit for every candidate recorded of this problem
	 * (texts are canonical and borrowed for the call). NULL: everything can be tried. */
	void (*recorded)(const struct device *device, const char *operation, const char *problem,
		device_recorded_visit *visit, void *context);
};

#endif
