/* SPDX-License-Identifier: MIT
 *
 * The output of `tune`: progress during the run, and a table after each problem.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "tune/run.h"

struct show {
	FILE *out;         /* stderr with --json or -o -, else stdout */
	const char *shard; /* "2/4": the output of a problem is printed in one piece when it ends;
			      NULL: not a shard */
	bool verbose;      /* also show why families were excluded */
	bool progress;     /* draw a progress line that is overwritten */
	struct context *context; /* context whose notices are printed first */
	double last_drawn;
};

struct tune_observer show_observer(struct show *show);

/* Explains a score launch by launch, such as "512 tiles on 132 slots: 4 waves, ...", and then
 * the predicted time with its origin, unless predicted_us is 0. */
void show_why(FILE *out, const struct device_spec *device, const struct problem *problem,
	const struct score *score, const char *indent, double predicted_us, const char *kind);
/* Prints a speed such as "62.4 TFLOP/s". If memory limits the launch, or the problem needs
 * little computation, it adds ", 3900 GB/s", counting data that must be read and written once. */
void show_speed(FILE *out, int width, const struct problem *problem, const struct score *score,
	double time_us);
/* Prints how many candidates were rejected after compilation, for each rule of the family or
 * limit of the GPU. */
void show_removed(FILE *out, const struct problem_result *result);

#endif
