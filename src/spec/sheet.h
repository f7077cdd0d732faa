/* SPDX-License-Identifier: MIT
 *
 * Spec sheets as files: configs/devices/NAME.json ("tiletune.device/1") and the default rates of an
 * architecture, configs/devices/defaults/ARCH.json ("tiletune.device_defaults/1"). Every figure is
 * {"value", "source", "estimated"?}.
 */
#ifndef SPEC_SHEET_H
#define SPEC_SHEET_H

#include "record/record.h"
#include "spec/device_spec.h"

/* What is typical of an architecture and no driver tells. */
struct sheet_defaults {
	struct device_spec typical; /* what does not depend on the chip */
	double l2_bytes_per_clock_sm;
	double dram_efficiency_ratio; /* of what a copy reaches to what clock and bus width promise
				       */
	double tensor_clock_ratio;    /* sustained under dense tensor load / boost */
	int64_t cluster_blocks_max;   /* 1 where there are no clusters */
};

RECORD_DECLARE(struct device_spec, device_record);
RECORD_DECLARE(struct sheet_defaults, device_defaults_record);

enum status device_spec_parse(const char *json, size_t size, const char *file,
	struct device_spec **spec, struct error *err);
/* Rates of shared memory, L2, issue and barriers follow from the chip's other figures. */
void sheet_derive_rates(struct device_spec *spec);
/* Of the newest architecture that is not newer than compute_capability (of the oldest where all
 * are); built in. */
enum status sheet_defaults_find(
	int compute_capability, struct sheet_defaults *defaults, struct error *err);

/* ---- built into the binary by src/embed.sh, so that it works where there is nothing but itself
 * ---- */
extern const char device_spec_default_json[];             /* configs/devices/h200-sxm.json */
extern const char *const device_spec_architecture_json[]; /* configs/devices/defaults; NULL-ended */

#endif
