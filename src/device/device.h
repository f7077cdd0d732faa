/* SPDX-License-Identifier: MIT
 *
 * A device verifies and samples candidates. Its kind is cuda (a GPU), model (a spec sheet whose
 * times are predicted), replay (a recorded journal) or program (a user's program).
 *
 * A job contains everything that it needs and gets one reply. If it crashes or hangs its process,
 * its outcome is crashed or timed_out. The device is lost only if no process can be started.
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
	const struct catalogue *catalogue; /* completes old recordings; may be NULL */
	const char *worker_path;           /* the worker's executable; NULL for this one */
	/* for cuda: file of the helper kernels; if NULL, device_helpers() passes it */
	const char *helpers_cubin;
	const struct family *program; /* family of the device "program"; borrowed */
	double wait_s;                /* longest wait for the GPU's lock */
	uint64_t seed;                /* seed of the random inputs */
	double kernel_timeout_s;      /* limit of a step with a candidate; 0 selects 10 s */
	double reference_timeout_s;   /* 0 selects 300 s */
	bool l2_warm;                 /* inputs are in the L2 before each timed run */
};

/* name: "cuda:0", "cuda:GPU-...", "model:h200-sxm", "replay:FILE", "program". Errors:
 * STATUS_BAD_INPUT for an unknown name; STATUS_NO_DEVICE if the device is missing or locked. */
enum status device_open(const char *name, const struct device_options *options,
	struct device **device, struct error *err);
void device_close(struct device *device);

typedef void device_recorded_visit(void *context, const char *family, const char *configuration);

/* Passes the file of the helper kernels, compiled for the opened device, and measures the anchor. A
 * device that measures needs this before the first job; others ignore it. */
enum status device_helpers(struct device *device, const char *cubin, struct error *err);

/* Loads and verifies the jobs in order, then samples the correct ones in turn. Fails with
 * STATUS_NO_DEVICE if the device is lost. */
enum status device_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err);

size_t device_pending(const struct device *device);
/* Returns the time during which jobs were unanswered. */
double device_busy_seconds(const struct device *device);
/* Returns a reply, which the caller releases, or false if none came within timeout_s. */
bool device_poll(struct device *device, double timeout_s, struct device_reply *reply);
void device_reply_release(struct device_reply *reply);

/* Lists the machine's GPUs. If there is none, *why is the reason, which the caller frees. */
enum status device_list_cuda(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err);
/* Returns the index of the GPU with this number or UUID, or count. */
size_t device_listing_find(const struct device_listing *list, size_t count, const char *selector);

enum {
	DEVICE_POOLS_MAX = 2
};

struct device {
	const struct device_kind *kind;
	struct device_spec *spec;        /* owned; set by open */
	struct device_identity identity; /* filled by open */
	int lock_fd;                     /* lock of the GPU; -1 if not locked */
	void *state;                     /* data of the kind */
	/* The anchor's job, which device_helpers() sets, is sampled in turn with others. It has no
	 * plan if the device runs no kernels. */
	struct device_job anchor;
	struct pool *pools[DEVICE_POOLS_MAX];
	size_t pool_count;
	bool lost, by_program;        /* by_program: a user's program measures */
	struct device_reply *replies; /* the first reply is at reply_first */
	size_t reply_first, reply_count, reply_capacity;
	size_t unanswered;
	size_t ahead;                /* queue depth that keeps the device busy */
	double busy_s, busy_since_s; /* busy_since_s: 0 while idle */
};

/* Takes ownership of the reply. */
static inline void device_reply_push(struct device *device, struct device_reply reply)
{
	ARRAY_GROW(device->replies, device->reply_count, device->reply_capacity);
	reply.result.by_program = device->by_program;
	device->replies[device->reply_count++] = reply;
	device->lost |= reply.lost;
	device->unanswered -= reply.lost ? device->unanswered : device->unanswered > 0;
}

struct device_kind {
	const char *name;        /* text before the colon */
	bool compiles, measures; /* needs cubins; measures times instead of predicting them */
	/* rest is the name after the colon. close is called even after a failure. */
	enum status (*open)(struct device *device, const char *rest,
		const struct device_options *options, struct error *err);
	void (*close)(struct device *device); /* may be NULL, as may device->state */
	/* may be NULL */
	enum status (*helpers)(struct device *device, const char *cubin, struct error *err);
	enum status (*submit)(struct device *device, const struct device_job *jobs, size_t count,
		const struct sampling *sampling, struct error *err);
	/* Visits every recorded candidate of a problem; texts are canonical and borrowed. NULL if
	 * the kind accepts every candidate. */
	void (*recorded)(const struct device *device, const char *operation, const char *problem,
		device_recorded_visit *visit, void *context);
};

#endif
