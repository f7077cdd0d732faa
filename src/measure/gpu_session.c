/* SPDX-License-Identifier: MIT */
#include "measure/gpu_session.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "compile/compiler.h"
#include "measure/helper_kernels.h"

bool gpu_fail(struct gpu_session *gpu, enum outcome outcome, const char *format, ...)
{
	va_list args;

	gpu->failure = (struct failure){.outcome = outcome};
	va_start(args, format);
	vsnprintf(gpu->failure.detail, sizeof(gpu->failure.detail), format, args);
	va_end(args);
	return false;
}

void gpu_take_failure(const struct failure *failure, struct device_reply *reply)
{
	reply->fatal = failure->fatal;
	reply->result.outcome = failure->outcome;
	reply->result.detail = string_copy(failure->detail);
}

bool gpu_succeeded(struct gpu_session *gpu, CUresult result, const char *what)
{
	static const enum outcome outcomes[] = {
		[CUDA_FAULT_NONE] = OUTCOME_OK,
		[CUDA_FAULT_MEMORY] = OUTCOME_OUT_OF_MEMORY,
		[CUDA_FAULT_REFUSED] = OUTCOME_LAUNCH_FAILED,
		[CUDA_FAULT_KERNEL] = OUTCOME_CRASHED,
		[CUDA_FAULT_TIMEOUT] = OUTCOME_TIMED_OUT,
		[CUDA_FAULT_DEVICE] = OUTCOME_DEVICE_LOST,
	};
	enum cuda_fault fault = cuda_fault_of(result);
	CLEANUP(text_release) struct text words = {0};

	if (fault == CUDA_FAULT_NONE)
		return true;
	cuda_describe(&gpu->cuda, result, &words);
	gpu_fail(gpu, outcomes[fault], "%s failed: %s", what, words.data);
	gpu->failure.fatal = fault >= CUDA_FAULT_KERNEL;
	return false;
}

enum status gpu_session_describe(const struct cuda_api *cuda, struct nvml *nvml, CUdevice device,
	struct device_listing *gpu, struct error *err)
{
	struct device_identity *identity = &gpu->identity;
	struct nvml_reading reading;

	*gpu = (struct device_listing){
		.identity = {.kind = "cuda", .driver_cuda_version = cuda->driver_version}};
	TRY(gpu_facts(cuda, device, &gpu->facts, err));
	TRY(gpu_uuid(cuda, device, identity->uuid, err));
	string_put(identity->name, sizeof(identity->name), gpu->facts.name);
	nvml_driver_version(nvml, identity->driver, sizeof(identity->driver));
	if (!nvml_select(nvml, identity->uuid)) {
		/* NVML expects the prefix MIG for MIG instances */
		memcpy(identity->uuid, "MIG", 3);
		if (!nvml_select(nvml, identity->uuid)) {
			memcpy(identity->uuid, "GPU", 3);
			return STATUS_OK;
		}
	}
	identity->process_count = nvml_process_count(nvml);
	string_put(identity->mig, sizeof(identity->mig), nvml_mig_mode(nvml));
	reading = nvml_read(nvml);
	identity->clock_sm_hz = reading.clock_sm_hz;
	identity->clock_memory_hz = reading.clock_memory_hz;
	identity->clock_sm_max_hz = reading.clock_sm_max_hz;
	identity->power_limit_w = reading.power_limit_w;
	return STATUS_OK;
}

static enum status context_open(struct gpu_session *gpu, struct error *err)
{
	static const char making[] = "making a context";
	const struct cuda_api *cuda = &gpu->cuda;
	size_t free_bytes = 0, total_bytes = 0;

