/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver as a table of functions that is filled at run time, so that one binary starts
 * with and without a GPU. A versioned function is the version that cuda.h selects.
 */
#ifndef SPEC_CUDA_API_H
#define SPEC_CUDA_API_H

#include <cuda.h>

#include "process/library.h"
#include "spec/device_spec.h"

struct cuda_api {
	struct library library;
	int driver_version; /* e.g. 13000 for CUDA 13.0 */
#define CUDA_CALL(name) __typeof__(name) *name;
#include "spec/cuda_call.def"
#undef CUDA_CALL
};

/* Loads libcuda.so.1 (never the toolkit's stub) and initialises the driver. STATUS_NO_DEVICE if
 * there is no driver or GPU, or the driver is older than CUDA 12.0 or lacks functions, which the
 * error names. */
enum status cuda_api_open(struct cuda_api *cuda, struct error *err);
void cuda_api_close(struct cuda_api *cuda);

/* The error is "what: CUDA_ERROR_X (700): the driver's description". */
enum status cuda_check(
	const struct cuda_api *cuda, CUresult result, const char *what, struct error *err);
/* "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" */
void cuda_describe(const struct cuda_api *cuda, CUresult result, struct text *text);

/* Effect of a failed call on the context. */
enum cuda_fault {
	CUDA_FAULT_NONE,
	CUDA_FAULT_MEMORY,  /* the context is valid */
	CUDA_FAULT_REFUSED, /* the context is valid */
	CUDA_FAULT_KERNEL,  /* a kernel destroyed the context */
	CUDA_FAULT_TIMEOUT, /* the driver ended a kernel; the context is lost */
	CUDA_FAULT_DEVICE,  /* the GPU does not respond; the context is lost */
};
enum cuda_fault cuda_fault_of(CUresult result);

/* ---- GPUs ---- */
enum {
	GPU_UUID_SIZE = 64
};

enum status gpu_uuid(
	const struct cuda_api *cuda, CUdevice device, char uuid[GPU_UUID_SIZE], struct error *err);
/* name: an ordinal ("0") or a unique prefix of a UUID ("GPU-8f6a"). STATUS_NO_DEVICE lists all
 * GPUs. */
enum status gpu_find(
	const struct cuda_api *cuda, const char *name, CUdevice *device, struct error *err);
enum status gpu_facts(const struct cuda_api *cuda, CUdevice device, struct device_facts *facts,
	struct error *err);

#endif
