/* SPDX-License-Identifier: MIT
 *
 * cuda:N from the tuner's side: the worker process, what it has been told, what was asked of it.
 * Shared by cuda.c (the kind), cuda_worker.c (the process) and cuda_queue.c (requests and events).
 */
#ifndef DEVICE_CUDA_DEVICE_H
#define DEVICE_CUDA_DEVICE_H

#include "base/child.h"
#include "device/device_kind.h"
#include "measure/protocol.h"

enum {
	CUDA_QUEUE_DEPTH = 16, /* requests that the worker has at once */
	CUDA_ATTEMPTS_MAX = 2, /* of a request whose worker died without a active */
	CUDA_RESTARTS_MAX = 3, /* tries to get a worker up again */
};

struct cuda_problem {
	struct text payload;
	unsigned generation; /* of the worker that was told; 0: none */
};

struct cuda_handle {
	device_handle id;
	uint32_t problem; /* 0: none */
	struct text payload;
	struct kernel_resources *resources; /* the compiler's */
	size_t launch_count;
	unsigned generation; /* of the worker that has it */
	enum outcome dead;   /* not ok: it took a worker along, and is not tried again */
	char *dead_detail;
};

struct cuda_request {
	enum measure_request kind; /* LOAD, VERIFY, SAMPLE or UNLOAD */
	bool silent;               /* no event: loading again, or the anchor */
	bool sent;
	unsigned attempts;
	struct measure_sample sample; /* its handles: those without an answer yet */
};

struct cuda_device {
	struct device *device;        /* ours */
	char *worker_path, *selector; /* what HELLO asks for */
	struct measure_open open;
	struct text helpers; /* empty: not given yet */
	int lock_fd;

	struct child worker;
	unsigned generation; /* counts workers, from 1 */
	size_t pipe_bytes;   /* what the pipe to the worker surely holds */
	size_t unanswered_bytes;
	bool lost;

	struct cuda_problem *problems; /* number - 1 */
	size_t problem_count, problem_capacity;
	struct cuda_handle **handles; /* number - 1; NULL: unloaded */
	size_t handle_count, handle_capacity;
	struct cuda_request *requests; /* in order; a prefix is sent */
	size_t request_count, request_capacity;
	struct event_queue events;

	/* watchdog */
	struct measure_progress progress; /* the last that came; handle 0 between requests */
	double watch_since_s;
};

/* ---- cuda_worker.c ---- */
/* Starts a worker that holds nothing yet and asks it for its GPU. */
enum status cuda_worker_hello(struct cuda_device *cuda, struct measure_gpu *gpu, struct error *err);
enum status cuda_worker_open(struct cuda_device *cuda, struct error *err);    /* does not wait */
enum status cuda_worker_helpers(struct cuda_device *cuda, struct error *err); /* waits */
/* After a death: a fresh worker with context and helpers; tries several times. */
enum status cuda_worker_restart(struct cuda_device *cuda, struct error *err);
/* Writes a frame; false if the worker is gone. */
bool cuda_worker_send(struct child *worker, enum measure_request kind, const struct text *payload);
/* Waits for the reply of that kind, unpacks it; other errors are the worker's own words. */
enum status cuda_worker_reply(struct child *worker, enum measure_reply kind, double timeout_s,
	struct packet *packet, struct error *err);
enum status cuda_worker_start(struct child *worker, const char *path, struct error *err);
/* Kills, waits, says how it ended (the caller frees). */
char *cuda_worker_end(struct child *worker);

/* ---- cuda_queue.c ---- */
struct cuda_handle *cuda_handle_find(const struct cuda_device *cuda, device_handle handle);
/* Appends a request for these handles. */
struct cuda_request *cuda_request_add(struct cuda_device *cuda, enum measure_request kind,
	const device_handle *handles, size_t handle_count);
void cuda_pump(struct cuda_device *cuda); /* sends what the worker can take */
size_t cuda_pending(const struct cuda_device *cuda);
bool cuda_poll(struct cuda_device *cuda, double timeout_s, struct device_event *event);
void cuda_queue_release(struct cuda_device *cuda);

#endif
