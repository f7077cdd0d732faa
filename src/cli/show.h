/* SPDX-License-Identifier: MIT
 *
 * What `tune` prints: progress while it runs, a table at the end of each problem.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "tune/run.h"

struct show {
	FILE *out;               /* stderr with --json or -o -, else stdout */
	const char *shard;       /* "2/4": a problem is printed whole, when it ends; NULL: all */
	bool verbose;            /* why families do not compete */
	bool progress;           /* draw a line that is overwritten */
	struct context *context; /* its notices are printed first */
	double last_drawn;
};

struct tune_observer show_observer(struct show *show);

/* "512 tiles on 132 slots: 4 waves, ...": why a score is what it is, launch by launch; then one
 * predicted time and where it comes from, unless predicted_us is 0. */
void show_why(FILE *out, const struct device_spec *device, const struct problem *problem,
	const struct score *score, const char *indent, double predicted_us, const char *kind);
/* "62.4 TFLOP/s"; where memory is the bound, or the problem has little to compute, ", 3900 GB/s" as
 * well: of what must be read and written once. */
void show_speed(FILE *out, int width, const struct problem *problem, const struct score *score,
	double time_us);
/* How many the family's rules or a limit of the GPU removed after compilation, by each reason. */
void show_removed(FILE *out, const struct problem_result *result);

#endif
