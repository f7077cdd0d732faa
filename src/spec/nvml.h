/* SPDX-License-Identifier: MIT
 *
 * Clocks, power and throttle reasons through NVML (libnvidia-ml.so.1). Optional: without the
 * library, or where a call is missing or refused (MIG, containers), readings are 0 or unknown.
 * The toolkit has no NVML header, so the few prototypes are declared in nvml.c. Nothing here ever
 * changes a setting of the card.
 */
#ifndef SPEC_NVML_H
#define SPEC_NVML_H

#include <stdbool.h>

struct nvml; /* opaque */

struct nvml_reading {
	bool valid; /* something was read */
	double clock_sm_hz, clock_memory_hz;
	double clock_sm_max_hz;
	double power_w, power_limit_w;
	unsigned long long throttle_reasons; /* NVML_THROTTLE_* bits */
};

/* nvmlClocksEventReason*: why the clocks are what they are. */
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

/* NULL where there is no usable NVML: every function below takes NULL. */
struct nvml *nvml_open(void);
void nvml_close(struct nvml *nvml);
/* "580.159.04"; size >= 1; empty if unknown. */
void nvml_driver_version(const struct nvml *nvml, char *version, unsigned size);
/* Chooses the GPU that the readings are of: "GPU-...", or "MIG-..." for an instance of one, whose
 * clocks and power are the whole card's; false if NVML does not know it. */
bool nvml_select(struct nvml *nvml, const char *uuid);
/* How many processes have a context on it, this one included; 0 also where NVML does not say. */
int nvml_process_count(const struct nvml *nvml);
/* "enabled", "disabled" or "". */
const char *nvml_mig_mode(const struct nvml *nvml);
struct nvml_reading nvml_read(const struct nvml *nvml);
/* What the GPU has used since the driver was loaded, joules; 0: it does not say. The counter moves
 * in steps some milliseconds apart. */
double nvml_energy_j(const struct nvml *nvml);
/* Only what changes under load (SM clock, throttle reasons): cheap enough between samples. */
struct nvml_reading nvml_read_clock(const struct nvml *nvml);

#endif
