/* SPDX-License-Identifier: MIT */
#include "measure/loaded.h"

#include "compile/cubin.h"
#include "plan/tensor_map.h"

static bool gpu_zero(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes)
{
	return GPU_CALL(gpu, "zeroing a workspace", cuMemsetD8Async, data, 0, bytes, gpu->stream);
}

static bool workspaces_reset(struct gpu_session *gpu, const struct loaded *loaded)
{
	const size_t first = loaded->plan.tensor_count;

	for (size_t i = first; i < loaded->plan.buffer_count; i++) {
		const struct plan_buffer *buffer = &loaded->plan.buffers[i];
		const CUdeviceptr data = loaded->workspaces.buffers[i - first];

		if (buffer->bytes &&
			!(buffer->init == BUFFER_INIT_NONE ? helper_poison(gpu, data, buffer->bytes,
								     helper_workspace_poison)
							   : gpu_zero(gpu, data, buffer->bytes)))
			return false;
	}
	return true;
}

static bool workspaces_make(struct gpu_session *gpu, struct loaded *loaded)
{
	size_t first = loaded->plan.tensor_count, count = loaded->plan.buffer_count - first;
	CLEANUP(memory_free) uint64_t *sizes = memory_zeroed(count + 1, sizeof(*sizes));

	for (size_t i = 0; i < count; i++)
		sizes[i] = loaded->plan.buffers[first + i].bytes;
	return (!count || arena_allocate(gpu, sizes, count, 1, &loaded->workspaces)) &&
	       workspaces_reset(gpu, loaded);
}

static bool tensor_map_encode(struct gpu_session *gpu, const struct plan_tensor_map *map,
	CUdeviceptr address, CUtensorMap *encoded)
{
	cuuint64_t dims[TENSOR_MAP_RANK_MAX], strides[TENSOR_MAP_RANK_MAX] = {0};
	cuuint32_t box[TENSOR_MAP_RANK_MAX], ones[TENSOR_MAP_RANK_MAX];
	struct error err = {0};
	char what[PLAN_NAME_SIZE + 16];

	/* the kernel ignores the bytes of an unused map */
	if (map->rank == 0) {
		memset(encoded, 0, sizeof(*encoded));
		return true;
	}
	if (plan_tensor_map_check(map, &err) != STATUS_OK)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "%s", err.message);
	for (size_t i = 0; i < map->rank; i++) {
		dims[i] = map->dims[i];
		box[i] = map->box[i];
		ones[i] = 1;
		if (i + 1 < map->rank)
			strides[i] = map->strides[i];
	}
	string_put(what, sizeof(what), "tensor map ");
	string_put(what + strlen(what), sizeof(what) - strlen(what), map->name);
	return GPU_CALL(gpu, what, cuTensorMapEncodeTiled, encoded, tensor_map_type(map->dtype),
		(cuuint32_t)map->rank, (void *)(uintptr_t)address, dims, strides, box, ones,
		CU_TENSOR_MAP_INTERLEAVE_NONE, tensor_map_swizzle(map->swizzle_bytes),
		tensor_map_promotion(map->l2_promotion_bytes), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static bool sets_make(struct gpu_session *gpu, struct loaded *loaded)
{
	const struct plan *plan = &loaded->plan;
	size_t maps = plan->tensor_map_count, sets;

	loaded->set_count = loaded->problem ? loaded->problem->set_count : 1;
	sets = loaded->set_count + (loaded->problem ? loaded->problem->probe_count : 0);
	loaded->buffers = memory_zeroed(sets * plan->buffer_count + 1, sizeof(*loaded->buffers));
	/* the driver requires alignment to 64 bytes */
	if (maps) {
		size_t bytes = sets * maps * sizeof(CUtensorMap);

		loaded->tensor_maps = aligned_alloc(64, bytes);
		if (!loaded->tensor_maps)
			return gpu_fail(
				gpu, OUTCOME_OUT_OF_MEMORY, "no host memory for the tensor maps");
	}
	for (size_t set = 0; set < sets; set++) {
		CUdeviceptr *buffers = &loaded->buffers[set * plan->buffer_count];

		for (size_t i = 0; i < plan->buffer_count; i++)
			buffers[i] = i < plan->tensor_count
					     ? problem_tensor(loaded->problem, set, i)
					     : loaded->workspaces.buffers[i - plan->tensor_count];
		for (size_t i = 0; i < maps; i++) {
			const struct plan_tensor_map *map = &plan->tensor_maps[i];

			if (!tensor_map_encode(gpu, map, buffers[map->buffer],
				    &loaded->tensor_maps[set * maps + i]))
				return false;
		}
	}
	return true;
}

/* Finds each tensor's variable, which must be as large as the tensor. If its unit lacks the
 * variable (address 0), another unit must have it. */
static bool symbols_find(struct gpu_session *gpu, struct loaded *loaded)
{
	const struct plan *plan = &loaded->plan;
	CUdeviceptr *places = memory_zeroed(plan->symbol_count + 1, sizeof(*places));

	loaded->symbols = places;
	for (size_t i = 0; i < plan->symbol_count; i++) {
		const struct plan_symbol *symbol = &plan->symbols[i];
		const struct plan_buffer *tensor = &plan->buffers[symbol->buffer];
		size_t bytes = 0;

		if (symbol->unit >= loaded->library.library_count ||
			gpu->cuda.cuLibraryGetGlobal(&places[i], &bytes,
				loaded->library.libraries[symbol->unit],
				symbol->name) != CUDA_SUCCESS)
			places[i] = 0;
		else if (bytes < tensor->bytes)
			return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
				"tensor %s has %llu bytes, but the variable %s has only %zu",
				tensor->name, (unsigned long long)tensor->bytes, symbol->name,
				bytes);
	}
	for (size_t i = 0; i < plan->symbol_count; i++) {
		bool found = false;

		for (size_t k = 0; k < plan->symbol_count; k++)
			found |= places[k] &&
				 strcmp(plan->symbols[k].name, plan->symbols[i].name) == 0;
		if (!found)
			return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
				"no kernel uses a __constant__ or __device__ variable named %s",
				plan->symbols[i].name);
	}
	return true;
}

