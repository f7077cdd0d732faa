/* SPDX-License-Identifier: MIT
 *
 * Reads device sheets and the default rates of architectures. Every figure is {"value", "source",
 * "estimated"?}.
 */
#ifndef SPEC_SHEET_H
#define SPEC_SHEET_H

#include "record/record.h"
#include "spec/device_spec.h"

struct sheet_defaults {
	struct device_spec typical; /* figures that all chips share */
	double l2_bytes_per_clock_sm;
	double dram_efficiency_ratio; /* bandwidth of a copy / bandwidth from clock and bus width */
	double tensor_clock_ratio;    /* sustained / boost clock */
	int64_t cluster_blocks_max;   /* 1 without support for clusters */
};

RECORD_DECLARE(struct device_spec, device_record);
RECORD_DECLARE(struct sheet_defaults, device_defaults_record);

enum status device_spec_parse(const char *json, size_t size, const char *file,
	struct device_spec **spec, struct error *err);
/* Computes rates that follow from other figures. */
void sheet_derive_rates(struct device_spec *spec);
/* Finds the defaults of the newest architecture that is not newer, else of the oldest. */
enum status sheet_defaults_find(
	int compute_capability, struct sheet_defaults *defaults, struct error *err);

/* ---- built in by src/embed.sh ---- */
extern const char device_spec_default_json[]; /* configs/devices/h200-sxm.json */
/* The files of configs/devices/defaults; NULL-terminated. */
extern const char *const device_spec_architecture_json[];

#endif
