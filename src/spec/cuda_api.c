/* SPDX-License-Identifier: MIT */
#include "spec/cuda_api.h"

#include <stdio.h>
#include <ctype.h>

#include "base/memory.h"

struct call {
	const char *name;
	size_t offset;
};

static const struct call calls[] = {
#define CUDA_CALL(name) {#name, offsetof(struct cuda_api, name)},
#include "spec/cuda_call.def"
#undef CUDA_CALL
};

/* CUDA 12.0 added cuLibraryLoadData */
static const int driver_version_min = 12000;

static enum status library_find(struct cuda_api *cuda, struct error *err)
{
	static const char *const name = "libcuda.so.1";
	struct error reason = {0};

	if (library_open(&cuda->library, name, &reason) != STATUS_OK) {
		const char *path = getenv("LD_LIBRARY_PATH");

		error_set(err, STATUS_NO_DEVICE,
			"no NVIDIA driver: %s is not on the loader's path (LD_LIBRARY_PATH=%s): %s",
			name, path ? path : "", reason.message);
		return error_hint(err, "install the NVIDIA driver, or predict times without a GPU: "
				       "--device model:NAME");
	}
	/* The toolkit's link stub has the same SONAME. */
	if (strstr(cuda->library.path, "/stubs/"))
		return error_set(err, STATUS_NO_DEVICE,
			"no NVIDIA driver: the %s that was found is the CUDA toolkit's stub, %s",
			name, cuda->library.path);
	return STATUS_OK;
}

static enum status calls_resolve(struct cuda_api *cuda, struct error *err)
{
	__typeof__(cuGetProcAddress) *resolve;
	__typeof__(cuDriverGetVersion) *driver_version;
	CLEANUP(text_release) struct text missing = {0};
	int wanted;

	resolve = (__typeof__(resolve))library_symbol(&cuda->library, "cuGetProcAddress_v2");
	driver_version =
		(__typeof__(driver_version))library_symbol(&cuda->library, "cuDriverGetVersion");
	if (driver_version)
		driver_version(&cuda->driver_version);
	if (!resolve || !driver_version || cuda->driver_version < driver_version_min)
		return error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver %s: CUDA %d.%d or newer is needed, but the driver has "
			"%d.%d%s",
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
			text_append_listed(&missing, calls[i].name);
	}
	if (!missing.length)
		return STATUS_OK;
	return error_set(err, STATUS_NO_DEVICE,
		"NVIDIA driver %s: the library lacks these functions: %s", cuda->library.path,
		missing.data);
}

static enum status open_driver(struct cuda_api *cuda, struct error *err)
{
	CLEANUP(text_release) struct text words = {0};
	CUresult result;

	TRY(library_find(cuda, err));
	TRY(calls_resolve(cuda, err));
	result = cuda->cuInit(0);
	if (result == CUDA_SUCCESS)
		return STATUS_OK;
	if (result == CUDA_ERROR_STUB_LIBRARY)
		return error_set(err, STATUS_NO_DEVICE,
			"no NVIDIA driver: %s is the CUDA toolkit's stub (cuInit: 34)",
			cuda->library.path);
	if (result == CUDA_ERROR_NO_DEVICE)
		return error_set(err, STATUS_NO_DEVICE,
			"NVIDIA driver %s: there is no GPU (cuInit: 100)", cuda->library.path);
	cuda_describe(cuda, result, &words);
	return error_set(err, STATUS_NO_DEVICE, "NVIDIA driver %s: cuInit: %s", cuda->library.path,
		words.data);
}

enum status cuda_api_open(struct cuda_api *cuda, struct error *err)
{
	enum status status;

	*cuda = (struct cuda_api){0};
	status = open_driver(cuda, err);
	if (status != STATUS_OK)
		cuda_api_close(cuda);
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

	/* A stub does not set the strings. */
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
	CLEANUP(text_release) struct text words = {0};

	if (result == CUDA_SUCCESS)
		return STATUS_OK;
	cuda_describe(cuda, result, &words);
	return error_set(err,
		cuda_fault_of(result) == CUDA_FAULT_DEVICE ? STATUS_NO_DEVICE : STATUS_FAILED,
		"%s: %s", what, words.data);
}

static const CUresult device_faults[] = {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_DEVICE_UNAVAILABLE,
	CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_SYSTEM_NOT_READY,
	CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_UNKNOWN};
/* cuda.h does not say that these destroy the context. */
static const CUresult refusals[] = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_INITIALIZED,
	CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_CONTEXT,
	CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_INVALID_PTX,
	CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
	CUDA_ERROR_JIT_COMPILATION_DISABLED, CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_FILE_NOT_FOUND,
	CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
	CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_READY,
	CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
	CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_SUPPORTED,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
	CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_INVALID_CLUSTER_SIZE};

