/* SPDX-License-Identifier: MIT
 *
 * Reads clocks, power and throttle reasons through NVML (libnvidia-ml.so.1). If the library or a
 * function is missing or refused (MIG, containers), readings are 0.
 */
#ifndef SPEC_NVML_H
#define SPEC_NVML_H

#include <stdbool.h>

struct nvml;

struct nvml_reading {
	bool valid;
	double clock_sm_hz, clock_memory_hz;
	double clock_sm_max_hz;
	double power_w, power_limit_w;
	unsigned long long throttle_reasons; /* NVML_THROTTLE_* bits */
};

/* values of nvmlClocksEventReason* */
enum {
	NVML_THROTTLE_IDLE = 0x1,
	NVML_THROTTLE_APPLICATION_CLOCKS = 0x2,
	NVML_THROTTLE_POWER_CAP = 0x4,
	NVML_THROTTLE_HW_SLOWDOWN = 0x8,
	NVML_THROTTLE_SYNC_BOOST = 0x10,
	NVML_THROTTLE_SW_THERMAL = 0x20,
	NVML_THROTTLE_HW_THERMAL = 0x40,
	NVML_THROTTLE_HW_POWER_BRAKE = 0x80,
};

/* Returns NULL if NVML is not usable; all functions accept NULL. */
struct nvml *nvml_open(void);
void nvml_close(struct nvml *nvml);
/* Gets e.g. "580.159.04", or "" if unknown. size >= 1. */
void nvml_driver_version(const struct nvml *nvml, char *version, unsigned size);
/* Selects the GPU by "GPU-..." or "MIG-..." (then with clocks and power of the GPU). Returns false
 * if NVML does not know it. */
bool nvml_select(struct nvml *nvml, const char *uuid);
/* Counts processes with a context on the GPU, including this one; 0 if unknown. */
int nvml_process_count(const struct nvml *nvml);
const char *nvml_mig_mode(const struct nvml *nvml);
struct nvml_reading nvml_read(const struct nvml *nvml);
/* Returns the energy in joules since the driver was loaded; 0 if unknown. It advances every few
 * milliseconds. */
double nvml_energy_j(const struct nvml *nvml);
/* Reads only the SM clock and throttle reasons, which is fast enough between samples. */
struct nvml_reading nvml_read_clock(const struct nvml *nvml);

#endif