bool loaded_fill_symbols(struct gpu_session *gpu, const struct loaded *loaded, size_t set)
{
	const struct plan *plan = &loaded->plan;

	for (size_t i = 0; i < plan->symbol_count; i++) {
		const struct plan_symbol *symbol = &plan->symbols[i];
		const uint64_t bytes = plan->buffers[symbol->buffer].bytes;

		if (loaded->symbols[i] && bytes &&
			!GPU_CALL(gpu, symbol->name, cuMemcpyDtoDAsync, loaded->symbols[i],
				loaded->buffers[set * plan->buffer_count + symbol->buffer], bytes,
				gpu->stream))
			return false;
	}
	return true;
}

/* The driver does not know variables that were optimised away. */
static bool global_add(struct gpu_session *gpu, struct loaded *loaded, CUlibrary library,
	const struct cubin_variable *variable)
{
	struct loaded_global global = {0};

	if (gpu->cuda.cuLibraryGetGlobal(&global.at, &global.bytes, library, variable->name) !=
			CUDA_SUCCESS ||
		!global.bytes)
		return true;
	if (!variable->is_zeroed &&
		(!gpu_allocate(gpu, global.bytes, &global.original) ||
			!helper_copy(gpu, global.original, global.at, global.bytes)))
		return false;
	loaded->globals =
		memory_resize(loaded->globals, loaded->global_count + 1, sizeof(*loaded->globals));
	loaded->globals[loaded->global_count++] = global;
	return true;
}

static bool globals_find(struct gpu_session *gpu, struct loaded *loaded, const struct text *code)
{
	for (size_t i = 0; i < loaded->library.library_count; i++) {
		struct cubin cubin;
		struct cubin_variable variable;
		struct error ignored;

		if (cubin_open(&cubin, code[i].data, code[i].length, &ignored) != STATUS_OK)
			continue;
		for (size_t k = 0; cubin_variable_at(&cubin, k, &variable); k++)
			if (!variable.is_constant &&
				!global_add(gpu, loaded, loaded->library.libraries[i], &variable))
				return false;
	}
	return true;
}

bool loaded_reset(struct gpu_session *gpu, const struct loaded *loaded)
{
	for (size_t i = 0; i < loaded->global_count; i++) {
		const struct loaded_global *global = &loaded->globals[i];

		if (!(global->original
				    ? helper_copy(gpu, global->at, global->original, global->bytes)
				    : gpu_zero(gpu, global->at, global->bytes)))
			return false;
	}
	return workspaces_reset(gpu, loaded);
}

static bool load_code(
	struct gpu_session *gpu, struct loaded *loaded, const struct text *code, size_t unit_count)
{
	const struct plan *plan = &loaded->plan;

	if (!kernel_library_load(
		    gpu, code, unit_count, plan->launches, plan->launch_count, &loaded->library))
		return false;
	loaded->resources = memory_zeroed(plan->launch_count + 1, sizeof(*loaded->resources));
	for (size_t i = 0; i < plan->launch_count; i++)
		if (!kernel_inspect(
			    gpu, &loaded->library, &plan->launches[i], i, &loaded->resources[i]))
			return false;
	return symbols_find(gpu, loaded) && globals_find(gpu, loaded, code) &&
	       workspaces_make(gpu, loaded) && sets_make(gpu, loaded) &&
	       loaded_fill_symbols(gpu, loaded, 0) && gpu_synchronize(gpu, "loading");
}

void loaded_init(struct gpu_session *gpu, struct loaded *loaded, struct problem_data *problem,
	struct plan *plan, char *const *cubins, size_t cubin_count)
{
	struct text *code = NULL;

	*loaded = (struct loaded){.problem = problem, .plan = *plan};
	*plan = (struct plan){0};
	if (problem)
		problem->users++;
	if ((problem && !problem_data_prepare(gpu, problem)) ||
		!kernel_files_read(gpu, cubins, cubin_count, &code) ||
		!load_code(gpu, loaded, code, cubin_count))
		loaded->failure = gpu->failure;
	kernel_files_release(code, cubin_count);
}

void loaded_release(struct gpu_session *gpu, struct loaded *loaded)
{
	if (loaded->problem)
		loaded->problem->users--;
	for (size_t i = 0; i < loaded->global_count; i++)
		gpu_release(gpu, loaded->globals[i].original, loaded->globals[i].bytes);
	free(loaded->globals);
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
