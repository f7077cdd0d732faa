/* SPDX-License-Identifier: MIT
 *
 * Do two kernels compute the same? The output is poisoned with NaN, each runs on set 0, rows of
 * what they wrote are compared on the host by the relative norm |ours - theirs| / |theirs|.
 */
#ifndef VERSUS_AGREE_H
#define VERSUS_AGREE_H

#include "bench/versus/interleaved.h"

/* output: the tensor; data: where its set 0 lies. *difference: NaN if an element was not written.
 */
bool agree_measure(struct gpu_session *gpu, const struct timed_run *ours,
	const struct timed_run *theirs, const struct plan_buffer *output, CUdeviceptr data,
	double *difference);
/* What two right kernels may differ by: rounding of inputs' products and of the output. */
double agree_limit(enum dtype in, enum dtype out);

#endif
