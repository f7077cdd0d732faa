/* SPDX-License-Identifier: MIT */
#include "bench/launch/tuned_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "measure/candidate_kernels.h"

struct tuned_launch {
	struct gpu_session gpu; /* driver and stream alone: the context is the caller's */
	struct plan plan;
	struct kernel_library library;
	struct text *cubins;
	size_t cubin_count;
};

struct tuned_bound {
	struct tuned_launch *launch;
	CUdeviceptr *buffers;
	CUtensorMap *tensor_maps; /* NULL: the plan has none */
};

static void say(char *message, size_t size, const char *text)
{
	if (message && size)
		snprintf(message, size, "%s", text);
}

static enum status read_cubins(struct tuned_launch *launch, const char *path,
	const struct json_at *units, struct error *err)
{
	enum status status = STATUS_OK;

	launch->cubin_count = json_count(units);
	launch->cubins = memory_zeroed(launch->cubin_count + 1, sizeof(*launch->cubins));
	for (size_t i = 0; i < launch->cubin_count && status == STATUS_OK; i++) {
		struct json_at unit = json_item(units, i);
		const char *name, *slash = strrchr(path, '/');
		char *beside;

		status = json_member_string(&unit, "file", &name, err);
		if (status != STATUS_OK)
			break;
		beside = string_format("%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
		status = file_read(beside, &launch->cubins[i], err);
		free(beside);
	}
	return status;
}

static enum status read_metadata(struct tuned_launch *launch, const char *path, struct error *err)
{
	struct json *json = NULL;
	struct json_at root, units, plan;
	const char *kind;
	enum status status = json_load(path, &json, err);

	root = json_root(json, path);
	if (status == STATUS_OK)
		status = json_member_string(&root, "kind", &kind, err);
	if (status == STATUS_OK && strcmp(kind, "cubin") != 0)
		status = json_error(&root, err, "a kernel exported with --format cubin");
	if (status == STATUS_OK)
		status = json_member(&root, "plan", &plan, err);
	if (status == STATUS_OK)
		status = plan_from_json(&plan, &launch->plan, err);
	if (status == STATUS_OK)
		status = json_member(&root, "units", &units, err);
	if (status == STATUS_OK)
		status = read_cubins(launch, path, &units, err);
	json_free(json);
	return status;
}

struct tuned_launch *tuned_launch_open(const char *path, char *message, size_t message_size)
{
	struct tuned_launch *launch = memory_zeroed(1, sizeof(*launch));
	struct failure failure = {.outcome = OUTCOME_OK};
	struct error err = {0};

	if (read_metadata(launch, path, &err) == STATUS_OK &&
		cuda_api_open(&launch->gpu.cuda, &err) == STATUS_OK &&
		kernel_library_load(&launch->gpu, launch->cubins, launch->cubin_count,
			launch->plan.launches, launch->plan.launch_count, &launch->library,
			&failure))
		return launch;
	say(message, message_size, err.message[0] ? err.message : failure.detail);
	tuned_launch_close(launch);
	return NULL;
}

void tuned_launch_close(struct tuned_launch *launch)
{
	if (!launch)
		return;
	kernel_library_unload(&launch->gpu, &launch->library);
	for (size_t i = 0; launch->cubins && i < launch->cubin_count; i++)
		text_release(&launch->cubins[i]);
	free(launch->cubins);
	plan_release(&launch->plan);
	cuda_api_close(&launch->gpu.cuda);
	free(launch);
}

size_t tuned_launch_buffer_count(const struct tuned_launch *launch)
{
	return launch->plan.buffer_count;
}

const char *tuned_launch_buffer_name(const struct tuned_launch *launch, size_t buffer)
{
	return launch->plan.buffers[buffer].name;
}

uint64_t tuned_launch_buffer_bytes(const struct tuned_launch *launch, size_t buffer)
{
	return launch->plan.buffers[buffer].bytes;
}

static bool bind(struct tuned_bound *bound, struct failure *failure)
{
	struct gpu_session *gpu = &bound->launch->gpu;
	const struct plan *plan = &bound->launch->plan;
	bool done = true;

	if (plan->tensor_map_count)
		bound->tensor_maps =
			aligned_alloc(64, plan->tensor_map_count * sizeof(*bound->tensor_maps));
	for (size_t i = 0; done && i < plan->tensor_map_count; i++)
		done = tensor_map_encode(gpu, &plan->tensor_maps[i],
			bound->buffers[plan->tensor_maps[i].buffer], &bound->tensor_maps[i],
			failure);
	for (size_t i = 0; done && i < plan->buffer_count; i++)
		if (plan->buffers[i].init == BUFFER_INIT_ONCE && plan->buffers[i].bytes)
			done = gpu_succeeded(gpu,
				gpu->cuda.cuMemsetD8Async(
					bound->buffers[i], 0, plan->buffers[i].bytes, NULL),
				"zeroing a workspace", failure);
	return done;
}

struct tuned_bound *tuned_launch_bind(
	struct tuned_launch *launch, const uint64_t *addresses, char *message, size_t message_size)
{
	struct tuned_bound *bound = memory_zeroed(1, sizeof(*bound));
	struct failure failure = {.outcome = OUTCOME_OK};

	bound->launch = launch;
	bound->buffers = memory_zeroed(launch->plan.buffer_count + 1, sizeof(*bound->buffers));
	for (size_t i = 0; i < launch->plan.buffer_count; i++)
		bound->buffers[i] = (CUdeviceptr)addresses[i];
	if (bind(bound, &failure))
		return bound;
	say(message, message_size, failure.detail);
	tuned_launch_unbind(bound);
	return NULL;
}

void tuned_launch_unbind(struct tuned_bound *bound)
{
	if (!bound)
		return;
	free(bound->buffers);
	free(bound->tensor_maps);
	free(bound);
}

static bool queue(const struct tuned_bound *bound, struct failure *failure)
{
	struct gpu_session *gpu = &bound->launch->gpu;
	const struct plan *plan = &bound->launch->plan;
	const struct kernel_arguments arguments = {
		.buffers = bound->buffers, .tensor_maps = bound->tensor_maps};

	for (size_t i = 0; i < plan->buffer_count; i++)
		if (plan->buffers[i].init == BUFFER_INIT_EACH && plan->buffers[i].bytes &&
			!gpu_succeeded(gpu,
				gpu->cuda.cuMemsetD8Async(
					bound->buffers[i], 0, plan->buffers[i].bytes, gpu->stream),
				"zeroing a workspace", failure))
			return false;
	for (size_t i = 0; i < plan->launch_count; i++)
		for (uint32_t j = 0; j < plan->launches[i].repeat; j++)
			if (!kernel_launch(gpu, &bound->launch->library, &plan->launches[i], i,
				    &arguments, failure))
				return false;
	return true;
}

int tuned_launch_queue(
	struct tuned_bound *bound, uint64_t stream, char *message, size_t message_size)
{
	struct failure failure = {.outcome = OUTCOME_OK};

	bound->launch->gpu.stream = (CUstream)(uintptr_t)stream;
	if (queue(bound, &failure))
		return 1;
	say(message, message_size, failure.detail);
	return 0;
}
