/* SPDX-License-Identifier: MIT
 *
 * Checks whether two kernels compute the same. The output is poisoned with NaN, each kernel runs on
 * set 0, and rows of their outputs are compared on the host by the relative norm |ours - theirs| /
 * |theirs|.
 */
#ifndef VERSUS_AGREE_H
#define VERSUS_AGREE_H

#include "bench/versus/interleaved.h"

/* output is the tensor, and data is the address of its set 0. *difference is NaN if an element was
 * not written. */
bool agree_measure(struct gpu_session *gpu, const struct timed_run *ours,
	const struct timed_run *theirs, const struct plan_buffer *output, CUdeviceptr data,
	double *difference);
/* Maximum difference between two correct kernels, by rounding of products and of the output. */
double agree_limit(enum dtype in, enum dtype out);

#endif
