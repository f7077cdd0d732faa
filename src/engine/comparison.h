/* SPDX-License-Identifier: MIT
 *
 * A few candidates of one or several problems side by side: compiled, verified, then sampled
 * round-robin in one request, so that clock drift hits all alike. On a device that predicts, the
 * same with the model's times of the compiled kernels.
 */
#ifndef ENGINE_COMPARISON_H
#define ENGINE_COMPARISON_H

#include <signal.h>

#include "engine/trial.h"
#include "engine/context.h"

struct compared {
	const struct problem *problem; /* borrowed */
	struct candidates pool;        /* this one candidate */
	uint32_t number;               /* of the problem, on the device */
	struct trial trial;            /* its evaluation is the result */
	bool done;
};

struct comparison {
	struct context *bench;
	volatile sig_atomic_t *interrupted; /* may be NULL */
	struct compared **items;            /* pointers stay valid */
	size_t count, capacity;
};

struct comparison_rounds {
	unsigned least, most; /* samples of each */
	double seconds_max;   /* for all of them together */
	double target_ratio;  /* as in device_sample_request */
};

/* Adds a candidate and returns it. Takes bound, by which problem is kept too: it must outlive the
 * comparison; copies choices, which are legal. Errors: the device is lost; a reference that does
 * not compile. */
enum status comparison_add(struct comparison *comparison, struct bound_family *bound,
	const choice *choices, struct compared **added, struct error *err);
/* Runs all that are not done. What goes wrong with a candidate is its evaluation's outcome. Errors:
 * STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status comparison_run(
	struct comparison *comparison, const struct comparison_rounds *rounds, struct error *err);
/* Unloads and forgets all items. */
void comparison_clear(struct comparison *comparison);

/* Median of its samples; infinite if it failed. */
double compared_time_us(const struct compared *compared);

#endif
