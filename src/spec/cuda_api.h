/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver as one table of function pointers, filled at run time: one binary starts on
 * machines with and without a GPU. Only worker processes open it.
 *
 *	struct cuda_api cuda;
 *	if (cuda_api_open(&cuda, err) == STATUS_OK) {
 *		cuda.cuDeviceGetCount(&count);
 *		cuda_api_close(&cuda);
 *	}
 *
 * The members have the driver's own names and types (the versioned symbol's, which cuda.h
 * maps the name to).
 */
#ifndef SPEC_CUDA_API_H
#define SPEC_CUDA_API_H

#include <cuda.h>

#include "process/library.h"
#include "spec/device_spec.h"

struct cuda_api {
	struct library library;
	int driver_version; /* of CUDA that the driver supports: 13000 for 13.0 */
#define CUDA_CALL(name) __typeof__(name) *name;
#include "spec/cuda_call.def"
#undef CUDA_CALL
};

/* Loads libcuda.so.1 through the loader's path (never the toolkit's stub), resolves every call and
 * initialises the driver. STATUS_NO_DEVICE: no driver, a stub, a driver older than CUDA 12.0, no
 * GPU, or missing functions, all of which are named. */
enum status cuda_api_open(struct cuda_api *cuda, struct error *err);
void cuda_api_close(struct cuda_api *cuda);

/* STATUS_OK for CUDA_SUCCESS; else "what: CUDA_ERROR_X (700): the driver's words". */
enum status cuda_check(
	const struct cuda_api *cuda, CUresult result, const char *what, struct error *err);
/* "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" into text. */
void cuda_describe(const struct cuda_api *cuda, CUresult result, struct text *text);

/* What a failed call says of the process and of the kernel that caused it. */
enum cuda_fault {
	CUDA_FAULT_NONE,
	CUDA_FAULT_MEMORY,  /* not enough memory; the context is fine */
	CUDA_FAULT_REFUSED, /* the call or kernel was refused; the context is fine */
	CUDA_FAULT_KERNEL,  /* a kernel died and took the context along */
	CUDA_FAULT_TIMEOUT, /* the driver's own watchdog ended a kernel; context gone */
	CUDA_FAULT_DEVICE,  /* the GPU does not answer; context gone */
};
enum cuda_fault cuda_fault_of(CUresult result);

/* ---- GPUs ---- */
enum {
	GPU_UUID_SIZE = 64
};

/* "GPU-8f6a..." */
enum status gpu_uuid(
	const struct cuda_api *cuda, CUdevice device, char uuid[GPU_UUID_SIZE], struct error *err);
/* name: an ordinal ("0") or a UUID ("GPU-8f6a...", or a unique beginning of one). STATUS_NO_DEVICE
 * if there is none: the message lists what there is. */
enum status gpu_find(
	const struct cuda_api *cuda, const char *name, CUdevice *device, struct error *err);
enum status gpu_facts(const struct cuda_api *cuda, CUdevice device, struct device_facts *facts,
	struct error *err);

#endif
