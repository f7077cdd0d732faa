/* SPDX-License-Identifier: MIT
 *
 * A trial is a candidate in progress. Its failure is the outcome of its result, never an error of
 * the program.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include "candidate/candidate.h"
#include "device/device.h"
#include "engine/kernel_store.h"

enum trial_stage {
	TRIAL_COMPILING,
	TRIAL_COMPILED,  /* compiled, and scored with the compiled resources */
	TRIAL_ON_DEVICE, /* waits for the device's reply */
	TRIAL_LOADED,
	TRIAL_VERIFIED,
	TRIAL_DONE, /* its result says how it ended */
};

struct trial {
	enum trial_stage stage, goal;
	const struct problem *problem; /* NULL: kernels without tensors */
	struct candidate candidate;    /* bound NULL: nothing was compiled for it */
	size_t number;                 /* set and used by the caller */
	struct value *values;
	struct build build;
	const struct compile_result **kernels; /* per build unit; borrowed */
	struct plan plan;
	struct work work;
	char **cubins; /* per build unit; borrowed; or NULL */
	/* Set from TRIAL_COMPILED on. The job refers to this trial, to the trial whose kernels are
	 * loaded once more, or to kernels of another source. Ticket 0: not submitted. */
	struct device_job job;
	bool is_checked_again; /* verified once more after it was timed */
	double retest_us;      /* time on other inputs; 0: not known */
	struct result result;
};

/* Scores the candidate with the family's estimate of registers, and submits its kernels to the
 * compilers. Without a store the trial is TRIAL_COMPILED at once. */
enum status trial_start(struct trial *trial, const struct candidate *candidate,
	struct kernel_store *store, struct error *err);
/* Once all kernels are compiled, moves the trial to TRIAL_COMPILED, or to TRIAL_DONE if a kernel
 * failed or, with `prunes`, a prune rule rejects it. */
enum status trial_take_compiled(struct trial *trial, bool prunes, struct error *err);
/* Predicts the time, infinite if no block fits. Uses the compiled kernels' resources once known. */
enum status trial_predict(const struct trial *trial, double *time_us, struct error *err);
/* Adds the device's reply. A trial whose outputs differ from `wanted` (NULL: any) ends with
 * OUTCOME_OTHER_BITS. If the reference failed, the trial goes on. */
void trial_take_reply(
	struct trial *trial, struct device_reply *reply, const struct output_digest *wanted);
/* Copies detail, which may be NULL. */
void trial_finish(struct trial *trial, enum outcome outcome, const char *detail);
void trial_release(struct trial *trial);

#endif
