/* SPDX-License-Identifier: MIT
 *
 * Implements tiletune_launch.h: kernels with their tensors.
 */
#ifndef TILETUNE_LAUNCH_RUN_H
#define TILETUNE_LAUNCH_RUN_H

#include "launch_bundle.h"

static enum ttl_status ttl_encode(const struct ttl_run *run, const struct ttl_map *map,
	CUdeviceptr address, CUtensorMap *encoded, struct ttl_error *err)
{
	static const cuuint32_t ones[TTL_RANK_MAX] = {1, 1, 1, 1, 1};
	cuuint64_t dims[TTL_RANK_MAX] = {0}, strides[TTL_RANK_MAX] = {0};

	if (map->rank == 0)
		return TTL_OK;
	for (uint32_t i = 0; i < map->rank; i++) {
		dims[i] = map->dims[i];
		if (i + 1 < map->rank)
			strides[i] = map->strides[i];
	}
	return ttl_done(
		TTL_CUDA(cuTensorMapEncodeTiled)(encoded, (CUtensorMapDataType)map->type, map->rank,
			(void *)(uintptr_t)address, dims, strides, map->box, ones,
			CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)map->swizzle,
			(CUtensorMapL2promotion)map->l2_promotion,
			CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
		run->kernel->bundle->texts + map->name, err);
}

static enum ttl_status ttl_put(
	struct ttl_run *run, uint32_t index, CUdeviceptr address, struct ttl_error *err)
{
	const struct ttl_bundle *b = run->kernel->bundle;
	const struct ttl_entry *entry = run->kernel->entry;
	const struct ttl_buffer *buffer = &b->buffers[entry->buffers.first + index];
	int64_t *value = run->values;

	if (!buffer->bytes)
		address = 0;
	else if (!address)
		return ttl_fail(err, TTL_BAD_ARGUMENT, "%s: expected an address, found none",
			b->texts + buffer->name);
	TTL_EACH(ttl_map, map, b, maps, entry->maps)
		if (map->buffer == index && address)
			TTL_TRY(ttl_encode(run, map, address,
				&run->maps[map - b->maps - entry->maps.first], err));
	TTL_EACH(ttl_step, step, b, steps, entry->steps)
		TTL_EACH(ttl_argument, argument, b, arguments, step->arguments) {
			if (argument->kind == TTL_BUFFER && argument->index == index)
				memcpy(value, &address, sizeof(*value));
			value++;
		}
	if (run->is_owned[index])
		TTL_CUDA(cuMemFree)(run->buffers[index]);
	run->is_owned[index] = 0;
	run->buffers[index] = address;
	return TTL_OK;
}

enum ttl_status ttl_set(
	struct ttl_run *run, const char *name, CUdeviceptr address, struct ttl_error *err)
{
	const struct ttl_kernel *kernel = run->kernel;
	uint32_t index = 0;

	TTL_EACH(ttl_buffer, buffer, kernel->bundle, buffers, kernel->entry->buffers) {
		if (strcmp(kernel->bundle->texts + buffer->name, name) == 0)
			return ttl_put(run, index, address, err);
		index++;
	}
	return ttl_fail(err, TTL_BAD_ARGUMENT, "%s: the kernel has no such tensor", name);
}

static void ttl_bind_steps(struct ttl_run *run)
{
	const struct ttl_bundle *b = run->kernel->bundle;
	const struct ttl_entry *entry = run->kernel->entry;
	size_t at = 0;

	for (uint32_t i = 0; i < entry->steps.count; i++) {
		const struct ttl_step *step = &b->steps[entry->steps.first + i];
		CUlaunchConfig *config = &run->configs[i];
		CUlaunchAttribute *attribute = run->attributes + i * TTL_ATTRIBUTES;

		config->gridDimX = step->grid[0];
		config->gridDimY = step->grid[1];
		config->gridDimZ = step->grid[2];
		config->blockDimX = step->block[0];
		config->blockDimY = step->block[1];
		config->blockDimZ = step->block[2];
		config->sharedMemBytes = step->smem_dynamic_bytes;
		config->attrs = attribute;
		if (step->cluster[0] * step->cluster[1] * step->cluster[2] > 1) {
			attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
			attribute->value.clusterDim.x = step->cluster[0];
			attribute->value.clusterDim.y = step->cluster[1];
			attribute->value.clusterDim.z = step->cluster[2];
			attribute++;
		}
		if (step->is_cooperative) {
			attribute->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
			attribute->value.cooperative = 1;
			attribute++;
		}
		config->numAttrs = (unsigned)(attribute - config->attrs);
		TTL_EACH(ttl_argument, argument, b, arguments, step->arguments) {
			run->values[at] = argument->bits;
			run->params[at] = &run->values[at];
			if (argument->kind == TTL_MAP)
				run->params[at] = &run->maps[argument->index];
			at++;
		}
	}
}

