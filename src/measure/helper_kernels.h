/* SPDX-License-Identifier: MIT
 *
 * Launches of the helper kernels (templates/common/helpers.cu); all asynchronous.
 */
#ifndef MEASURE_HELPER_KERNELS_H
#define MEASURE_HELPER_KERNELS_H

#include "measure/gpu_session.h"

bool helper_fill(struct gpu_session *gpu, CUdeviceptr data, const struct plan_buffer *tensor,
	uint64_t seed, struct failure *failure);
bool helper_poison(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern,
	struct failure *failure);
/* counter: index into the scratch's counters; bad bytes are added to it. */
bool helper_guard_check(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern,
	size_t counter, struct failure *failure);
bool helper_checksum(struct gpu_session *gpu, CUdeviceptr data, uint64_t rows, uint64_t row_bytes,
	uint64_t pitch_bytes, size_t counter, struct failure *failure);
/* Into the scratch's compare result. */
bool helper_compare(struct gpu_session *gpu, CUdeviceptr out, const struct plan_buffer *tensor,
	CUdeviceptr units, uint64_t unit_count, uint64_t unit_size, CUdeviceptr expected,
	double tolerance_abs, double tolerance_rel, struct failure *failure);
/* Keeps the GPU busy for about 50 us, so that what is queued behind it starts without a gap. */
bool helper_spacer(struct gpu_session *gpu, struct failure *failure);
bool scratch_clear(struct gpu_session *gpu, struct failure *failure);
/* Waits for everything queued, then copies. */
bool scratch_read(struct gpu_session *gpu, struct helper_compare_result *result, uint64_t *counters,
	size_t counter_count, struct failure *failure);

#endif
