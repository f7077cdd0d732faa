/* SPDX-License-Identifier: MIT
 *
 * A trial is a candidate in progress: it is compiled, is on the device, or is done. A failure of
 * the candidate becomes the outcome of the trial's result, never an error of the program. The
 * evaluator (engine/evaluator.h) moves trials from stage to stage.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include "candidate/candidate.h"
#include "device/device.h"
#include "engine/kernel_store.h"

enum trial_stage {
	TRIAL_COMPILING,
	TRIAL_COMPILED,  /* scored again, and not submitted to the device yet */
	TRIAL_ON_DEVICE, /* submitted; the device has not replied yet */
	TRIAL_LOADED,
	TRIAL_VERIFIED,
	TRIAL_DONE, /* its result says how it ended */
};

struct trial {
	enum trial_stage stage, goal;
	const struct problem *problem; /* borrowed; NULL: kernels without tensors */
	struct candidate candidate;    /* bound NULL: nothing was compiled for it */
	size_t number;                 /* the caller's number of the candidate */
	struct value *values;
	struct build build;
	const struct compile_result **kernels; /* one per build unit; borrowed from the store */
	struct plan plan;
	struct work work;
	char **cubins; /* files of the kernels, one per build unit, borrowed; or NULL */
	/* The job for the device, from TRIAL_COMPILED on. It refers to this trial, to the trial
	 * whose kernels are loaded once more, or to kernels from another source. Ticket 0: not
	 * submitted. */
	struct device_job job;
	bool is_checked_again; /* the device verifies it once more, after it was timed */
	double retest_us;      /* its time on other inputs in that check; 0: not known */
	struct result result;
};

/* Fills in names, plan, work and build of a candidate, scores it with the family's estimate of
 * registers, and submits its kernels to the compilers. Without a store, which devices that compile
 * nothing do not need, the trial is TRIAL_COMPILED at once. */
enum status trial_start(struct trial *trial, const struct candidate *candidate,
	struct kernel_store *store, struct error *err);
/* Once all kernels are compiled, moves the trial to TRIAL_COMPILED; or to TRIAL_DONE if a kernel
 * failed or, with `prunes`, a prune rule of the family rejects the candidate. */
enum status trial_take_compiled(struct trial *trial, bool prunes, struct error *err);
/* The predicted time, infinite if no block fits. It uses the compiled kernels' resources once they
 * are known, and learned corrections as every other prediction does. */
enum status trial_predict(const struct trial *trial, double *time_us, struct error *err);
/* Adds the reply's result to the trial's. A trial whose outputs differ from `wanted` (NULL: any)
 * ends with OUTCOME_OTHER_BITS. If the problem's reference failed, the trial goes on. */
void trial_take_reply(
	struct trial *trial, struct device_reply *reply, const struct output_digest *wanted);
/* Ends the trial; detail, which may be NULL, is copied. */
void trial_finish(struct trial *trial, enum outcome outcome, const char *detail);
void trial_release(struct trial *trial);

#endif
