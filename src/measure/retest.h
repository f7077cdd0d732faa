/* SPDX-License-Identifier: MIT
 *
 * A kernel can return at once if its output exists, count its launches, or store results: it looks
 * fast while it is timed, and correct while it is verified. The retest times and verifies the same
 * runs, on new inputs.
 */
#ifndef MEASURE_RETEST_H
#define MEASURE_RETEST_H

#include "measure/runner.h"

/* One more sample with poisoned outputs, where a random set holds the second inputs. Verifies
 * results and memory. */
bool retest_sample(
	struct gpu_session *gpu, struct runner *runner, struct result *result, double *sample_us);
/* The second series: two verified samples with fresh inputs and poisoned outputs, which use no set
 * twice. Variables and workspaces are reset before the second; if it is slower, a third replaces
 * the first. *time_us: the faster time, or the median if group sizes differ. */
bool retest_series(struct gpu_session *gpu, const struct runner *runner, struct device_reply *reply,
	double *time_us);
/* The second series contradicts the first. Pure function. */
bool retest_is_slower(double time_us, double retest_us);

#endif
