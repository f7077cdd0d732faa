/* SPDX-License-Identifier: MIT */
#include "driver/cuda_api.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct call {
	const char *name;
	size_t offset;
};

static const struct call calls[] = {
#define CUDA_CALL(name) {#name, offsetof(struct cuda_api, name)},
#include "driver/cuda_call.def"
#undef CUDA_CALL
};

/* Oldest driver with everything that we call: cuLibraryLoadData came with CUDA 12.0. */
static const int driver_version_min = 12000;

static enum status library_find(struct cuda_api *cuda, struct error *err)
{
	static const char *const name = "libcuda.so.1";
	struct error reason = {0};

	if (library_open(&cuda->library, name, &reason) != STATUS_OK) {
		const char *path = getenv("LD_LIBRARY_PATH");

		error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver: expected %s on the loader's path (LD_LIBRARY_PATH=%s), "
			"found "
			"none: %s",
			name, path ? path : "", reason.message);
		return error_hint(err, "install the NVIDIA driver, or use --device model:NAME");
	}
	/* The link stub of the toolkit has the same SONAME and answers nothing. */
	if (strstr(cuda->library.path, "/stubs/"))
		return error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver: expected %s of a driver, found the toolkit's stub %s", name,
			cuda->library.path);
	return STATUS_OK;
}

static enum status calls_resolve(struct cuda_api *cuda, struct error *err)
{
	__typeof__(cuGetProcAddress) *resolve;
	__typeof__(cuDriverGetVersion) *driver_version;
	struct text missing = {0};
	enum status status = STATUS_OK;
	int wanted;

	resolve = (__typeof__(resolve))library_symbol(&cuda->library, "cuGetProcAddress_v2");
	driver_version =
		(__typeof__(driver_version))library_symbol(&cuda->library, "cuDriverGetVersion");
	if (driver_version)
		driver_version(&cuda->driver_version);
	if (!resolve || !driver_version || cuda->driver_version < driver_version_min)
		return error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver %s: expected CUDA %d.%d or newer, found %d.%d%s",
			cuda->library.path, driver_version_min / 1000,
			driver_version_min % 1000 / 10, cuda->driver_version / 1000,
			cuda->driver_version % 1000 / 10,
			resolve ? "" : " (no cuGetProcAddress_v2)");
	wanted = cuda->driver_version < CUDA_VERSION ? cuda->driver_version : CUDA_VERSION;
	for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
		void *address = NULL;
		CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

		if (resolve(calls[i].name, &address, wanted, CU_GET_PROC_ADDRESS_DEFAULT, &found) !=
				CUDA_SUCCESS ||
			found != CU_GET_PROC_ADDRESS_SUCCESS)
			address = NULL;
		memcpy((char *)cuda + calls[i].offset, &address, sizeof(address));
		if (!address)
			text_appendf(&missing, "%s%s", missing.length ? ", " : "", calls[i].name);
	}
	if (missing.length)
		status = error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver %s: expected these functions, found none: %s",
			cuda->library.path, missing.data);
	text_release(&missing);
	return status;
}

enum status cuda_api_open(struct cuda_api *cuda, struct error *err)
{
	struct text words = {0};
	enum status status;
	CUresult result;

	*cuda = (struct cuda_api){0};
	status = library_find(cuda, err);
	if (status == STATUS_OK)
		status = calls_resolve(cuda, err);
	if (status != STATUS_OK)
		goto cleanup;
	result = cuda->cuInit(0);
	if (result == CUDA_ERROR_STUB_LIBRARY)
		status = error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver: expected a driver, found the toolkit's stub %s (cuInit: "
			"34)",
			cuda->library.path);
	else if (result == CUDA_ERROR_NO_DEVICE)
		status = error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver %s: expected a GPU, found none (cuInit: 100)",
			cuda->library.path);
	else if (result != CUDA_SUCCESS) {
		cuda_describe(cuda, result, &words);
		status = error_set(err, STATUS_NO_DEVICE, "NVIDIA driver %s: cuInit: %s",
			cuda->library.path, words.data);
	}
cleanup:
	if (status != STATUS_OK)
		cuda_api_close(cuda);
	text_release(&words);
	return status;
}

void cuda_api_close(struct cuda_api *cuda)
{
	library_close(&cuda->library);
	*cuda = (struct cuda_api){0};
}

void cuda_describe(const struct cuda_api *cuda, CUresult result, struct text *text)
{
	const char *name = NULL, *words = NULL;

	/* A stub answers success and leaves the strings alone. */
	if (cuda->cuGetErrorName)
		cuda->cuGetErrorName(result, &name);
	if (cuda->cuGetErrorString)
		cuda->cuGetErrorString(result, &words);
	text_appendf(text, "%s (%d)", name ? name : "CUDA error", (int)result);
	if (words)
		text_appendf(text, ": %s", words);
}

enum status cuda_check(
	const struct cuda_api *cuda, CUresult result, const char *what, struct error *err)
{
	struct text words = {0};
	enum status status;

	if (result == CUDA_SUCCESS)
		return STATUS_OK;
	cuda_describe(cuda, result, &words);
	status = error_set(err,
		cuda_fault_of(result) == CUDA_FAULT_DEVICE ? STATUS_NO_DEVICE : STATUS_FAILED,
		"%s: %s", what, words.data);
	text_release(&words);
	return status;
}

enum cuda_fault cuda_fault_of(CUresult result)
{
	switch (result) {
	case CUDA_SUCCESS:
		return CUDA_FAULT_NONE;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return CUDA_FAULT_MEMORY;
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
		return CUDA_FAULT_KERNEL;
	case CUDA_ERROR_LAUNCH_TIMEOUT:
		return CUDA_FAULT_TIMEOUT;
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_NVLINK_UNCORRECTABLE:
	case CUDA_ERROR_SYSTEM_NOT_READY:
	case CUDA_ERROR_DEINITIALIZED:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_UNKNOWN:
		return CUDA_FAULT_DEVICE;
	default:
		return CUDA_FAULT_REFUSED;
	}
}