static bool is_one_of(CUresult result, const CUresult *results, size_t count)
{
	size_t i = 0;

	while (i < count && results[i] != result)
		i++;
	return i < count;
}

enum cuda_fault cuda_fault_of(CUresult result)
{
	if (result == CUDA_SUCCESS)
		return CUDA_FAULT_NONE;
	if (result == CUDA_ERROR_OUT_OF_MEMORY)
		return CUDA_FAULT_MEMORY;
	if (result == CUDA_ERROR_LAUNCH_TIMEOUT)
		return CUDA_FAULT_TIMEOUT;
	if (is_one_of(result, device_faults, ARRAY_COUNT(device_faults)))
		return CUDA_FAULT_DEVICE;
	/* other errors come from the kernel or a later driver; assume that the context is lost */
	return is_one_of(result, refusals, ARRAY_COUNT(refusals)) ? CUDA_FAULT_REFUSED
								  : CUDA_FAULT_KERNEL;
}

/* ---- GPUs ---- */
enum status gpu_uuid(
	const struct cuda_api *cuda, CUdevice device, char uuid[GPU_UUID_SIZE], struct error *err)
{
	CUuuid raw = {{0}};
	int length = snprintf(uuid, GPU_UUID_SIZE, "GPU-");

	TRY(cuda_check(cuda, cuda->cuDeviceGetUuid(&raw, device), "cuDeviceGetUuid", err));
	for (int i = 0; i < 16; i++)
		length += snprintf(uuid + length, (size_t)(GPU_UUID_SIZE - length), "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			(unsigned char)raw.bytes[i]);
	return STATUS_OK;
}

static bool is_ordinal(const char *name)
{
	const size_t length = strlen(name);

	return length > 0 && length <= 4 && strspn(name, "0123456789") == length;
}

enum status gpu_find(
	const struct cuda_api *cuda, const char *name, CUdevice *device, struct error *err)
{
	CLEANUP(text_release) struct text seen = {0};
	int count = 0, matches = 0;

	TRY(cuda_check(cuda, cuda->cuDeviceGetCount(&count), "cuDeviceGetCount", err));
	for (int i = 0; i < count; i++) {
		char uuid[GPU_UUID_SIZE];
		CUdevice candidate;

		TRY(cuda_check(cuda, cuda->cuDeviceGet(&candidate, i), "cuDeviceGet", err));
		TRY(gpu_uuid(cuda, candidate, uuid, err));
		text_appendf(&seen, "%s%d (%s)", i ? ", " : "", i, uuid);
		if (is_ordinal(name) ? atoi(name) == i
				     : strlen(name) >= 4 &&
					       (string_starts_with(name, "GPU-") ||
						       string_starts_with(name, "MIG-")) &&
					       string_starts_with(uuid + 4, name + 4)) {
			*device = candidate;
			matches++;
		}
	}
	if (matches == 1)
		return STATUS_OK;
	return error_set(err, STATUS_NO_DEVICE, "%s has the number or UUID %s; the GPUs are: %s",
		matches ? "more than one GPU" : "no GPU", name,
		count ? text_string(&seen) : "no GPU");
}

enum status gpu_facts(
	const struct cuda_api *cuda, CUdevice device, struct device_facts *facts, struct error *err)
{
	int64_t major = 0, minor = 0, clock_khz = 0, memory_khz = 0;
	size_t total = 0;
	const struct {
		CUdevice_attribute attribute;
		int64_t *value;
	} wanted[] = {
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
#define ROW(name, attribute, kind, least, summary) {CU_DEVICE_ATTRIBUTE_##attribute, &facts->name},
		DRIVER_LIMITS(ROW)
#undef ROW
			{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock_khz},
		{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz},
		{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &facts->memory_bus_bits},
	};

	*facts = (struct device_facts){0};
	TRY(cuda_check(cuda,
		cuda->cuDeviceGetName(facts->name, (int)sizeof(facts->name) - 1, device),
		"cuDeviceGetName", err));
	TRY(cuda_check(cuda, cuda->cuDeviceTotalMem(&total, device), "cuDeviceTotalMem", err));
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		int value = 0;

		TRY(cuda_check(cuda,
			cuda->cuDeviceGetAttribute(&value, wanted[i].attribute, device),
			"cuDeviceGetAttribute", err));
		*wanted[i].value = value;
	}
	facts->compute_capability = (int)(10 * major + minor);
	facts->dram_bytes = (int64_t)total;
	facts->clock_hz = (double)clock_khz * 1e3;
	facts->memory_clock_hz = (double)memory_khz * 1e3;
	return STATUS_OK;
}
