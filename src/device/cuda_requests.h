/* SPDX-License-Identifier: MIT
 *
 * Requests to the measuring worker of cuda:N, and events for the loop. When the worker dies or
 * hangs over a request of one job, that job is to blame. Over a request of several, its jobs are
 * asked for again each alone, the one that was in progress first, until one fails alone; the others
 * are asked for together again. A reference that takes a worker along fails its problem: all jobs
 * that would need it are answered with that.
 */
#ifndef DEVICE_CUDA_REQUESTS_H
#define DEVICE_CUDA_REQUESTS_H

#include "device/device.h"
#include "measure/protocol.h"
#include "process/pool.h"

/* A problem whose reference took a worker along. */
struct cuda_failed {
	char key[HASH_SIZE]; /* of what the problem is made of */
	enum outcome outcome;
	char *detail;
};

struct cuda_device {
	struct device *device; /* ours */
	char *path;            /* of the worker's executable; NULL: this one */
	struct measure_setup setup;
	struct pool pool; /* of one process */
	struct cuda_failed *failed;
	size_t failed_count, failed_capacity;
	struct plan anchor;
};

void cuda_requests_open(struct cuda_device *cuda);
/* Copies all. No jobs: the worker makes its context. */
void cuda_request_add(struct cuda_device *cuda, const struct device_job *jobs, size_t count,
	const struct sampling *sampling);
void cuda_requests_release(struct cuda_device *cuda);

/* A process that holds nothing yet is asked for its GPU, or all (selector NULL). Errors:
 * STATUS_NO_DEVICE with what was looked for; STATUS_FAILED: it cannot be started. On success the
 * process is the caller's. */
enum status cuda_list_gpus(const char *path, const char *selector, struct worker *worker,
	struct measure_gpus *gpus, struct error *err);

#endif
