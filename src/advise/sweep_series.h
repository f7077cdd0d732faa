/* SPDX-License-Identifier: MIT
 *
 * One line of a sweep (advise/sweep.h): a configuration and what became of it at every size; which
 * configurations a sweep keeps: those that can do most of its sizes, of these the fastest over a
 * few of them; on a GPU the first few are measured there.
 */
#ifndef ADVISE_SWEEP_SERIES_H
#define ADVISE_SWEEP_SERIES_H

#include <signal.h>

#include "engine/evaluator.h"

/* One configuration at one size. */
struct sweep_value {
	int64_t x;     /* the size that varies */
	bool is_legal; /* else nothing below holds */
	enum outcome outcome;
	double tiles, waves, waves_exact;
	double predicted_us;     /* of the compiled kernel; infinite: it does not run */
	double predicted_tflops; /* NaN likewise */
	bool is_measured;        /* else nothing below holds */
	struct summary time;
	double measured_tflops;
};

struct sweep_series {
	const struct family *family;
	char *configuration; /* its parameters that are kernel arguments may differ where they must
			      */
	struct sweep_value *values; /* one per point */
};

struct sweep_options {
	const char *const *families; /* NULL or empty: all */
	const char *configuration;   /* partial; of the one family; NULL: the best */
	volatile sig_atomic_t *interrupted;
	/* Called now and then; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *progress_context;
};

struct sweep;
/* Fills in series: family and configuration. */
enum status sweep_series_choose(
	struct sweep *sweep, const struct sweep_options *options, struct error *err);
/* The configuration at a point as a trial: parameters that are kernel arguments move to the nearest
 * value that is legal. NULL where there is none. */
enum status sweep_series_add(struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct trial **trial, struct error *err);

#endif
