/* SPDX-License-Identifier: MIT
 *
 * Times and verifies the same runs on new inputs, to find kernels that cheat (README.md).
 */
#ifndef MEASURE_RETEST_H
#define MEASURE_RETEST_H

#include "measure/runner.h"

/* Takes one sample with poisoned outputs; a random set holds the second inputs. Verifies results
 * and memory. */
bool retest_sample(
	struct gpu_session *gpu, struct runner *runner, struct result *result, double *sample_us);
/* Takes two verified samples with fresh inputs and poisoned outputs, which use no set twice. The
 * second one follows a reset of variables and workspaces; if it is slower, a third replaces the
 * first. *time_us gets the faster time, or the median if group sizes differ. */
bool retest_series(struct gpu_session *gpu, const struct runner *runner, struct device_reply *reply,
	double *time_us);
/* Returns whether the second series contradicts the first. */
bool retest_is_slower(double time_us, double retest_us);

#endif
