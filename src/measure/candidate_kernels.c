/* SPDX-License-Identifier: MIT */
#include "measure/candidate_kernels.h"

#include "compile/compiler.h"

enum {
	CLUSTER_PORTABLE_MAX = 8,
	ARGUMENTS_MAX = 64,
};

static uint64_t cluster_size(const struct plan_launch *launch)
{
	return (uint64_t)launch->shape.cluster[0] * launch->shape.cluster[1] *
	       launch->shape.cluster[2];
}

static bool attribute_set(struct gpu_session *gpu, CUfunction function,
	CUfunction_attribute attribute, uint32_t value, const struct plan_launch *launch)
{
	return GPU_CALL(gpu, launch->entry, cuFuncSetAttribute, function, attribute, (int)value);
}

static bool function_load(struct gpu_session *gpu, struct kernel_library *library,
	const struct plan_launch *launch, CUfunction *function)
{
	CUkernel kernel;

	if (launch->argument_count > ARGUMENTS_MAX)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
			"%s: a kernel takes at most %d arguments, but the launch has %zu",
			launch->entry, (int)ARGUMENTS_MAX, launch->argument_count);
	if (!GPU_CALL(gpu, launch->entry, cuLibraryGetKernel, &kernel,
		    library->libraries[launch->unit], launch->entry) ||
		!GPU_CALL(gpu, launch->entry, cuKernelGetFunction, function, kernel))
		return false;
	if (launch->shape.smem_dynamic_bytes &&
		!attribute_set(gpu, *function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			launch->shape.smem_dynamic_bytes, launch))
		return false;
	return cluster_size(launch) <= CLUSTER_PORTABLE_MAX ||
	       attribute_set(gpu, *function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
		       launch);
}

bool kernel_files_read(
	struct gpu_session *gpu, char *const *files, size_t count, struct text **code)
{
	struct error err = {0};

	*code = memory_zeroed(count + 1, sizeof(**code));
	for (size_t i = 0; i < count; i++)
		if (kernel_code_read(files[i], &(*code)[i], &err) != STATUS_OK)
			return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "%s", err.message);
	return true;
}

void kernel_files_release(struct text *code, size_t count)
{
	for (size_t i = 0; code && i < count; i++)
		text_release(&code[i]);
	free(code);
}

bool kernel_library_load(struct gpu_session *gpu, const struct text *code, size_t unit_count,
	const struct plan_launch *launches, size_t launch_count, struct kernel_library *library)
{
	bool done = true;

	*library = (struct kernel_library){0};
	library->libraries = memory_zeroed(unit_count + 1, sizeof(*library->libraries));
	library->functions = memory_zeroed(launch_count + 1, sizeof(*library->functions));
	for (size_t i = 0; done && i < unit_count; i++) {
		if (code[i].length == 0)
			done = gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "the cubin is empty");
		else
			done = GPU_CALL(gpu, "loading the cubin", cuLibraryLoadData,
				&library->libraries[i], code[i].data, NULL, NULL, 0, NULL, NULL, 0);
		library->library_count += done;
	}
	for (size_t i = 0; done && i < launch_count; i++)
		done = function_load(gpu, library, &launches[i], &library->functions[i]);
	if (!done && !gpu->failure.fatal)
		kernel_library_unload(gpu, library);
	return done;
}

void kernel_library_unload(struct gpu_session *gpu, struct kernel_library *library)
{
	for (size_t i = 0; i < library->library_count; i++)
		gpu->cuda.cuLibraryUnload(library->libraries[i]);
	free(library->libraries);
	free(library->functions);
	*library = (struct kernel_library){0};
}

/* Returns the address of the argument's value: a tensor map or *bits, whose first bytes may be an
 * int32. */
static void *value_of(const struct plan_argument *argument,
	const struct kernel_arguments *arguments, uint64_t *bits)
{
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
		*bits = arguments->buffers[argument->index];
		break;
	case ARGUMENT_TENSOR_MAP:
		return (void *)(uintptr_t)&arguments->tensor_maps[argument->index];
	case ARGUMENT_UNITS:
		*bits = arguments->units;
		break;
	case ARGUMENT_UNIT_COUNT:
		*bits = arguments->unit_count;
		break;
	case ARGUMENT_EXPECTED:
		*bits = arguments->expected;
		break;
	default:
		*bits = plan_argument_bits(argument);
	}
	return bits;
}

bool kernel_launch(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, const struct kernel_arguments *arguments)
{
	uint64_t values[ARGUMENTS_MAX];
	void *pointers[ARGUMENTS_MAX];
	CUlaunchAttribute attributes[GPU_LAUNCH_ATTRIBUTES];
	const CUlaunchConfig config = gpu_launch_config(gpu, &launch->shape, attributes);

	for (size_t i = 0; i < launch->argument_count; i++)
		pointers[i] = value_of(&launch->arguments[i], arguments, &values[i]);
	return GPU_CALL(gpu, launch->entry, cuLaunchKernelEx, &config, library->functions[index],
		pointers, NULL);
}

static bool clusters_inspect(struct gpu_session *gpu, CUfunction function,
	const struct plan_launch *launch, struct kernel_resources *resources)
{
	CUlaunchAttribute attributes[GPU_LAUNCH_ATTRIBUTES];
	const CUlaunchConfig config = gpu_launch_config(gpu, &launch->shape, attributes);
	int clusters = 0;

	if (!GPU_CALL(
		    gpu, launch->entry, cuOccupancyMaxActiveClusters, &clusters, function, &config))
		return false;
	resources->max_clusters = clusters;
	return clusters >= 1 ||
	       gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "%s: no cluster of %llu blocks fits on the GPU",
		       launch->entry, (unsigned long long)cluster_size(launch));
}

static bool attribute_get(struct gpu_session *gpu, CUfunction function,
	CUfunction_attribute attribute, int *value, const struct plan_launch *launch)
{
	return GPU_CALL(gpu, launch->entry, cuFuncGetAttribute, value, attribute, function);
}

bool kernel_inspect(struct gpu_session *gpu, const struct kernel_library *library,
	const struct plan_launch *launch, size_t index, struct kernel_resources *resources)
{
	CUfunction function = library->functions[index];
	int64_t threads = launch_shape_threads(&launch->shape);
	int regs = 0, smem = 0, blocks = 0, most = 0;

	if (!attribute_get(gpu, function, CU_FUNC_ATTRIBUTE_NUM_REGS, &regs, launch) ||
		!attribute_get(gpu, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &smem, launch) ||
		!attribute_get(
			gpu, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most, launch))
		return false;
	*resources = (struct kernel_resources){
		.regs_per_thread = regs, .smem_static_bytes = smem, .max_clusters = -1};
	if (launch->is_tile) {
		threads = most;
		resources->threads_per_block = most;
	}
	if (threads > most)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
			"%s: the kernel runs with at most %d threads per block (%d registers per "
			"thread), but the launch has %lld",
			launch->entry, most, regs, (long long)threads);
	if (!GPU_CALL(gpu, launch->entry, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
		    function, (int)threads, launch->shape.smem_dynamic_bytes))
		return false;
	resources->blocks_per_sm = blocks;
	if (blocks < 1)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
			"%s: no block of %llu threads fits on an SM (%d registers per thread, %u B "
			"of shared memory)",
			launch->entry, (unsigned long long)threads, regs,
			(unsigned)smem + launch->shape.smem_dynamic_bytes);
	return cluster_size(launch) <= 1 || clusters_inspect(gpu, function, launch, resources);
}
