/* SPDX-License-Identifier: MIT
 *
 * Loads, inspects and launches the kernels of a plan.
 */
#ifndef MEASURE_CANDIDATE_KERNELS_H
#define MEASURE_CANDIDATE_KERNELS_H

#include "measure/gpu_session.h"

struct kernel_library {
	CUlibrary *libraries; /* one for each cubin */
	size_t library_count;
	CUfunction *functions; /* one for each launch */
};

/* Values of kernel arguments; unused members may be 0. */
struct kernel_arguments {
	const CUdeviceptr *buffers;
	const CUtensorMap *tensor_maps;
	CUdeviceptr units, expected;
	uint64_t unit_count;
};

/* The caller calls kernel_files_release(), also on failure. */
bool kernel_files_read(
	struct gpu_session *gpu, char *const *files, size_t count, struct text **code);
void kernel_files_release(struct text *code, size_t count);
/* Also permits kernels dynamic shared memory and clusters of more than 8 blocks. After a failure
 * nothing stays loaded, unless the context is lost. */
bool kernel_library_load(struct gpu_session *gpu, const struct text *code, size_t unit_count,
	const struct plan_launch *launches, size_t launch_count, struct kernel_library *library);
void kernel_library_unload(struct gpu_session *gpu, struct kernel_library *library);

/* Ignores the launch's `repeat`. */
bool kernel_launch(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, const struct kernel_arguments *arguments);

/* Fails with OUTCOME_LAUNCH_FAILED if no block or cluster fits on the GPU. */
bool kernel_inspect(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, struct kernel_resources *resources);

#endif
