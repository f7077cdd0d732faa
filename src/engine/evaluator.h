/* SPDX-License-Identifier: MIT
 *
 * The evaluator: all that is compiled, loaded, verified or timed goes through here. Any set of
 * candidates of any problems, together with kernels of another origin; each trial moves on by
 * itself up to the goal that its caller sets, and callers pace the rest:
 *
 *	evaluator_add() -> { evaluator_step(), evaluator_take() }* -> evaluator_free_trial()
 *
 * for a search that goes on as results come, and for candidates that are timed side by side
 *
 *	evaluator_add() ... -> evaluator_run() -> evaluator_sample() -> evaluator_run(), or
 *	contenders_time() (engine/contenders.h)
 */
#ifndef ENGINE_EVALUATOR_H
#define ENGINE_EVALUATOR_H

#include <signal.h>

#include "engine/context.h"
#include "engine/trial.h"

struct evaluator {
	struct context *context;
	volatile sig_atomic_t *interrupted; /* may be NULL */
	bool keeps_pruned;          /* evaluates candidates that the family's prune rules reject */
	bool outlives_references;   /* a failing reference fails its trials, not the call */
	const struct bits *bits;    /* others do not go on to be sampled; NULL: any; borrowed */
	size_t on_device_max;       /* trials that may be on the device at a time; 0: all */
	double until_s;             /* clock_seconds() when the budget is spent; 0: never */
	struct sampling first_look; /* of each trial whose goal is TRIAL_DONE, alone */
	struct trial **trials;      /* in the order in which they came; pointers stay valid */
	size_t count, capacity;
	struct prepared_problem **prepared; /* problems as the device gets them */
	size_t prepared_count, prepared_capacity;
	bool moved; /* in the last step */
};

/* Forgets all trials; prepared problems stay. */
void evaluator_clear(struct evaluator *evaluator);
void evaluator_release(struct evaluator *evaluator);

/* A legal candidate, its kernels submitted. Its bound family, which has the problem and the device,
 * is borrowed for the trial's life, the problem for the evaluator's. */
enum status evaluator_add(struct evaluator *evaluator, const struct candidate *candidate,
	enum trial_stage goal, struct trial **trial, struct error *err);
/* Kernels that are compiled: a trial's job, to be loaded once more, or those of another origin.
 * What the job refers to is borrowed. They are asked for at once, and not verified. */
enum status evaluator_add_job(struct evaluator *evaluator, const struct problem *problem,
	const struct device_job *job, struct trial **trial, struct error *err);
/* The anchor, loaded as it were. */
struct trial *evaluator_add_anchor(struct evaluator *evaluator);

/* Makes what the device is told of a problem: its tensors and, where the device measures, the
 * compiled reference that candidates are compared with. Done once for each problem, at the latest
 * when the device is asked for the first of its trials. Errors: a reference that does not compile.
 */
enum status evaluator_prepare_problem(
	struct evaluator *evaluator, const struct problem *problem, struct error *err);
/* Asks the device for a compiled trial now, where the order of loads matters. */
enum status evaluator_submit(struct evaluator *evaluator, struct trial *trial, struct error *err);

/* Moves what can move; does not wait. Errors: STATUS_NO_DEVICE; a reference that fails. */
enum status evaluator_step(struct evaluator *evaluator, struct error *err);
/* Sleeps until a compiler or the device has something to say, if the last step moved nothing. */
void evaluator_wait(const struct evaluator *evaluator);
/* Until every trial is at its goal, or done. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status evaluator_run(struct evaluator *evaluator, struct error *err);
/* Samples trials that are loaded, interleaved round-robin so that clock drift affects all alike.
 * They stay loaded, so that more samples can follow. Trials that are not loaded are left out. */
enum status evaluator_sample(struct evaluator *evaluator, struct trial *const *trials, size_t count,
	const struct sampling *sampling, struct error *err);
/* Verifies the trials again that are on the device and worked so far, and times them on other
 * inputs: a kernel may go wrong with a later launch than those that were
 * verified first, or be fast only on data that it knows. Its outcome is what becomes of that. */
enum status evaluator_check(
	struct evaluator *evaluator, struct trial *const *trials, size_t count, struct error *err);

/* How many are in these stages. */
size_t evaluator_count(
	const struct evaluator *evaluator, enum trial_stage from, enum trial_stage to);
/* The first that is done, now the caller's to free; NULL: none. */
struct trial *evaluator_take(struct evaluator *evaluator);
/* Of a trial that was taken or not; it may be NULL. */
void evaluator_free_trial(struct evaluator *evaluator, struct trial *trial);

#endif
