/* SPDX-License-Identifier: MIT */
#include "spec/nvml.h"

#include <stddef.h>
#include <stdlib.h>

#include "process/library.h"
#include "base/memory.h"
#include "base/text.h"

typedef struct nvml_device *nvml_device;
typedef int nvml_result; /* 0 means success */

enum {
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEMORY = 2,
};

/* CALL(symbol, member, required, arguments) */
#define NVML_CALLS(CALL)                                                                           \
	CALL("nvmlInit_v2", init, 1, void)                                                         \
	CALL("nvmlShutdown", shutdown, 1, void)                                                    \
	CALL("nvmlSystemGetDriverVersion", driver_version, 0, char *, unsigned)                    \
	CALL("nvmlDeviceGetHandleByUUID", device_by_uuid, 0, const char *, nvml_device *)          \
	CALL("nvmlDeviceGetClockInfo", clock, 0, nvml_device, int, unsigned *)                     \
	CALL("nvmlDeviceGetMaxClockInfo", clock_max, 0, nvml_device, int, unsigned *)              \
	CALL("nvmlDeviceGetPowerUsage", power, 0, nvml_device, unsigned *)                         \
	CALL("nvmlDeviceGetEnforcedPowerLimit", power_limit, 0, nvml_device, unsigned *)           \
	CALL("nvmlDeviceGetTotalEnergyConsumption", energy, 0, nvml_device, unsigned long long *)  \
	/* of this function's two names, every driver has this one */                              \
	CALL("nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons, 0, nvml_device,        \
		unsigned long long *)                                                              \
	CALL("nvmlDeviceGetMigMode", mig_mode, 0, nvml_device, unsigned *, unsigned *)             \
	CALL("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", mig_parent, 0, nvml_device,           \
		nvml_device *)                                                                     \
	CALL("nvmlDeviceGetComputeRunningProcesses_v3", processes, 0, nvml_device, unsigned *,     \
		void *)

struct nvml_calls {
#define CALL(symbol, member, required, ...) nvml_result (*member)(__VA_ARGS__);
	NVML_CALLS(CALL)
#undef CALL
};

struct nvml {
	struct library library;
	struct nvml_calls calls;
	nvml_device device;   /* may be NULL */
	nvml_device instance; /* MIG instance of that device, or NULL */
};

static const struct library_entry entries[] = {
#define CALL(symbol, member, required, ...) {symbol, offsetof(struct nvml_calls, member), required},
	NVML_CALLS(CALL)
#undef CALL
};

struct nvml *nvml_open(void)
{
	struct nvml *nvml = memory_zeroed(1, sizeof(*nvml));

	if (library_open(&nvml->library, "libnvidia-ml.so.1", NULL) == STATUS_OK &&
		library_bind(&nvml->library, entries, ARRAY_COUNT(entries), &nvml->calls, NULL) ==
			STATUS_OK &&
		nvml->calls.init() == 0)
		return nvml;
	library_close(&nvml->library);
	free(nvml);
	return NULL;
}

void nvml_close(struct nvml *nvml)
{
	if (!nvml)
		return;
	nvml->calls.shutdown();
	library_close(&nvml->library);
	free(nvml);
}

void nvml_driver_version(const struct nvml *nvml, char *version, unsigned size)
{
	version[0] = '\0';
	if (nvml && nvml->calls.driver_version && nvml->calls.driver_version(version, size) != 0)
		version[0] = '\0';
}

bool nvml_select(struct nvml *nvml, const char *uuid)
{
	if (!nvml || !nvml->calls.device_by_uuid)
		return false;
	nvml->instance = NULL;
	if (nvml->calls.device_by_uuid(uuid, &nvml->device) != 0)
		nvml->device = NULL;
	/* a MIG instance has its GPU's clocks and power */
	if (nvml->device && string_starts_with(uuid, "MIG-")) {
		nvml->instance = nvml->device;
		if (!nvml->calls.mig_parent ||
			nvml->calls.mig_parent(nvml->instance, &nvml->device) != 0)
			nvml->device = NULL;
	}
	return nvml->device != NULL;
}

int nvml_process_count(const struct nvml *nvml)
{
	enum {
		INSUFFICIENT_SIZE = 7
	};
	unsigned count = 0;
	nvml_result result;

	if (!nvml || !nvml->device || !nvml->calls.processes)
		return 0;
	result =
		nvml->calls.processes(nvml->instance ? nvml->instance : nvml->device, &count, NULL);
	return result == 0 || result == INSUFFICIENT_SIZE ? (int)count : 0;
}

/* Calls a function for the selected GPU. False if the function is missing or failed. */
#define NVML_CALL(nvml, call, ...)                                                                 \
	((nvml) && (nvml)->device && (nvml)->calls.call &&                                         \
		(nvml)->calls.call((nvml)->device, __VA_ARGS__) == 0)

const char *nvml_mig_mode(const struct nvml *nvml)
{
	unsigned current = 0, pending = 0;

	return !NVML_CALL(nvml, mig_mode, &current, &pending) ? ""
	       : current                                      ? "enabled"
							      : "disabled";
}

double nvml_energy_j(const struct nvml *nvml)
{
	unsigned long long millijoules = 0;

	return NVML_CALL(nvml, energy, &millijoules) ? (double)millijoules * 1e-3 : 0;
}

struct nvml_reading nvml_read_clock(const struct nvml *nvml)
{
	struct nvml_reading reading = {0};
	unsigned mhz = 0;

	if (NVML_CALL(nvml, clock, NVML_CLOCK_SM, &mhz)) {
		reading.clock_sm_hz = mhz * 1e6;
		reading.valid = true;
	}
	if (!NVML_CALL(nvml, throttle_reasons, &reading.throttle_reasons))
		reading.throttle_reasons = 0;
	return reading;
}

struct nvml_reading nvml_read(const struct nvml *nvml)
{
	struct nvml_reading reading = nvml_read_clock(nvml);
	unsigned value = 0;

	if (NVML_CALL(nvml, clock, NVML_CLOCK_MEMORY, &value))
		reading.clock_memory_hz = value * 1e6;
	if (NVML_CALL(nvml, clock_max, NVML_CLOCK_SM, &value))
		reading.clock_sm_max_hz = value * 1e6;
	if (NVML_CALL(nvml, power, &value))
		reading.power_w = value * 1e-3;
	if (NVML_CALL(nvml, power_limit, &value))
		reading.power_limit_w = value * 1e-3;
	return reading;
}
