/* SPDX-License-Identifier: MIT
 *
 * Compiles, loads, verifies and times candidates of any problem, and kernels from other sources.
 * Each trial advances to the goal that its caller sets. A search uses
 *
 *	evaluator_add() -> { evaluator_step(), evaluator_take() }* -> evaluator_free_trial()
 *
 * and candidates that are timed in turn use contenders_time() (engine/contenders.h), or
 *
 *	evaluator_add() ... -> evaluator_run() -> evaluator_sample() -> evaluator_run()
 */
#ifndef ENGINE_EVALUATOR_H
#define ENGINE_EVALUATOR_H

#include <signal.h>

#include "engine/context.h"
#include "engine/trial.h"

struct evaluator {
	struct context *context;
	volatile sig_atomic_t *interrupted; /* may be NULL */
	bool keeps_pruned;                  /* also evaluates candidates that prune rules reject */
	bool outlives_references;           /* a failing reference fails only its trials */
	const struct output_digest *bits;   /* only these outputs are sampled; NULL: any */
	size_t on_device_max;               /* trials on the device at a time; 0: no limit */
	double until_s;             /* end of the time limit, clock_seconds(); 0: no limit */
	struct sampling first_look; /* sampling of trials whose goal is TRIAL_DONE */
	struct trial **trials;      /* in the order of adding; pointers stay valid */
	size_t count, capacity;
	struct prepared_problem **prepared;
	size_t prepared_count, prepared_capacity;
	bool moved; /* the last step moved a trial */
	/* Receives notices about references; may be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;
};

/* Frees all trials, but not the prepared problems. */
void evaluator_clear(struct evaluator *evaluator);
void evaluator_release(struct evaluator *evaluator);

/* Submits the kernels of a legal candidate to the compilers. Borrows its bound family until the
 * trial is freed, and the problem until the evaluator is released. */
enum status evaluator_add(struct evaluator *evaluator, const struct candidate *candidate,
	enum trial_stage goal, struct trial **trial, struct error *err);
/* Submits kernels without verification: those of another trial, to be loaded once more, or of
 * another source. The job's content is borrowed. */
enum status evaluator_add_job(struct evaluator *evaluator, const struct problem *problem,
	const struct device_job *job, struct trial **trial, struct error *err);
/* Adds the anchor kernel, which stays loaded. */
struct trial *evaluator_add_anchor(struct evaluator *evaluator);

/* Makes the device's description of a problem, once: its tensors and, if the device measures, the
 * compiled reference. Fails if the reference does not compile. */
enum status evaluator_prepare_problem(
	struct evaluator *evaluator, const struct problem *problem, struct error *err);
/* Submits a compiled trial to the device, for callers that choose the order of loads. */
enum status evaluator_submit(struct evaluator *evaluator, struct trial *trial, struct error *err);

/* Advances trials without waiting. Errors: STATUS_NO_DEVICE, or a reference that fails. */
enum status evaluator_step(struct evaluator *evaluator, struct error *err);
/* Sleeps until a worker sends a message, unless the last step moved a trial. */
void evaluator_wait(const struct evaluator *evaluator);
/* Runs until every trial is at its goal or done. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status evaluator_run(struct evaluator *evaluator, struct error *err);
/* Samples loaded trials in turn, so that clock drift affects all alike, and leaves them loaded.
 * Ignores trials that are not loaded. */
enum status evaluator_sample(struct evaluator *evaluator, struct trial *const *trials, size_t count,
	const struct sampling *sampling, struct error *err);
/* Again verifies trials that have not failed, times them on other inputs, and updates outcomes. */
enum status evaluator_check(
	struct evaluator *evaluator, struct trial *const *trials, size_t count, struct error *err);

/* Returns the number of trials in these stages. */
size_t evaluator_count(
	const struct evaluator *evaluator, enum trial_stage from, enum trial_stage to);
/* Returns the first trial that is done, which the caller frees, or NULL. */
struct trial *evaluator_take(struct evaluator *evaluator);
/* Frees a trial in any stage; trial may be NULL. */
void evaluator_free_trial(struct evaluator *evaluator, struct trial *trial);

#endif
