/* SPDX-License-Identifier: MIT
 *
 * The NVML functions that tiletune calls. The same library is also installed as libnvidia-ml.so.1.
 */
#include <stdio.h>
#include <string.h>

#include "spec/nvml.h"
#include "faults/standin.h"

int nvmlInit_v2(void)
{
	return 0;
}

int nvmlShutdown(void)
{
	return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
	snprintf(version, size, "999.42.01");
	return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	static int only;

	if ((strncmp(uuid, "MIG-", 4) == 0) != (standin_script()->mig != 0))
		return 6; /* NVML_ERROR_NOT_FOUND */
	*device = &only;
	return 0;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *instance, void **device)
{
	*device = instance;
	return standin_script()->mig ? 0 : 2; /* NVML_ERROR_INVALID_ARGUMENT */
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *processes)
{
	(void)device, (void)processes;
	*count = (unsigned)standin_script()->processes;
	return *count ? 7 : 0; /* NVML_ERROR_INSUFFICIENT_SIZE */
}

int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz)
{
	(void)device;
	*mhz = kind == 2 ? 3201 : 1980;
	return 0;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz)
{
	struct standin_script *script = standin_script();

	nvmlDeviceGetMaxClockInfo(device, kind, mhz);
	if (kind == 1 && script->slow_clock != 0) {
		script->slow_clock--;
		*mhz = 345;
	}
	return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 312000;
	return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
	const unsigned long long since_boot = 1000000;
	const unsigned long long step = (unsigned long long)standin_script()->energy_step_mj;

	(void)device;
	if (step == 0)
		return 3; /* NVML_ERROR_NOT_SUPPORTED */
	*millijoules = since_boot + (unsigned long long)standin_energy_mj() / step * step;
	return 0;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 700000;
	return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	struct standin_script *script = standin_script();

	(void)device;
	/* without a power script the power cap is always reported, which does not count as
	 * throttling */
	*reasons = script->slow_clock || (script->power_limit_w && !standin_at_power_limit())
			   ? 0
			   : NVML_THROTTLE_POWER_CAP;
	if (script->throttle != 0) {
		script->throttle--;
		*reasons |= NVML_THROTTLE_HW_THERMAL;
	}
	return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	(void)device;
	*current = *pending = (unsigned)standin_script()->mig;
	return 0;
}
