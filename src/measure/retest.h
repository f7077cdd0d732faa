/* SPDX-License-Identifier: MIT
 *
 * What a candidate goes through because it may have been written to win rather than to work:
 * kernels that return at once if their output is there already, that count launches, or that
 * remember results look fast while they are timed, and right while they are verified. Here both
 * happens to the same runs, on inputs that the kernel has not met.
 */
#ifndef MEASURE_RETEST_H
#define MEASURE_RETEST_H

#include "base/random.h"
#include "measure/runner.h"

/* One more sample, on cleared outputs. One of its sets, which chance decides, holds the second
 * inputs. Verified afterwards, as is all memory. */
bool retest_sample(struct gpu_session *gpu, struct runner *runner, struct random_state *random,
	struct result *result, double *sample_us);
/* The second timed series: two samples, each on fresh inputs and cleared outputs and with no set
 * twice; each verified. *time_us: the faster one. */
bool retest_series(struct gpu_session *gpu, const struct runner *runner,
	struct random_state *random, struct device_reply *reply, double *time_us);
/* Pure function: whether the second series contradicts the first one. */
bool retest_is_slower(double time_us, double retest_us);

#endif
