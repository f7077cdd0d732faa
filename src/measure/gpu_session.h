/* SPDX-License-Identifier: MIT
 *
 * The GPU as the measuring worker holds it: driver, context, stream, helper kernels; and how a
 * failed call becomes an outcome. One per worker process.
 */
#ifndef MEASURE_GPU_SESSION_H
#define MEASURE_GPU_SESSION_H

#include "spec/cuda_api.h"
#include "spec/nvml.h"
#include "measure/helper_layout.h"
#include "measure/protocol.h"

/* What ended an attempt. */
struct failure {
	enum outcome outcome;
	bool fatal; /* the context is gone: the process must end */
	char detail[1024];
};

struct gpu_session {
	struct cuda_api cuda;
	struct nvml *nvml; /* NULL: none */
	CUdevice device;
	CUcontext context; /* NULL until opened */
	CUstream stream;
	struct device_listing gpu;
	struct measure_setup options; /* without the helpers */
	uint64_t ticket;              /* of the job that is in progress */
	bool has_job;
	uint64_t memory_limit_bytes, memory_used_bytes;
	struct {
		CUlibrary library;
#define HELPER(member, entry) CUfunction member;
		HELPER_KERNELS(HELPER)
#undef HELPER
	} helpers;
	CUdeviceptr scratch; /* SCRATCH_BYTES: counters and results of the helper kernels */
	CUdeviceptr filler;  /* one float per thread of the anchor kernel */
	CUevent *events;     /* reused by the sampler */
	size_t event_count;
	double last_work_s;   /* clock_seconds() when the GPU last had work */
	bool clock_is_locked; /* warm-ups did not bring it up, and nothing brakes */
	/* Microseconds that a sample takes beyond its runs: of a single run, of a graph's replay.
	 * NaN until measured. */
	double single_extra_us, graph_extra_us;
	/* Frees something that is not in use at present; false if there is nothing. May be NULL. */
	bool (*reclaim)(void *context);
	void *reclaim_context;
	int reply_fd;
	struct failure failure; /* of the call that failed last */
};

enum {
	SCRATCH_BYTES = 32768,
	SCRATCH_RESULTS_OFFSET = 0, /* struct helper_compare_result, of each output */
	SCRATCH_COUNTERS_OFFSET = PLAN_OUTPUTS_MAX * sizeof(struct helper_compare_result),
	SCRATCH_COUNTERS = (SCRATCH_BYTES - SCRATCH_COUNTERS_OFFSET) / 8,
};

/* What returns a bool is true if it worked; else gpu->failure says what did not. */
/* Fills the failure; returns false, so that `return gpu_fail(...)` reads well. */
bool gpu_fail(struct gpu_session *gpu, enum outcome outcome, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* What a job ends with that met it. */
void gpu_take_failure(const struct failure *failure, struct device_reply *reply);
/* True for CUDA_SUCCESS; else the failure that the result stands for. what: "launching x". */
bool gpu_succeeded(struct gpu_session *gpu, CUresult result, const char *what);

/* Queues one run, the index-th of a graph's. */
typedef bool gpu_run(struct gpu_session *gpu, const void *context, size_t index);
/* A graph of that many runs, ready to be launched; the caller destroys it. A library that calls the
 * driver between launches wants CU_STREAM_CAPTURE_MODE_RELAXED. */
bool gpu_graph_make(struct gpu_session *gpu, CUstreamCaptureMode mode, gpu_run *run,
	const void *context, unsigned runs, CUgraphExec *made);

/* Driver and NVML, unless they are open. */
enum status gpu_session_driver(struct gpu_session *gpu, struct error *err);
/* What is not done yet: context, stream; helper kernels, if the setup has them. */
enum status gpu_session_open(
	struct gpu_session *gpu, const struct measure_setup *setup, struct error *err);
void gpu_session_close(struct gpu_session *gpu);
/* Facts, UUID, driver, clocks of one GPU. */
enum status gpu_session_describe(const struct cuda_api *cuda, struct nvml *nvml, CUdevice device,
	struct device_listing *gpu, struct error *err);

/* Tells the other side what is about to happen (measure/protocol.h). */
void gpu_progress(const struct gpu_session *gpu, double allow_s);
/* As above, for the reference of the job's problem. A plain reference kernel may take longer than a
 * candidate; a configuration that is trusted may not. */
void gpu_progress_reference(const struct gpu_session *gpu, bool is_kernel);
bool gpu_synchronize(struct gpu_session *gpu, const char *what);

/* No line of the L2 cache that an earlier kernel made persistent stays so. */
bool gpu_reset_cache(struct gpu_session *gpu);

/* Device memory, counted against the limit. 0 bytes give a null pointer. */
bool gpu_allocate(struct gpu_session *gpu, uint64_t bytes, CUdeviceptr *memory);
void gpu_release(struct gpu_session *gpu, CUdeviceptr memory, uint64_t bytes);

/* attribute: where the cluster is said, if there is one; it must outlive the result. */
CUlaunchConfig gpu_launch_config(const struct gpu_session *gpu, const struct launch_shape *shape,
	CUlaunchAttribute *attribute);

#endif
