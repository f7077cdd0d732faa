/* SPDX-License-Identifier: MIT
 *
 * A device verifies and samples candidates. There are four kinds: cuda (a real GPU, used by a
 * worker process), model (a spec sheet whose times are predicted), replay (a recorded journal) and
 * program (a user's program that takes configurations and answers with times).
 *
 * A job contains everything that is needed to serve it, and gets one reply. If a job crashes or
 * hangs its process, its outcome is crashed or timed_out, and a new process serves the other jobs.
 * The device is lost only if no process can be started any more.
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
	const struct catalogue *catalogue; /* adds default values of keys that old recordings lack;
					    * NULL: problems stay as recorded */
	const char *worker_path;           /* NULL: this executable; `PATH worker-measure` */
	const char *helpers_cubin;         /* for cuda: a file; NULL: device_helpers() follows */
	const struct family
		*program;        /* for the device "program": the family that names it; borrowed */
	double wait_s;           /* longest wait for the GPU's lock */
	uint64_t seed;           /* of the inputs */
	double kernel_timeout_s; /* longest time of a step with a candidate; 0: 10 s */
	double reference_timeout_s;  /* longest time for computing a reference; 0: 300 s */
	uint64_t memory_limit_bytes; /* 0: 80% of the free memory */
	bool l2_warm; /* the L2 holds the inputs before each timed run, if they fit */
};

/* name: "cuda:0", "cuda:GPU-...", "model:h200-sxm", "replay:FILE", "program". Errors:
 * STATUS_BAD_INPUT for an unknown name; STATUS_NO_DEVICE if the device is not found or another
 * process holds its lock. */
enum status device_open(const char *name, const struct device_options *options,
	struct device **device, struct error *err);
void device_close(struct device *device);

typedef void device_recorded_visit(void *context, const char *family, const char *configuration);

/* Passes the file of the helper kernels, whose architecture is known only once the device is open,
 * and measures the anchor. A device that measures needs this before the first job; others ignore
 * it. */
enum status device_helpers(struct device *device, const char *cubin, struct error *err);

/* Loads and verifies the jobs in order, then samples the correct ones in turn. Each job gets a
 * reply later. Fails with STATUS_NO_DEVICE if the device is lost. */
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
/* Returns the index of the GPU with this number or UUID, or count if no GPU has it. */
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
	int lock_fd;                     /* lock of the GPU; -1: not locked */
	void *state;                     /* data of the kind */
	/* A job of the anchor kernel, which is sampled in turn with others. device_helpers() sets
	 * it. It has no plan if the device runs no kernels. */
	struct device_job anchor;
	struct pool *pools[DEVICE_POOLS_MAX]; /* pools of the processes that serve the device */
	size_t pool_count;
	bool lost, by_program;        /* by_program: a user's program verifies and times */
	struct device_reply *replies; /* replies that were not polled yet, from reply_first on */
	size_t reply_first, reply_count, reply_capacity;
	size_t unanswered;           /* submitted jobs without a reply */
	size_t ahead;                /* queue depth at which the device never waits for jobs */
	double busy_s, busy_since_s; /* busy_since_s is 0 while nothing is pending */
};

/* Adds a reply and takes its contents. */
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
	bool compiles, measures; /* it needs cubins; its times are measured, not predicted */
	/* rest is the part of the name after the colon. The caller calls close even after a
	 * failure. */
	enum status (*open)(struct device *device, const char *rest,
		const struct device_options *options, struct error *err);
	void (*close)(struct device *device); /* may be NULL; device->state may be NULL */
	/* These implement device_helpers() and device_submit(). helpers may be NULL. */
	enum status (*helpers)(struct device *device, const char *cubin, struct error *err);
	enum status (*submit)(struct device *device, const struct device_job *jobs, size_t count,
		const struct sampling *sampling, struct error *err);
	/* Calls visit for every recorded candidate of this problem, with canonical texts that are
	 * borrowed for the call. NULL if the device accepts every candidate. */
	void (*recorded)(const struct device *device, const char *operation, const char *problem,
		device_recorded_visit *visit, void *context);
};

#endif