	TRY(cuda_check(
		cuda, cuda->cuDevicePrimaryCtxRetain(&gpu->context, gpu->device), making, err));
	TRY(cuda_check(cuda, cuda->cuCtxSetCurrent(gpu->context), making, err));
	TRY(cuda_check(cuda, cuda->cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING),
		"making a stream", err));
	TRY(cuda_check(cuda, cuda->cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo", err));
	gpu->memory_limit_bytes = free_bytes / 5 * 4;
	return STATUS_OK;
}

static uint64_t spacer_bytes(const struct gpu_session *gpu)
{
	return (uint64_t)gpu->gpu.facts.sm_count * ANCHOR_BLOCKS_PER_SM * ANCHOR_BLOCK *
	       sizeof(float);
}

static enum status helpers_open(struct gpu_session *gpu, const char *file, struct error *err)
{
	const struct cuda_api *cuda = &gpu->cuda;
	CLEANUP(text_release) struct text code = {0};
	struct {
		const char *entry;
		CUfunction *function;
	} wanted[] = {
#define HELPER(member, name) {name, &gpu->helpers.member},
		HELPER_KERNELS(HELPER)
#undef HELPER
	};

	TRY(kernel_code_read(file, &code, err));
	TRY(cuda_check(cuda,
		cuda->cuLibraryLoadData(
			&gpu->helpers.library, code.data, NULL, NULL, 0, NULL, NULL, 0),
		"loading the helper kernels", err));
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		CUkernel kernel;

		TRY(cuda_check(cuda,
			cuda->cuLibraryGetKernel(&kernel, gpu->helpers.library, wanted[i].entry),
			wanted[i].entry, err));
		TRY(cuda_check(cuda, cuda->cuKernelGetFunction(wanted[i].function, kernel),
			wanted[i].entry, err));
	}
	if (!gpu_allocate(gpu, SCRATCH_BYTES, &gpu->scratch) ||
		!gpu_allocate(gpu, spacer_bytes(gpu), &gpu->spacer) || !helper_spacer(gpu) ||
		!gpu_synchronize(gpu, "running a helper kernel"))
		return error_set(err, STATUS_FAILED, "%s", gpu->failure.detail);
	gpu->last_work_s = -INFINITY; /* the GPU was idle, so its clock is low */
	gpu->single_extra_us = gpu->graph_extra_us = NAN;
	return STATUS_OK;
}

enum status gpu_session_driver(struct gpu_session *gpu, struct error *err)
{
	if (gpu->cuda.library.handle)
		return STATUS_OK;
	TRY(cuda_api_open(&gpu->cuda, err));
	gpu->nvml = nvml_open();
	return STATUS_OK;
}

enum status gpu_session_open(
	struct gpu_session *gpu, const struct measure_setup *setup, struct error *err)
{
	enum status status = STATUS_OK;

	if (!gpu->context) {
		gpu->options = *setup;
		gpu->options.device = NULL;
		gpu->options.helpers = NULL;
		TRY(gpu_session_driver(gpu, err));
		TRY(gpu_find(&gpu->cuda, setup->device ? setup->device : "", &gpu->device, err));
		TRY(gpu_session_describe(&gpu->cuda, gpu->nvml, gpu->device, &gpu->gpu, err));
		status = context_open(gpu, err);
	}
	gpu->options.reference_timeout_s = setup->reference_timeout_s;
	if (status == STATUS_OK && setup->helpers && !gpu->helpers.library)
		status = helpers_open(gpu, setup->helpers, err);
	return status == STATUS_OK ? STATUS_OK : error_context(err, "%s", gpu->gpu.facts.name);
}

bool gpu_graph_make(struct gpu_session *gpu, CUstreamCaptureMode mode, gpu_run *run,
	const void *context, unsigned runs, CUgraphExec *made)
{
	const struct cuda_api *cuda = &gpu->cuda;
	CUgraph graph = NULL;
	bool done = GPU_CALL(gpu, "capturing a graph", cuStreamBeginCapture, gpu->stream, mode);
	CUresult ended;

	if (!done)
		return false;
	for (unsigned i = 0; done && i < runs; i++)
		done = run(gpu, context, i);
	ended = cuda->cuStreamEndCapture(gpu->stream, &graph);
	done = done && gpu_succeeded(gpu, ended, "capturing a graph") &&
	       GPU_CALL(
		       gpu, "instantiating a graph", cuGraphInstantiateWithFlags, made, graph, 0) &&
	       GPU_CALL(gpu, "uploading a graph", cuGraphUpload, *made, gpu->stream);
	if (graph)
		cuda->cuGraphDestroy(graph);
	return done;
}

