/* SPDX-License-Identifier: MIT
 *
 * The GPU session of a worker process: driver, context, stream and helper kernels. Failed driver
 * calls become outcomes.
 *
 * In src/measure, functions that return bool return true on success; after a failure, gpu->failure
 * has the reason.
 */
#ifndef MEASURE_GPU_SESSION_H
#define MEASURE_GPU_SESSION_H

#include "spec/cuda_api.h"
#include "spec/nvml.h"
#include "measure/helper_layout.h"
#include "measure/protocol.h"

/* The reason for a failure. */
struct failure {
	enum outcome outcome;
	bool fatal; /* the context is lost: the process must end */
	char detail[1024];
};

struct gpu_session {
	struct cuda_api cuda;
	struct nvml *nvml; /* may be NULL */
	CUdevice device;
	CUcontext context; /* NULL until opened */
	CUstream stream;
	struct device_listing gpu;
	struct measure_setup options; /* without the helper kernels */
	int64_t request_id;           /* of the request in progress */
	uint64_t ticket;              /* index of the job in progress */
	bool has_job;
	uint64_t memory_limit_bytes, memory_used_bytes;
	struct {
		CUlibrary library;
#define HELPER(member, entry) CUfunction member;
		HELPER_KERNELS(HELPER)
#undef HELPER
	} helpers;
	CUdeviceptr scratch; /* SCRATCH_BYTES for counters and results */
	CUdeviceptr spacer;  /* one float per anchor thread */
	CUevent *events;     /* reused by all samples */
	size_t event_count;
	double last_work_s;   /* clock_seconds() when the GPU last had work */
	bool clock_is_locked; /* warm-ups do not raise the clock */
	/* Overhead of a sample in microseconds: a single run, a replay. NaN until measured. */
	double single_extra_us, graph_extra_us;
	/* Frees unused memory. False: there is none. May be NULL. */
	bool (*reclaim)(void *context);
	void *reclaim_context;
	int reply_fd;
	struct failure failure; /* of the last failed call */
	double *spent_ms;       /* host time of the current phase; may be NULL */
	double phase_start_s;
};

enum {
	SCRATCH_BYTES = 32768,
	SCRATCH_RESULTS_OFFSET = 0, /* one struct helper_compare_result per output */
	SCRATCH_COUNTERS_OFFSET = PLAN_OUTPUTS_MAX * sizeof(struct helper_compare_result),
	SCRATCH_COUNTERS = (SCRATCH_BYTES - SCRATCH_COUNTERS_OFFSET) / 8,
};

/* Sets gpu->failure. Always returns false. */
bool gpu_fail(struct gpu_session *gpu, enum outcome outcome, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Copies a failure to the reply of its job. */
void gpu_take_failure(const struct failure *failure, struct device_reply *reply);
/* `what` names the step, such as "launching x". */
bool gpu_succeeded(struct gpu_session *gpu, CUresult result, const char *what);
/* E.g. GPU_CALL(gpu, "making an event", cuEventCreate, &event, 0). */
#define GPU_CALL(gpu, what, function, ...)                                                         \
	gpu_succeeded(gpu, (gpu)->cuda.function(__VA_ARGS__), what)

/* Queues a run of a graph. */
typedef bool gpu_run(struct gpu_session *gpu, const void *context, size_t index);
/* Captures and uploads a graph, which the caller destroys. Libraries that call the driver between
 * launches need CU_STREAM_CAPTURE_MODE_RELAXED. */
bool gpu_graph_make(struct gpu_session *gpu, CUstreamCaptureMode mode, gpu_run *run,
	const void *context, unsigned runs, CUgraphExec *made);

/* Opens the driver and NVML, unless they are open. */
enum status gpu_session_driver(struct gpu_session *gpu, struct error *err);
/* Makes the context and the stream, and loads the helper kernels if the setup has them, unless
 * done. */
enum status gpu_session_open(
	struct gpu_session *gpu, const struct measure_setup *setup, struct error *err);
void gpu_session_close(struct gpu_session *gpu);
enum status gpu_session_describe(const struct cuda_api *cuda, struct nvml *nvml, CUdevice device,
	struct device_listing *gpu, struct error *err);

void gpu_send(const struct gpu_session *gpu, const struct record *record, const void *message);
/* Sends progress (measure/protocol.h) before a step that may take allow_s (0: the usual limit).
 * `reference`: it computes the reference of the job's problem. */
void gpu_progress(const struct gpu_session *gpu, double allow_s, bool reference);
bool gpu_synchronize(struct gpu_session *gpu, const char *what);
/* Begins a phase, which adds its host time to a member of struct spent (NULL: none). Returns the
 * previous one. */
double *gpu_phase(struct gpu_session *gpu, double *spent_ms);

/* Allocates device memory within memory_limit_bytes, after gpu->reclaim if necessary. 0 bytes give
 * a null pointer. */
bool gpu_allocate(struct gpu_session *gpu, uint64_t bytes, CUdeviceptr *memory);
void gpu_release(struct gpu_session *gpu, CUdeviceptr memory, uint64_t bytes);

enum {
	GPU_LAUNCH_ATTRIBUTES = 2
};
/* Points to the attributes, which may be NULL without clusters and cooperation. */
CUlaunchConfig gpu_launch_config(const struct gpu_session *gpu, const struct launch_shape *shape,
	CUlaunchAttribute attributes[GPU_LAUNCH_ATTRIBUTES]);

#endif
