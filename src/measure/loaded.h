/* SPDX-License-Identifier: MIT
 *
 * A candidate in the worker: kernels, workspaces, tensor maps; ready to run on any set of its
 * problem's tensors.
 */
#ifndef MEASURE_LOADED_H
#define MEASURE_LOADED_H

#include "measure/candidate_kernels.h"
#include "measure/problem_data.h"

/* A variable of the code that kernels may write. */
struct loaded_global {
	CUdeviceptr at, original; /* original 0: all bytes are 0 at first */
	size_t bytes;
};

struct loaded {
	struct problem_data *problem; /* NULL: a kernel without tensors (the anchor) */
	struct plan plan;
	struct kernel_library library;
	struct kernel_resources *resources; /* per launch */
	struct arena workspaces;
	size_t set_count;
	CUdeviceptr *buffers;     /* plan.buffer_count of each set, also of made inputs */
	CUtensorMap *tensor_maps; /* plan.tensor_map_count of each */
	struct failure failure;   /* outcome not ok: it did not load, and this is why */
	CUdeviceptr *symbols;     /* of the plan, where they lie */
	struct loaded_global *globals;
	size_t global_count;
};

/* Takes the plan. A candidate that does not load is no error: loaded->failure says why. */
void loaded_init(struct gpu_session *gpu, struct loaded *loaded, struct problem_data *problem,
	struct plan *plan, const struct text *cubins, size_t cubin_count);
void loaded_release(struct gpu_session *gpu, struct loaded *loaded);
/* Copies a set's tensors to the symbols, which a kernel may have changed: before a verified run. */
bool loaded_fill_symbols(struct gpu_session *gpu, const struct loaded *loaded, size_t set);
/* Variables of the code hold what they held when it was loaded; the symbols of the plan follow with
 * loaded_fill_symbols(). */
bool loaded_reset_globals(struct gpu_session *gpu, const struct loaded *loaded);
/* Queues one run on a set: workspaces that want it are zeroed, all launches follow. */
bool loaded_run(struct gpu_session *gpu, const struct loaded *loaded, size_t set);
/* Number of stream operations in a run. */
size_t loaded_operations(const struct loaded *loaded);

#endif