void gpu_session_close(struct gpu_session *gpu)
{
	for (size_t i = 0; i < gpu->event_count; i++)
		gpu->cuda.cuEventDestroy(gpu->events[i]);
	free(gpu->events);
	gpu_release(gpu, gpu->scratch, SCRATCH_BYTES);
	gpu_release(gpu, gpu->spacer, spacer_bytes(gpu));
	if (gpu->helpers.library)
		gpu->cuda.cuLibraryUnload(gpu->helpers.library);
	if (gpu->stream)
		gpu->cuda.cuStreamDestroy(gpu->stream);
	if (gpu->context)
		gpu->cuda.cuDevicePrimaryCtxRelease(gpu->device);
	nvml_close(gpu->nvml);
	cuda_api_close(&gpu->cuda);
	*gpu = (struct gpu_session){0};
}

void gpu_send(const struct gpu_session *gpu, const struct record *record, const void *message)
{
	/* sending fails if the parent process has ended */
	if (line_send(gpu->reply_fd, record, message, NULL) != STATUS_OK)
		_exit(STATUS_FAILED);
}

void gpu_progress(const struct gpu_session *gpu, double allow_s, bool reference)
{
	gpu_send(gpu, &measure_answer_record,
		&(struct measure_answer){.id = gpu->request_id,
			.is_progress = true,
			.progress = gpu->has_job ? (int64_t)gpu->ticket : -1,
			.allow_s = allow_s,
			.reference = reference});
}

double *gpu_phase(struct gpu_session *gpu, double *spent_ms)
{
	double *before = gpu->spent_ms;
	const double now_s = clock_seconds();

	if (before)
		*before += (now_s - gpu->phase_start_s) * 1e3;
	gpu->spent_ms = spent_ms;
	gpu->phase_start_s = now_s;
	return before;
}

bool gpu_synchronize(struct gpu_session *gpu, const char *what)
{
	CUresult result = gpu->cuda.cuStreamSynchronize(gpu->stream);

	gpu->last_work_s = clock_seconds();
	return gpu_succeeded(gpu, result, what);
}

static bool allocate(struct gpu_session *gpu, uint64_t bytes, CUdeviceptr *memory)
{
	if (bytes > gpu->memory_limit_bytes - gpu->memory_used_bytes)
		return gpu_fail(gpu, OUTCOME_OUT_OF_MEMORY,
			"%.1f MiB were requested while %.1f of %.1f MiB were in use",
			(double)bytes / 1048576.0, (double)gpu->memory_used_bytes / 1048576.0,
			(double)gpu->memory_limit_bytes / 1048576.0);
	if (!GPU_CALL(gpu, "allocating device memory", cuMemAlloc, memory, bytes))
		return false;
	gpu->memory_used_bytes += bytes;
	return true;
}

bool gpu_allocate(struct gpu_session *gpu, uint64_t bytes, CUdeviceptr *memory)
{
	*memory = 0;
	while (bytes && !allocate(gpu, bytes, memory)) {
		*memory = 0;
		if (gpu->failure.outcome != OUTCOME_OUT_OF_MEMORY || !gpu->reclaim ||
			!gpu->reclaim(gpu->reclaim_context))
			return false;
	}
	return true;
}

void gpu_release(struct gpu_session *gpu, CUdeviceptr memory, uint64_t bytes)
{
	if (!memory)
		return;
	gpu->cuda.cuMemFree(memory);
	gpu->memory_used_bytes -= bytes;
}

CUlaunchConfig gpu_launch_config(const struct gpu_session *gpu, const struct launch_shape *shape,
	CUlaunchAttribute attributes[GPU_LAUNCH_ATTRIBUTES])
{
	const uint32_t *cluster = shape->cluster;
	CUlaunchConfig config = {
		.gridDimX = shape->grid[0],
		.gridDimY = shape->grid[1],
		.gridDimZ = shape->grid[2],
		.blockDimX = shape->block[0],
		.blockDimY = shape->block[1],
		.blockDimZ = shape->block[2],
		.sharedMemBytes = shape->smem_dynamic_bytes,
		.hStream = gpu->stream,
		.attrs = attributes,
	};
	CUlaunchAttribute *attribute;

	if ((uint64_t)cluster[0] * cluster[1] * cluster[2] > 1) {
		attribute = &attributes[config.numAttrs++];
		*attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
		attribute->value.clusterDim.x = cluster[0];
		attribute->value.clusterDim.y = cluster[1];
		attribute->value.clusterDim.z = cluster[2];
	}
	if (shape->cooperative) {
		attribute = &attributes[config.numAttrs++];
		*attribute = (CUlaunchAttribute){
			.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
	}
	return config;
}
