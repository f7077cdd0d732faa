/* SPDX-License-Identifier: MIT */
#include "measure/loaded.h"

static bool tensors_match(struct gpu_session *gpu, const struct loaded *loaded)
{
	const struct problem_data *problem = loaded->problem;
	size_t count = problem ? problem->told.reference.tensor_count : 0;

	if (loaded->plan.tensor_count != count || loaded->plan.buffer_count < count)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
			"the plan: expected the problem's %zu tensors, found %zu", count,
			loaded->plan.tensor_count);
	for (size_t i = 0; i < count; i++)
		if (loaded->plan.buffers[i].bytes != problem->told.reference.tensors[i].bytes)
			return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
				"the plan: tensor %s: expected %llu bytes, found %llu",
				loaded->plan.buffers[i].name,
				(unsigned long long)problem->told.reference.tensors[i].bytes,
				(unsigned long long)loaded->plan.buffers[i].bytes);
	return true;
}

static bool gpu_zero(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes)
{
	return gpu_succeeded(
		gpu, gpu->cuda.cuMemsetD8Async(data, 0, bytes, gpu->stream), "zeroing a workspace");
}

static bool workspaces_make(struct gpu_session *gpu, struct loaded *loaded)
{
	size_t first = loaded->plan.tensor_count, count = loaded->plan.buffer_count - first;
	CLEANUP(memory_free) uint64_t *sizes = memory_zeroed(count + 1, sizeof(*sizes));

	for (size_t i = 0; i < count; i++)
		sizes[i] = loaded->plan.buffers[first + i].bytes;
	if (count && !arena_allocate(gpu, sizes, count, 1, &loaded->workspaces))
		return false;
	for (size_t i = 0; i < count; i++) {
		CUdeviceptr data = loaded->workspaces.buffers[i];
		const bool poisoned = loaded->plan.buffers[first + i].init == BUFFER_INIT_NONE;

		if (sizes[i] &&
			!(poisoned ? helper_poison(gpu, data, sizes[i], helper_workspace_poison)
				   : gpu_zero(gpu, data, sizes[i])))
			return false;
	}
	return true;
}

static bool sets_make(struct gpu_session *gpu, struct loaded *loaded)
{
	const struct plan *plan = &loaded->plan;
	size_t maps = plan->tensor_map_count, sets;

	loaded->set_count = loaded->problem ? loaded->problem->set_count : 1;
	sets = loaded->set_count + (loaded->problem ? loaded->problem->made_count : 0);
	loaded->buffers = memory_zeroed(sets * plan->buffer_count + 1, sizeof(*loaded->buffers));
	/* The driver wants descriptors at multiples of 64 bytes. */
	if (maps) {
		size_t bytes = sets * maps * sizeof(CUtensorMap);

		loaded->tensor_maps = aligned_alloc(64, bytes);
		if (!loaded->tensor_maps)
			return gpu_fail(gpu, OUTCOME_OUT_OF_MEMORY, "tensor maps");
	}
	for (size_t set = 0; set < sets; set++) {
		CUdeviceptr *buffers = &loaded->buffers[set * plan->buffer_count];

		for (size_t i = 0; i < plan->buffer_count; i++)
			buffers[i] = i < plan->tensor_count
					     ? problem_tensor(loaded->problem, set, i)
					     : loaded->workspaces.buffers[i - plan->tensor_count];
		for (size_t i = 0; i < maps; i++) {
			const struct plan_tensor_map *map = &plan->tensor_maps[i];

			if (map->buffer >= plan->buffer_count)
				return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
					"tensor map %s refers to no buffer", map->name);
			if (!tensor_map_encode(gpu, map, buffers[map->buffer],
				    &loaded->tensor_maps[set * maps + i]))
				return false;
		}
	}
	return true;
}

bool loaded_fill_symbols(struct gpu_session *gpu, const struct loaded *loaded)
{
	return kernel_symbols_fill(gpu, &loaded->plan, loaded->symbols, loaded->buffers);
}

static bool load(struct gpu_session *gpu, struct loaded *loaded, const struct text *cubins,
	size_t cubin_count)
{
	const struct plan *plan = &loaded->plan;

	if (!tensors_match(gpu, loaded) ||
		!kernel_library_load(gpu, cubins, cubin_count, plan->launches, plan->launch_count,
			&loaded->library))
		return false;
	loaded->resources = memory_zeroed(plan->launch_count + 1, sizeof(*loaded->resources));
	for (size_t i = 0; i < plan->launch_count; i++)
		if (!kernel_inspect(
			    gpu, &loaded->library, &plan->launches[i], i, &loaded->resources[i]))
			return false;
	loaded->symbols = memory_zeroed(plan->symbol_count + 1, sizeof(*loaded->symbols));
	return kernel_symbols_find(gpu, &loaded->library, plan, loaded->symbols) &&
	       workspaces_make(gpu, loaded) && sets_make(gpu, loaded) &&
	       loaded_fill_symbols(gpu, loaded) && gpu_synchronize(gpu, "loading");
}

void loaded_init(struct gpu_session *gpu, struct loaded *loaded, struct problem_data *problem,
	struct plan *plan, const struct text *cubins, size_t cubin_count)
{
	*loaded = (struct loaded){.problem = problem, .plan = *plan};
	*plan = (struct plan){0};
	if (problem)
		problem->users++;
	if ((problem && !problem_data_prepare(gpu, problem)) ||
		!load(gpu, loaded, cubins, cubin_count))
		loaded->failure = gpu->failure;
}

void loaded_release(struct gpu_session *gpu, struct loaded *loaded)
{
	if (loaded->problem)
		loaded->problem->users--;
	kernel_library_unload(gpu, &loaded->library);
	arena_release(gpu, &loaded->workspaces);
	plan_release(&loaded->plan);
	free(loaded->resources);
	free(loaded->buffers);
	free(loaded->tensor_maps);
	free(loaded->symbols);
	*loaded = (struct loaded){0};
}

bool loaded_run(struct gpu_session *gpu, const struct loaded *loaded, size_t set)
{
	const struct plan *plan = &loaded->plan;
	struct kernel_arguments arguments = {
		.buffers = &loaded->buffers[set * plan->buffer_count],
		.tensor_maps = loaded->tensor_maps
				       ? &loaded->tensor_maps[set * plan->tensor_map_count]
				       : NULL,
	};

	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++)
		if (plan->buffers[i].init == BUFFER_INIT_EACH && plan->buffers[i].bytes &&
			!gpu_zero(gpu, arguments.buffers[i], plan->buffers[i].bytes))
			return false;
	for (size_t i = 0; i < plan->launch_count; i++)
		for (uint32_t j = 0; j < plan->launches[i].shape.repeat; j++)
			if (!kernel_launch(
				    gpu, &loaded->library, &plan->launches[i], i, &arguments))
				return false;
	return true;
}

size_t loaded_operations(const struct loaded *loaded)
{
	size_t count = 0;

	for (size_t i = loaded->plan.tensor_count; i < loaded->plan.buffer_count; i++)
		count += loaded->plan.buffers[i].init == BUFFER_INIT_EACH;
	for (size_t i = 0; i < loaded->plan.launch_count; i++)
		count += loaded->plan.launches[i].shape.repeat;
	return count;
}
