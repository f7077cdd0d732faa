/* SPDX-License-Identifier: MIT
 *
 * A candidate that is loaded in the worker, with its kernels, workspaces and tensor maps. It can
 * run on any set of its problem's tensors.
 */
#ifndef MEASURE_LOADED_H
#define MEASURE_LOADED_H

#include "measure/candidate_kernels.h"
#include "measure/problem_data.h"

/* A variable in device memory that kernels may write to. */
struct loaded_global {
	CUdeviceptr at, original; /* original is 0 if all bytes are initially 0 */
	size_t bytes;
};

struct loaded {
	struct problem_data *problem; /* NULL: a kernel without tensors (the anchor) */
	struct plan plan;
	struct kernel_library library;
	struct kernel_resources *resources; /* per launch */
	struct arena workspaces;
	size_t set_count;
	CUdeviceptr *buffers;     /* plan.buffer_count per set, including sets of probe inputs */
	CUtensorMap *tensor_maps; /* plan.tensor_map_count per set */
	struct failure failure;   /* the reason if loading failed, else outcome ok */
	CUdeviceptr *symbols;     /* addresses of the plan's symbols; 0 if unused in the code */
	struct loaded_global *globals;
	size_t global_count;
};

/* Takes the plan. If the candidate does not load, loaded->failure contains the reason. */
void loaded_init(struct gpu_session *gpu, struct loaded *loaded, struct problem_data *problem,
	struct plan *plan, char *const *cubins, size_t cubin_count);
void loaded_release(struct gpu_session *gpu, struct loaded *loaded);
/* Queues copies of a set's tensors to the symbols. Needed before each verified run, because a
 * kernel may have changed the symbols. */
bool loaded_fill_symbols(struct gpu_session *gpu, const struct loaded *loaded, size_t set);
/* Restores the variables of the code and the workspaces to their contents at load time, so that the
 * kernel remembers no earlier launch. Symbols of the plan also need loaded_fill_symbols(). */
bool loaded_reset(struct gpu_session *gpu, const struct loaded *loaded);
/* Queues one run on a set: first the zeroing of workspaces, where required, then all launches. */
bool loaded_run(struct gpu_session *gpu, const struct loaded *loaded, size_t set);
/* Returns the number of stream operations in a run. */
size_t loaded_operations(const struct loaded *loaded);

#endif
