/* SPDX-License-Identifier: MIT
 *
 * The saw-tooth: a few fixed configurations over a range of sizes. The first is the best over the
 * range (or the one asked for), the next two the next best tiles of its family; then the best of
 * other families where these are faster, even if they can do a part of the sizes only. Tile and
 * wave quantization show where all else stays as it is.
 */
#ifndef ADVISE_SWEEP_H
#define ADVISE_SWEEP_H

#include "advise/sweep_series.h"
#include "engine/seeds.h"
#include "format/run.h"

enum {
	SWEEP_SERIES_MAX = 5,
	SWEEP_POINTS_MAX = 4096,
};

struct sweep {
	struct context *context;
	const struct operation *operation;
	char *label; /* "M=N=K" */
	char *range; /* "M=N=K=1024:4096:32" */
	struct problem_list problems;
	int64_t *x;           /* per problem: the size that varies */
	double *flop, *bytes; /* per problem */
	struct sweep_series series[SWEEP_SERIES_MAX];
	size_t series_count;
	bool measured;
	struct evaluator evaluator;
	struct seeds seeds;
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

#endif
