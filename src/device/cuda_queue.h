/* SPDX-License-Identifier: MIT
 *
 * Requests to the worker of cuda:N, and events for the loop. The worker serves in order, so an
 * answer belongs to the first request. When the worker dies, the handle in progress is charged with
 * it; everything else that was not answered is asked again of a fresh worker, which is first told
 * the problems and candidates that it needs.
 */
#ifndef DEVICE_CUDA_QUEUE_H
#define DEVICE_CUDA_QUEUE_H

#include "device/cuda_worker.h"
#include "device/device_kind.h"

enum {
	CUDA_QUEUE_DEPTH = 16, /* requests that the worker has at once */
	CUDA_ATTEMPTS_MAX = 2, /* of a request whose worker was killed, or died between two steps */
};

struct cuda_problem {
	struct text frame;    /* of REQUEST_PROBLEM */
	unsigned generation;  /* of the worker that was told; 0: none */
	enum outcome failure; /* of its reference; not ok: no candidate can be verified */
	char *failure_detail;
};

struct cuda_handle {
	device_handle id;
	uint32_t problem;                   /* 0: none */
	struct text frame;                  /* of REQUEST_LOAD */
	struct kernel_resources *resources; /* the compiler's */
	size_t launch_count;
	unsigned generation;  /* of the worker that has it */
	enum outcome failure; /* not ok: it took a worker along, and is not tried again */
	char *failure_detail;
};

struct cuda_request {
	enum measure_request kind; /* LOAD, VERIFY, SAMPLE or UNLOAD */
	bool silent;               /* no event: loading again, or the anchor */
	bool sent;
	unsigned attempts;
	struct measure_sample sample; /* its handles: those without an answer yet */
};

struct cuda_device {
	struct device *device; /* ours */
	struct cuda_worker worker;
	int lock_fd;
	size_t unanswered_bytes; /* sent since the worker last had nothing to do */
	bool lost;

	struct cuda_problem *problems; /* number - 1 */
	size_t problem_count, problem_capacity;
	struct cuda_handle **handles; /* number - 1; NULL: unloaded */
	size_t handle_count, handle_capacity;
	struct cuda_request *requests; /* in order; a prefix is sent */
	size_t request_count, request_capacity;

	/* watchdog */
	struct measure_progress progress; /* the last that came; handle 0 between requests */
	double watch_since_s;
};

struct cuda_handle *cuda_handle_find(const struct cuda_device *cuda, device_handle handle);
/* Appends a request for these handles. */
struct cuda_request *cuda_request_add(struct cuda_device *cuda, enum measure_request kind,
	const device_handle *handles, size_t handle_count);
void cuda_pump(struct cuda_device *cuda); /* sends what the worker can take */
size_t cuda_pending(const struct device *device);
void cuda_work(struct device *device, double timeout_s); /* until an event waits */
void cuda_queue_release(struct cuda_device *cuda);

#endif
