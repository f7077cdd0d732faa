/* SPDX-License-Identifier: MIT
 *
 * A device as the loop sees it: something that verifies and samples candidates.
 * Four kinds behind one table: cuda (a real GPU, used by a worker process), model (a spec sheet
 * whose times are predicted), replay (a recorded journal) and program (a user's program that takes
 * configurations and answers with times).
 *
 * A job is a value: it is submitted with everything that it needs, and is answered with one reply.
 * If a process crashes or hangs, the job that does so by itself is crashed or timed_out, and a new
 * process serves the other jobs. The device is lost only when no process can be started any more.
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
	const struct text *helpers_cubin;  /* for cuda; NULL: device_helpers() follows */
	const struct family
		*program;        /* of the device "program": the family that names it; borrowed */
	double wait_s;           /* for the GPU's lock */
	uint64_t seed;           /* of the inputs */
	double kernel_timeout_s; /* watchdog for one request; 0: 10 */
	double reference_timeout_s;  /* for computing a reference; 0: 300 */
	uint64_t memory_limit_bytes; /* 0: 80% of the free memory */
	bool l2_warm; /* the L2 holds the inputs before each timed run, if they fit */
};

/* name: "cuda:0", "cuda:GPU-...", "model:h200-sxm", "replay:FILE", "program". Errors:
 * STATUS_BAD_INPUT for an unknown name, STATUS_NO_DEVICE with what was looked for, or who holds the
 * lock. */
enum status device_open(const char *name, const struct device_options *options,
	struct device **device, struct error *err);
void device_close(struct device *device);

typedef void device_recorded_visit(void *context, const char *family, const char *configuration);

/* Passes the helper kernels, whose architecture is known only once the device is open, and measures
 * the anchor. A device that measures needs this before the first job; others ignore it. */
enum status device_helpers(struct device *device, const struct text *cubin, struct error *err);

/* Loads and verifies the jobs in order; then samples those that are right in turn. A reply to each
 * job will come. Errors: STATUS_NO_DEVICE when the device is lost. */
enum status device_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err);

size_t device_pending(const struct device *device); /* replies still to come */
/* Seconds during which the device had unanswered jobs. */
double device_busy_seconds(const struct device *device);
/* Returns true and a reply, which the caller releases, or false if none came within timeout_s. */
bool device_poll(struct device *device, double timeout_s, struct device_reply *reply);
void device_reply_release(struct device_reply *reply);

/* Lists the machine's GPUs. If there is no driver or no GPU, the count is 0 and *why, which the
 * caller frees, says so. */
enum status device_list_cuda(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err);
/* The index of the GPU with this number or UUID; count if there is none. */
size_t device_listing_find(const struct device_listing *list, size_t count, const char *selector);

/* ---- the kinds: a new one is a file that ends in a `const struct device_kind`, and one line in
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
	struct pool *pools[DEVICE_POOLS_MAX]; /* of the processes that serve it */
	size_t pool_count;
	bool lost, by_program;        /* by_program: a user's program verifies and times */
	struct device_reply *replies; /* that wait to be polled */
	size_t reply_first, reply_count, reply_capacity; /* first: of those not yet taken */
	size_t unanswered;           /* jobs that were submitted, and have no reply yet */
	size_t ahead;                /* candidates that it should hold, so that it never waits */
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
	/* Calls visit for every candidate that a recording has for this problem
	 * (texts are canonical and borrowed for the call). NULL: everything can be tried. */
	void (*recorded)(const struct device *device, const char *operation, const char *problem,
		device_recorded_visit *visit, void *context);
};

#endif
