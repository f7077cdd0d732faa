/* SPDX-License-Identifier: MIT
 *
 * One candidate on its way: compiling, loading, verifying, sampling, done. What goes wrong with it
 * becomes its evaluation's outcome, never an error of the program. Moved by engine/evaluator.h.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include "candidate/candidate.h"
#include "device/device.h"
#include "engine/kernel_store.h"

enum trial_stage {
	TRIAL_COMPILING,
	TRIAL_COMPILED, /* scored again, not on the device yet */
	TRIAL_LOADING,
	TRIAL_LOADED,
	TRIAL_VERIFYING,
	TRIAL_VERIFIED,
	TRIAL_SAMPLING,
	TRIAL_CHECKING, /* verified again, after its samples */
	TRIAL_DONE,     /* its evaluation says how it ended */
};

struct round_series; /* engine/rounds.h */

/* Kernels of another origin, as an earlier run kept them. */
struct binary {
	struct plan plan;
	struct text *cubins; /* one per build unit */
	size_t cubin_count;
};

struct trial {
	enum trial_stage stage, goal;
	const struct problem *problem; /* borrowed */
	struct candidate candidate;    /* bound NULL: nothing was compiled for it */
	bool owns_bound;               /* the candidate's bound family is freed with the trial */
	size_t number;                 /* the caller's, for the candidate */
	struct value *slots;
	struct build build;
	const struct compile_result **kernels; /* one per build unit; borrowed from the store */
	struct plan plan;
	struct work work;
	const struct trial *original; /* this is one more load of that one; borrowed */
	const struct binary *binary;  /* or of these kernels; borrowed */
	device_handle handle;         /* 0: not loaded */
	struct round_series *series;  /* where its samples go while rounds are run; borrowed */
	struct evaluation evaluation;
};

/* Names, plan, work and build of a configuration, scored with the estimate of its registers, its
 * kernels submitted. Without a store: what the device can do without kernels. */
enum status trial_start(struct trial *trial, const struct candidate *candidate,
	struct kernel_store *store, struct error *err);
/* Once all kernels are there: COMPILING -> COMPILED, or DONE if one failed or, where prunes is set,
 * the family's rules drop it. */
enum status trial_take_compiled(struct trial *trial, bool prunes, struct error *err);
/* The driver's own words on resources count more than the compiler's report; takes them from the
 * event. */
void trial_take_resources(struct trial *trial, struct device_event *event);
/* The end: detail (may be NULL) is copied. */
void trial_finish(struct trial *trial, enum outcome outcome, const char *detail);
void trial_release(struct trial *trial);

/* Median of its samples, us; infinite if it failed. */
double trial_time_us(const struct trial *trial);

#endif
