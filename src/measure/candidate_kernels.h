/* SPDX-License-Identifier: MIT
 *
 * The kernels of a plan, loaded from their cubins: functions, attributes, arguments, launches.
 */
#ifndef MEASURE_CANDIDATE_KERNELS_H
#define MEASURE_CANDIDATE_KERNELS_H

#include "measure/gpu_session.h"

struct kernel_library {
	CUlibrary *libraries; /* one per cubin */
	size_t library_count;
	CUfunction *functions; /* one per launch */
};

/* What the arguments of launches refer to; those that a plan does not name may be left 0. */
struct kernel_arguments {
	const CUdeviceptr *buffers;
	const CUtensorMap *tensor_maps;
	CUdeviceptr units, expected;
	uint64_t unit_count;
};

/* Loads, and allows each function its dynamic shared memory and clusters of more than 8 blocks. */
bool kernel_library_load(struct gpu_session *gpu, const struct text *cubins, size_t cubin_count,
	const struct plan_launch *launches, size_t launch_count, struct kernel_library *library);
void kernel_library_unload(struct gpu_session *gpu, struct kernel_library *library);

/* Queues one launch; its `repeat` is the caller's business. */
bool kernel_launch(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, const struct kernel_arguments *arguments);

/* What the driver says: registers, static shared memory, blocks per SM, clusters. A launch that
 * does not fit on an SM is a failure (launch_failed). */
bool kernel_inspect(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, struct kernel_resources *resources);

#endif
