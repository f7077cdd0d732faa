/* SPDX-License-Identifier: MIT
 *
 * Retests candidates that may cheat. A kernel can return at once if its output exists already,
 * count its launches, or store results. Such a kernel looks fast while it is timed, and correct
 * while it is verified. The retest times and verifies the same runs, on inputs that the kernel has
 * not seen before.
 */
#ifndef MEASURE_RETEST_H
#define MEASURE_RETEST_H

#include "measure/runner.h"

/* Takes one more sample, with poisoned outputs. A random one of its sets holds the second inputs.
 * Then verifies the results and the memory. */
bool retest_sample(
	struct gpu_session *gpu, struct runner *runner, struct result *result, double *sample_us);
/* Takes the second timed series: two samples with fresh inputs and poisoned outputs, which use no
 * set twice, and verifies each of them. Before the second one, the kernel's variables and
 * workspaces are reset; if it is slower, a third sample replaces the first. *time_us is the time of
 * the faster sample, or the median if samples differ in their group sizes. */
bool retest_series(struct gpu_session *gpu, const struct runner *runner, struct device_reply *reply,
	double *time_us);
/* Returns whether the time of the second series contradicts that of the first. Pure function. */
bool retest_is_slower(double time_us, double retest_us);

#endif
