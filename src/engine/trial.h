/* SPDX-License-Identifier: MIT
 *
 * One candidate on its way through the loop: compiling, loading, verifying, sampling, done.
 * A trial never fails as a program; what goes wrong becomes its evaluation's outcome.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include "device/device.h"
#include "engine/kernel_store.h"
#include "engine/candidates.h"

enum trial_stage {
	TRIAL_COMPILING,
	TRIAL_READY, /* compiled, scored again, waiting for the device */
	TRIAL_LOADING,
	TRIAL_VERIFYING,
	TRIAL_SAMPLING,
	TRIAL_DONE,
};

struct trial {
	enum trial_stage stage;
	size_t candidate;
	struct value *slots;
	struct build build;
	const struct stored_kernel **kernels; /* one per build unit; borrowed from the store */
	struct plan plan;
	struct work work;
	device_handle handle; /* 0: not loaded */
	struct evaluation evaluation;
};

/* What trials fly over. */
struct trial_setup {
	const struct candidates *pool;
	struct kernel_store *store; /* NULL: the device compiles nothing (replay) */
	struct device *device;
	uint32_t problem; /* device_problem()'s number */
	double give_up_ratio;
	unsigned rounds_min, rounds_max;
};

/* Submits the candidate's kernels. */
enum status trial_start(
	const struct trial_setup *setup, size_t candidate, struct trial *trial, struct error *err);
/* COMPILING -> READY or DONE, once its kernels are ready. True if it moved. */
enum status trial_check_compiled(
	const struct trial_setup *setup, struct trial *trial, bool *moved, struct error *err);
/* READY -> LOADING. */
enum status trial_load(const struct trial_setup *setup, struct trial *trial, struct error *err);
/* An event of its handle: moves on, or to DONE. best_us: to give up early; infinite: none. */
enum status trial_event(const struct trial_setup *setup, struct trial *trial,
	struct device_event *event, double best_us, struct error *err);
void trial_release(const struct trial_setup *setup, struct trial *trial); /* unloads too */

#endif
