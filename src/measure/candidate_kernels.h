/* SPDX-License-Identifier: MIT
 *
 * Loads the kernels of a plan from their cubins, inspects them, and launches them.
 */
#ifndef MEASURE_CANDIDATE_KERNELS_H
#define MEASURE_CANDIDATE_KERNELS_H

#include "measure/gpu_session.h"

struct kernel_library {
	CUlibrary *libraries; /* one per cubin */
	size_t library_count;
	CUfunction *functions; /* one per launch */
};

/* The objects that the arguments of launches refer to. Members that the plan does not use may be
 * 0. */
struct kernel_arguments {
	const CUdeviceptr *buffers;
	const CUtensorMap *tensor_maps;
	CUdeviceptr units, expected;
	uint64_t unit_count;
};

/* Reads the files of the code of `count` build units. The caller releases the list with
 * kernel_files_release(), also on failure. */
bool kernel_files_read(
	struct gpu_session *gpu, char *const *files, size_t count, struct text **code);
void kernel_files_release(struct text *code, size_t count);
/* Loads the code, and enables dynamic shared memory and clusters of more than 8 blocks for the
 * functions that need them. A failure unloads everything, unless the context is lost. */
bool kernel_library_load(struct gpu_session *gpu, const struct text *code, size_t unit_count,
	const struct plan_launch *launches, size_t launch_count, struct kernel_library *library);
void kernel_library_unload(struct gpu_session *gpu, struct kernel_library *library);

/* Queues one launch. The caller repeats it as often as the launch's `repeat` says. */
bool kernel_launch(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, const struct kernel_arguments *arguments);

/* Asks the driver for registers, static shared memory, blocks per SM and clusters. Fails with
 * OUTCOME_LAUNCH_FAILED if a block or a cluster does not fit on the GPU. */
bool kernel_inspect(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, struct kernel_resources *resources);

#endif
