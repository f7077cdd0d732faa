/* SPDX-License-Identifier: MIT
 *
 * One candidate on its way through the loop: compiling, loading, verifying, sampling, done.
 * A flight never fails as a program; what goes wrong becomes its evaluation's outcome.
 */
#ifndef TUNE_FLIGHT_H
#define TUNE_FLIGHT_H

#include "device/device.h"
#include "tune/kernel_store.h"
#include "tune/candidates.h"

enum flight_stage {
	FLIGHT_COMPILING,
	FLIGHT_READY, /* compiled, scored again, waiting for the device */
	FLIGHT_LOADING,
	FLIGHT_VERIFYING,
	FLIGHT_SAMPLING,
	FLIGHT_DONE,
};

struct flight {
	enum flight_stage stage;
	size_t candidate;
	struct value *slots;
	struct build build;
	const struct stored_kernel **kernels; /* one per build unit; borrowed from the store */
	struct plan plan;
	struct work work;
	device_handle handle; /* 0: not loaded */
	struct evaluation evaluation;
};

/* What flights fly over. */
struct flight_setup {
	const struct candidates *pool;
	struct kernel_store *store; /* NULL: the device compiles nothing (replay) */
	struct device *device;
	uint32_t problem; /* device_problem()'s number */
	double give_up_ratio;
	unsigned rounds_min, rounds_max;
};

/* Submits the candidate's kernels. */
enum status flight_start(const struct flight_setup *setup, size_t candidate, struct flight *flight,
	struct error *err);
/* COMPILING -> READY or DONE, once its kernels are ready. True if it moved. */
enum status flight_check_compiled(
	const struct flight_setup *setup, struct flight *flight, bool *moved, struct error *err);
/* READY -> LOADING. */
enum status flight_load(const struct flight_setup *setup, struct flight *flight, struct error *err);
/* An event of its handle: moves on, or to DONE. best_us: to give up early; infinite: none. */
enum status flight_event(const struct flight_setup *setup, struct flight *flight,
	struct device_event *event, double best_us, struct error *err);
void flight_release(const struct flight_setup *setup, struct flight *flight); /* unloads too */

#endif
