/* SPDX-License-Identifier: MIT
 *
 * One candidate on its way: compiling, on the device, done. What goes wrong with it
 * becomes its result's outcome, never an error of the program. Moved by engine/evaluator.h.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include "candidate/candidate.h"
#include "device/device.h"
#include "engine/kernel_store.h"

enum trial_stage {
	TRIAL_COMPILING,
	TRIAL_COMPILED,  /* scored again; the device was not asked yet */
	TRIAL_ON_DEVICE, /* the device was, for its goal */
	TRIAL_LOADED,
	TRIAL_VERIFIED,
	TRIAL_DONE, /* its result says how it ended */
};

struct trial {
	enum trial_stage stage, goal;
	const struct problem *problem; /* borrowed; NULL: kernels without tensors */
	struct candidate candidate;    /* bound NULL: nothing was compiled for it */
	size_t number;                 /* the caller's, for the candidate */
	struct value *values;
	struct build build;
	const struct compile_result **kernels; /* one per build unit; borrowed from the store */
	struct plan plan;
	struct work work;
	struct text *cubins; /* one per build unit, with the kernels' bytes; or NULL */
	/* What the device is asked for, from COMPILED on; refers to this trial, to the one whose
	 * kernels are loaded once more, or to kernels of another origin. Ticket 0: not yet. */
	struct device_job job;
	bool is_checked_again; /* the device verifies it again, after it was timed, */
	double retest_us;      /* and times it on other inputs; 0: not known */
	struct result result;
};

/* Names, plan, work and build of a configuration, scored with the estimate of its registers, its
 * kernels submitted. Without a store: what the device can do without kernels. */
enum status trial_start(struct trial *trial, const struct candidate *candidate,
	struct kernel_store *store, struct error *err);
/* Once all kernels are there: COMPILING -> COMPILED, or DONE if one failed or, where prunes is set,
 * the family's rules drop it. */
enum status trial_take_compiled(struct trial *trial, bool prunes, struct error *err);
/* Adds the reply's result to the trial's. A trial whose outputs differ from `wanted` (NULL: any)
 * ends with OUTCOME_OTHER_BITS. If the problem's reference failed, the trial goes on. */
void trial_take_reply(struct trial *trial, struct device_reply *reply, const struct bits *wanted);
/* The end: detail (may be NULL) is copied. */
void trial_finish(struct trial *trial, enum outcome outcome, const char *detail);
void trial_release(struct trial *trial);

#endif
