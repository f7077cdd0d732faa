/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver as a table of function pointers that is filled at run time, so that one binary
 * starts on machines with and without a GPU. Only worker processes open it.
 *
 *	struct cuda_api cuda;
 *	if (cuda_api_open(&cuda, err) == STATUS_OK) {
 *		cuda.cuDeviceGetCount(&count);
 *		cuda_api_close(&cuda);
 *	}
 *
 * The members have the names and types of the driver's functions. A versioned function is the
 * version that cuda.h selects.
 */
#ifndef SPEC_CUDA_API_H
#define SPEC_CUDA_API_H

#include <cuda.h>

#include "process/library.h"
#include "spec/device_spec.h"

struct cuda_api {
	struct library library;
	int driver_version; /* CUDA version that the driver supports: 13000 for 13.0 */
#define CUDA_CALL(name) __typeof__(name) *name;
#include "spec/cuda_call.def"
#undef CUDA_CALL
};

/* Loads libcuda.so.1 (never the toolkit's stub), resolves all functions and initialises the driver.
 * Returns STATUS_NO_DEVICE if there is no driver or GPU, or the driver is a stub, older than CUDA
 * 12.0, or lacks functions; the error names all missing functions. */
enum status cuda_api_open(struct cuda_api *cuda, struct error *err);
void cuda_api_close(struct cuda_api *cuda);

/* Returns STATUS_OK for CUDA_SUCCESS. Otherwise the error is "what: CUDA_ERROR_X (700): the
 * driver's description". */
enum status cuda_check(
	const struct cuda_api *cuda, CUresult result, const char *what, struct error *err);
/* Appends e.g. "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered". */
void cuda_describe(const struct cuda_api *cuda, CUresult result, struct text *text);

/* Effect of a failed call on the process and its CUDA context. */
enum cuda_fault {
	CUDA_FAULT_NONE,
	CUDA_FAULT_MEMORY,  /* out of memory; the context is still valid */
	CUDA_FAULT_REFUSED, /* the call or kernel was refused; the context is still valid */
	CUDA_FAULT_KERNEL,  /* a kernel failed and destroyed the context */
	CUDA_FAULT_TIMEOUT, /* the driver's watchdog ended a kernel; the context is lost */
	CUDA_FAULT_DEVICE,  /* the GPU does not respond; the context is lost */
};
enum cuda_fault cuda_fault_of(CUresult result);

/* ---- GPUs ---- */
enum {
	GPU_UUID_SIZE = 64
};

enum status gpu_uuid(
	const struct cuda_api *cuda, CUdevice device, char uuid[GPU_UUID_SIZE], struct error *err);
/* name is an ordinal ("0") or a UUID ("GPU-8f6a..."), of which a unique prefix is enough. Returns
 * STATUS_NO_DEVICE if there is no such GPU; the error lists all GPUs. */
enum status gpu_find(
	const struct cuda_api *cuda, const char *name, CUdevice *device, struct error *err);
enum status gpu_facts(const struct cuda_api *cuda, CUdevice device, struct device_facts *facts,
	struct error *err);

#endif
