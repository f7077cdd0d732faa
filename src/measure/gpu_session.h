/* SPDX-License-Identifier: MIT
 *
 * A worker's driver, context, stream and helper kernels. In src/measure, functions that return bool
 * return true on success; after a failure, gpu->failure has the reason.
 */
#ifndef MEASURE_GPU_SESSION_H
#define MEASURE_GPU_SESSION_H

#include "spec/cuda_api.h"
#include "spec/nvml.h"
#include "measure/helper_layout.h"
#include "measure/protocol.h"

struct failure {
	enum outcome outcome;
	bool fatal; /* the process must end */
	char detail[1024];
};

struct gpu_session {
	struct cuda_api cuda;
	struct nvml *nvml; /* may be NULL */
	CUdevice device;
	CUcontext context; /* NULL until opened */
	CUstream stream;
	struct device_listing gpu;
	struct measure_setup options; /* `device` and `helpers` are NULL */
	int64_t request_id;
	uint64_t ticket; /* index of the job in progress */
	bool has_job;
	uint64_t memory_limit_bytes, memory_used_bytes;
	struct {
		CUlibrary library;
#define HELPER(member, entry) CUfunction member;
		HELPER_KERNELS(HELPER)
#undef HELPER
	} helpers;
	CUdeviceptr scratch; /* SCRATCH_BYTES for counters and results */
	CUdeviceptr spacer;
	CUevent *events;
	size_t event_count;
	double last_work_s;   /* clock_seconds() after the last work */
	bool clock_is_locked; /* warm-ups do not raise the clock */
	/* Overhead of a sample with a single run, and with a graph replay. NaN until measured. */
	double single_extra_us, graph_extra_us;
	/* Frees unused memory, or returns false if there is none. May be NULL. */
	bool (*reclaim)(void *context);
	void *reclaim_context;
	int reply_fd;
	struct failure failure;
	double *spent_ms; /* receives the time of the current phase; may be NULL */
	double phase_start_s;
};

enum {
	SCRATCH_BYTES = 32768,
	SCRATCH_RESULTS_OFFSET = 0, /* one result per output */
	SCRATCH_COUNTERS_OFFSET = PLAN_OUTPUTS_MAX * sizeof(struct helper_compare_result),
	SCRATCH_COUNTERS = (SCRATCH_BYTES - SCRATCH_COUNTERS_OFFSET) / 8,
};

/* Sets gpu->failure. Always returns false. */
bool gpu_fail(struct gpu_session *gpu, enum outcome outcome, const char *format, ...)
	PRINTF_LIKE(3, 4);
void gpu_take_failure(const struct failure *failure, struct device_reply *reply);
/* `what` names the step, such as "launching x". */
bool gpu_succeeded(struct gpu_session *gpu, CUresult result, const char *what);
/* GPU_CALL(gpu, "making an event", cuEventCreate, &event, 0) */
#define GPU_CALL(gpu, what, function, ...)                                                         \
	gpu_succeeded(gpu, (gpu)->cuda.function(__VA_ARGS__), what)

typedef bool gpu_run(struct gpu_session *gpu, const void *context, size_t index);
/* Captures `runs` calls of `run` in a graph, which the caller destroys. Libraries that call the
 * driver between launches need CU_STREAM_CAPTURE_MODE_RELAXED. */
bool gpu_graph_make(struct gpu_session *gpu, CUstreamCaptureMode mode, gpu_run *run,
	const void *context, unsigned runs, CUgraphExec *made);

enum status gpu_session_driver(struct gpu_session *gpu, struct error *err);
/* Makes the context and loads the helper kernels of the setup, unless an earlier call did. */
enum status gpu_session_open(
	struct gpu_session *gpu, const struct measure_setup *setup, struct error *err);
void gpu_session_close(struct gpu_session *gpu);
enum status gpu_session_describe(const struct cuda_api *cuda, struct nvml *nvml, CUdevice device,
	struct device_listing *gpu, struct error *err);

void gpu_send(const struct gpu_session *gpu, const struct record *record, const void *message);
/* Reports a step that may take up to allow_s seconds (0: the usual limit). `reference` is true if
 * the step computes the job's reference output. */
void gpu_progress(const struct gpu_session *gpu, double allow_s, bool reference);
bool gpu_synchronize(struct gpu_session *gpu, const char *what);
/* Begins a phase, whose host time is added to *spent_ms (may be NULL). Returns the previous phase's
 * spent_ms. */
double *gpu_phase(struct gpu_session *gpu, double *spent_ms);

/* Calls gpu->reclaim if necessary. 0 bytes give a null pointer. */
bool gpu_allocate(struct gpu_session *gpu, uint64_t bytes, CUdeviceptr *memory);
void gpu_release(struct gpu_session *gpu, CUdeviceptr memory, uint64_t bytes);

enum {
	GPU_LAUNCH_ATTRIBUTES = 2
};
/* The result points to `attributes`, which may be NULL if the launch is neither clustered nor
 * cooperative. */
CUlaunchConfig gpu_launch_config(const struct gpu_session *gpu, const struct launch_shape *shape,
	CUlaunchAttribute attributes[GPU_LAUNCH_ATTRIBUTES]);

#endif
