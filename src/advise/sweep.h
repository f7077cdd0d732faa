/* SPDX-License-Identifier: MIT
 *
 * The saw-tooth: a few fixed configurations over a range of sizes. The first is the best over the
 * range (or the one asked for), the next two the next best tiles of its family; then the best of
 * other families where these are faster, even if they can do a part of the sizes only. Tile and
 * wave quantization show where all else stays as it is.
 */
#ifndef ADVISE_SWEEP_H
#define ADVISE_SWEEP_H

#include <signal.h>

#include "engine/evaluator.h"
#include "engine/seeds.h"
#include "format/run.h"

enum {
	SWEEP_OF_A_FAMILY_MAX = 3,
	SWEEP_SERIES_MAX = 5,
	SWEEP_POINTS_MAX = 4096,
};

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

struct sweep {
	struct context *context;
	const struct operation *operation;
	char *label; /* "M=N=K" */
	char *range; /* "M=N=K=1024:4096:32" */
	struct problem_list problems;
	int64_t *x;   /* per problem: the size that varies */
	double *flop; /* per problem */
	struct sweep_series series[SWEEP_SERIES_MAX];
	size_t series_count;
	bool measured;
	struct evaluator evaluator;
	struct seeds seeds;
};

struct sweep_options {
	const char *const *families; /* NULL or empty: all */
	const char *configuration;   /* partial; of the one family; NULL: the best */
	volatile sig_atomic_t *interrupted;
	/* Called now and then; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *progress_context;
};

/* text: the problem, in which the keys of range may stand too (range counts); may be NULL. range:
 * "N=1024:4096:64", "M=N=K=1024:4096:32", a list. Keys that stand in neither are those of the
 * operation's "advise.sweep". */
enum status sweep_run(struct sweep *sweep, struct context *context,
	const struct operation *operation, const char *text, const char *range,
	const struct sweep_options *options, struct error *err);
void sweep_release(struct sweep *sweep);

/* Whether a series begins a wave more (or less) at this point than at the one before. */
bool sweep_is_wave_edge(const struct sweep *sweep, size_t series, size_t point);

/* {"format": "tiletune.sweep/1", ...}: configs/schemas/sweep.schema.json. run: that made it. */
struct json *sweep_to_json(const struct sweep *sweep, const struct run *run);
extern const struct record sweep_record; /* of that document */
/* One line per series and point, with a heading. */
void sweep_to_csv(const struct sweep *sweep, struct text *csv);

/* ---- parts ---- */
/* Fills in series: family and configuration. */
enum status sweep_choose(
	struct sweep *sweep, const struct sweep_options *options, struct error *err);
/* The configuration at a point: parameters that are kernel arguments move to the nearest value that
 * is legal. Its bound family is NULL where there is none; else the caller's. */
enum status sweep_bind(const struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct candidate *candidate, struct error *err);
/* The same as a trial; NULL where there is none. */
enum status sweep_add(struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct trial **trial, struct error *err);

#endif
