/* SPDX-License-Identifier: MIT
 *
 * The evaluator compiles, loads, verifies and times everything. It accepts candidates of any
 * problem, and kernels from other sources. Each trial advances to the goal that its caller sets;
 * the caller decides when to add more. A search that continues as results come uses
 *
 *	evaluator_add() -> { evaluator_step(), evaluator_take() }* -> evaluator_free_trial()
 *
 * and candidates that are timed in turn use
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
	bool keeps_pruned;        /* evaluates candidates that the family's prune rules reject */
	bool outlives_references; /* a failing reference fails its trials, not the call */
	const struct output_digest *bits; /* trials with other digests are not sampled; NULL: any */
	size_t on_device_max;       /* trials that may be on the device at a time; 0: no limit */
	double until_s;             /* clock_seconds() when the budget is spent; 0: never */
	struct sampling first_look; /* sampling of trials whose goal is TRIAL_DONE; each is sampled
				       by itself */
	struct trial **trials;      /* in the order in which they were added; pointers stay valid */
	size_t count, capacity;
	struct prepared_problem **prepared; /* problems as the device describes them */
	size_t prepared_count, prepared_capacity;
	bool moved; /* whether the last step moved a trial */
	/* Called with notices for the user about references; may be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;
};

/* Frees all trials; prepared problems stay. */
void evaluator_clear(struct evaluator *evaluator);
void evaluator_release(struct evaluator *evaluator);

/* Adds a legal candidate and submits its kernels to the compilers. Its bound family, which has the
 * problem and the device, is borrowed until the trial is freed; the problem is borrowed until the
 * evaluator is released. */
enum status evaluator_add(struct evaluator *evaluator, const struct candidate *candidate,
	enum trial_stage goal, struct trial **trial, struct error *err);
/* Adds compiled kernels: the job of another trial, to be loaded once more, or kernels from
 * another source. All that the job refers to is borrowed. The job is submitted at once and is
 * not verified. */
enum status evaluator_add_job(struct evaluator *evaluator, const struct problem *problem,
	const struct device_job *job, struct trial **trial, struct error *err);
/* Adds the anchor kernel, which is always loaded. */
struct trial *evaluator_add_anchor(struct evaluator *evaluator);

/* Makes the device's description of a problem: its tensors and, if the device measures, the
 * compiled reference that candidates are compared with. This is done once for each problem, at the
 * latest when the first of its trials is submitted. Errors: a reference that does not compile. */
enum status evaluator_prepare_problem(
	struct evaluator *evaluator, const struct problem *problem, struct error *err);
/* Submits a compiled trial to the device now, for callers to whom the order of loads matters. */
enum status evaluator_submit(struct evaluator *evaluator, struct trial *trial, struct error *err);

/* Moves every trial that can move, without waiting. Errors: STATUS_NO_DEVICE; a reference that
 * fails. */
enum status evaluator_step(struct evaluator *evaluator, struct error *err);
/* Sleeps until a compiler or the device sends a message, unless the last step moved a trial. */
void evaluator_wait(const struct evaluator *evaluator);
/* Steps until every trial is at its goal, or done. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status evaluator_run(struct evaluator *evaluator, struct error *err);
/* Samples trials that are loaded, interleaved round-robin so that clock drift affects all alike.
 * They stay loaded, so that more samples can follow. Trials that are not loaded are left out. */
enum status evaluator_sample(struct evaluator *evaluator, struct trial *const *trials, size_t count,
	const struct sampling *sampling, struct error *err);
/* Verifies trials again that are on the device and have worked so far, and times them on other
 * inputs. A kernel may fail in a later launch than the first ones, or be fast only on data that
 * it knows. The outcome of this check becomes the trial's. */
enum status evaluator_check(
	struct evaluator *evaluator, struct trial *const *trials, size_t count, struct error *err);

/* The number of trials in these stages. */
size_t evaluator_count(
	const struct evaluator *evaluator, enum trial_stage from, enum trial_stage to);
/* Removes the first trial that is done; the caller frees it. NULL: no trial is done. */
struct trial *evaluator_take(struct evaluator *evaluator);
/* Frees a trial, whether it was taken or not; it may be NULL. */
void evaluator_free_trial(struct evaluator *evaluator, struct trial *trial);

#endif