static enum ttl_status ttl_bind_buffers(struct ttl_run *run, const struct ttl_tensor *tensors,
	size_t count, CUstream stream, struct ttl_error *err)
{
	const struct ttl_entry *entry = run->kernel->entry;
	const struct ttl_buffer *buffers = ttl_buffers(run->kernel->bundle, entry);
	int zeroed = 0;

	for (size_t i = 0; i < count; i++)
		TTL_TRY(ttl_set(run, tensors[i].name, tensors[i].address, err));
	for (uint32_t i = 0; i < entry->buffers.count; i++) {
		const char *name = run->kernel->bundle->texts + buffers[i].name;
		CUdeviceptr address = 0;
		enum ttl_status status;

		if (!buffers[i].bytes)
			continue;
		if (!run->buffers[i]) { /* ttl_put() reports missing tensors */
			if (i >= entry->tensor_count)
				TTL_TRY(ttl_done(TTL_CUDA(cuMemAlloc)(&address, buffers[i].bytes),
					name, err));
			status = ttl_put(run, i, address, err);
			if (status != TTL_OK) {
				if (address)
					TTL_CUDA(cuMemFree)(address);
				return status;
			}
			run->is_owned[i] = 1;
		}
		if (buffers[i].init == TTL_INIT_ONCE) {
			TTL_TRY(ttl_done(TTL_CUDA(cuMemsetD8Async)(
						 run->buffers[i], 0, buffers[i].bytes, stream),
				name, err));
			zeroed = 1;
		}
	}
	return zeroed ? ttl_done(TTL_CUDA(cuStreamSynchronize)(stream), "zeroing workspaces", err)
		      : TTL_OK;
}

/* Aligns tensor maps to 64 bytes. */
static struct ttl_run *ttl_run_new(const struct ttl_kernel *kernel)
{
	const struct ttl_entry *entry = kernel->entry;
	const size_t steps = entry->steps.count, buffers = entry->buffers.count;
	size_t arguments = 0, bytes;
	struct ttl_run *run;
	char *at;

	TTL_EACH(ttl_step, step, kernel->bundle, steps, entry->steps)
		arguments += step->arguments.count;
	bytes = sizeof(*run) +
		steps * (sizeof(*run->configs) + TTL_ATTRIBUTES * sizeof(*run->attributes)) +
		arguments * (sizeof(*run->params) + sizeof(*run->values)) +
		buffers * (sizeof(*run->buffers) + 1) + 64 + entry->maps.count * sizeof(*run->maps);
	run = (struct ttl_run *)calloc(1, bytes);
	if (!run)
		return NULL;
	run->kernel = kernel;
	run->configs = (CUlaunchConfig *)(void *)(run + 1);
	run->attributes = (CUlaunchAttribute *)(void *)(run->configs + steps);
	run->params = (void **)(void *)(run->attributes + steps * TTL_ATTRIBUTES);
	run->values = (int64_t *)(void *)(run->params + arguments);
	run->buffers = (CUdeviceptr *)(void *)(run->values + arguments);
	at = (char *)(run->buffers + buffers);
	at += 63 & (0 - (uintptr_t)at);
	run->maps = (CUtensorMap *)(void *)at;
	run->is_owned = (unsigned char *)(run->maps + entry->maps.count);
	return run;
}

enum ttl_status ttl_bind(const struct ttl_kernel *kernel, const struct ttl_tensor *tensors,
	size_t count, CUstream stream, struct ttl_run **run, struct ttl_error *err)
{
	enum ttl_status status;

	*run = ttl_run_new(kernel);
	if (!*run)
		return ttl_fail(err, TTL_NO_MEMORY, "no memory");
	ttl_bind_steps(*run);
	status = ttl_bind_buffers(*run, tensors, count, stream, err);
	if (status != TTL_OK) {
		ttl_unbind(*run);
		*run = NULL;
	}
	return status;
}

enum ttl_status ttl_launch(struct ttl_run *run, CUstream stream, struct ttl_error *err)
{
	const struct ttl_bundle *b = run->kernel->bundle;
	const struct ttl_entry *entry = run->kernel->entry;
	const struct ttl_buffer *buffers = ttl_buffers(b, entry);
	void **params = run->params;

	for (uint32_t i = 0; i < entry->buffers.count; i++)
		if (buffers[i].init == TTL_INIT_EACH && buffers[i].bytes)
			TTL_TRY(ttl_done(TTL_CUDA(cuMemsetD8Async)(
						 run->buffers[i], 0, buffers[i].bytes, stream),
				b->texts + buffers[i].name, err));
	for (uint32_t i = 0; i < entry->symbols.count; i++) {
		const struct ttl_symbol *symbol = &b->symbols[entry->symbols.first + i];

		if (run->kernel->symbols[i] && buffers[symbol->buffer].bytes)
			TTL_TRY(ttl_done(TTL_CUDA(cuMemcpyDtoDAsync)(run->kernel->symbols[i],
						 run->buffers[symbol->buffer],
						 buffers[symbol->buffer].bytes, stream),
				b->texts + symbol->name, err));
	}
	for (uint32_t i = 0; i < entry->steps.count; i++) {
		const struct ttl_step *step = &b->steps[entry->steps.first + i];

		run->configs[i].hStream = stream;
		for (uint32_t k = 0; k < step->repeat; k++)
			TTL_TRY(ttl_done(TTL_CUDA(cuLaunchKernelEx)(&run->configs[i],
						 run->kernel->functions[i], params, NULL),
				b->texts + step->entry, err));
		params += step->arguments.count;
	}
	return TTL_OK;
}

void ttl_unbind(struct ttl_run *run)
{
	if (!run)
		return;
	for (uint32_t i = 0; i < run->kernel->entry->buffers.count; i++)
		if (run->is_owned[i])
			TTL_CUDA(cuMemFree)(run->buffers[i]);
	free(run);
}

#endif
