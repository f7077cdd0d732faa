/* SPDX-License-Identifier: MIT
 *
 * A loaded candidate can run on any set of its problem's tensors.
 */
#ifndef MEASURE_LOADED_H
#define MEASURE_LOADED_H

#include "measure/candidate_kernels.h"
#include "measure/problem_data.h"

struct loaded_global {
	CUdeviceptr at, original; /* original is 0 if all bytes were 0 */
	size_t bytes;
};

struct loaded {
	struct problem_data *problem; /* NULL for the anchor */
	struct plan plan;
	struct kernel_library library;
	struct kernel_resources *resources; /* one for each launch */
	struct arena workspaces;
	size_t set_count;
	CUdeviceptr *buffers;     /* addresses for each set, including probe inputs */
	CUtensorMap *tensor_maps; /* per set */
	struct failure failure;   /* why the candidate does not load; else ok */
	CUdeviceptr *symbols;     /* addresses of variables; 0 if unused */
	struct loaded_global *globals;
	size_t global_count;
};

/* Takes ownership of the plan. Sets loaded->failure if the candidate does not load. */
void loaded_init(struct gpu_session *gpu, struct loaded *loaded, struct problem_data *problem,
	struct plan *plan, char *const *cubins, size_t cubin_count);
void loaded_release(struct gpu_session *gpu, struct loaded *loaded);
/* Copies a set's tensors to the variables that the kernel reads, before each verified run. */
bool loaded_fill_symbols(struct gpu_session *gpu, const struct loaded *loaded, size_t set);
/* Resets variables and workspaces, so that the kernel remembers nothing. Call loaded_fill_symbols()
 * next. */
bool loaded_reset(struct gpu_session *gpu, const struct loaded *loaded);
/* Zeroes workspaces, and queues all launches. */
bool loaded_run(struct gpu_session *gpu, const struct loaded *loaded, size_t set);
/* Returns the number of stream operations of a run. */
size_t loaded_operations(const struct loaded *loaded);

#endif
