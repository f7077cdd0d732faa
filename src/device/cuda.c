/* SPDX-License-Identifier: MIT
 *
 * cuda:N or cuda:GPU-UUID, a real GPU. This process never opens the driver: a worker does
 * (src/measure), and is replaced when a kernel takes it along.
 */
#include <stdlib.h>
#include <string.h>

#include "device/cuda_requests.h"
#include "device/gpu_lock.h"
#include "measure/helper_layout.h"

static const double kernel_timeout_default_s = 10, reference_timeout_default_s = 300;

/* $TILETUNE_KERNEL_TIMEOUT: for sanitizers, under which kernels take a thousand times as long. */
static double kernel_timeout_s(const struct device_options *options)
{
	const char *chosen = getenv("TILETUNE_KERNEL_TIMEOUT");
	double seconds = chosen ? strtod(chosen, NULL) : 0;

	if (options->kernel_timeout_s > 0)
		return options->kernel_timeout_s;
	return seconds > 0 ? seconds : kernel_timeout_default_s;
}

/* Asks a worker process for the GPU. That process then serves the device. */
static enum status find_gpu(struct cuda_device *cuda, const char *selector,
	struct device_listing *gpu, struct error *err)
{
	struct measure_gpus gpus = {0};
	struct worker worker;

	if (cuda_list_gpus(cuda->path, selector, &worker, &gpus, err) != STATUS_OK)
		return error_context(err, "cuda:%s", selector);
	pool_adopt(&cuda->pool, &worker);
	*gpu = gpus.gpus[0];
	free(gpus.gpus);
	return STATUS_OK;
}

static enum status cuda_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct cuda_device *cuda = memory_zeroed(1, sizeof(*cuda));
	const struct sampling none = {0};
	struct device_listing gpu;

	device->state = cuda;
	cuda->device = device;
	cuda->path = string_copy(options->worker_path);
	cuda_requests_open(cuda);
	TRY(find_gpu(cuda, rest[0] ? rest : "0", &gpu, err));
	device->identity = gpu.identity;
	cuda->setup = (struct measure_setup){
		/* from here on it is this GPU, even if the numbering changes */
		.device = string_copy(device->identity.uuid),
		.seed = options->seed,
		.memory_limit_bytes = options->memory_limit_bytes,
		.kernel_timeout_s = kernel_timeout_s(options),
		.reference_timeout_s = options->reference_timeout_s > 0
					       ? options->reference_timeout_s
					       : reference_timeout_default_s,
		.l2_warm = options->l2_warm,
	};
	TRY(device_spec_match(&gpu.facts, options->config_folders, &device->spec, err));
	TRY(gpu_lock_acquire(device->identity.uuid, options->wait_s, &device->lock_fd, err));
	/* the context is made while our caller compiles the helper kernels */
	cuda_request_add(cuda, NULL, 0, &none);
	pool_work(&cuda->pool);
	return STATUS_OK;
}

static void cuda_close(struct device *device)
{
	struct cuda_device *cuda = device->state;

	if (!cuda)
		return;
	cuda_requests_release(cuda);
	record_release(&measure_setup_record, &cuda->setup);
	plan_release(&cuda->anchor);
	free(cuda->path);
	free(cuda);
}

/* The anchor: a fixed kernel of the helpers whose time depends on the clock alone. Every run stores
 * it, so that a slower clock is not mistaken for a slower kernel. It is a job like any candidate,
 * by this plan, with the helpers' cubin and without a problem. */
static void anchor_plan(int64_t sm_count, struct plan *plan)
{
	uint32_t blocks = (uint32_t)sm_count * ANCHOR_BLOCKS_PER_SM;
	struct plan_launch *launch;

	*plan = (struct plan){.buffer_count = 1, .launch_count = 1};
	plan->buffers = memory_zeroed(1, sizeof(*plan->buffers));
	plan->launches = memory_zeroed(1, sizeof(*plan->launches));
	string_put(plan->buffers->name, sizeof(plan->buffers->name), "out");
	plan->buffers->role = BUFFER_WORKSPACE;
	plan->buffers->bytes = (uint64_t)blocks * ANCHOR_BLOCK * sizeof(float);
	plan->workspace_bytes = plan->buffers->bytes;
	launch = plan->launches;
	*launch = (struct plan_launch){
		.entry = string_copy("tt_anchor_1"),
		.shape.grid = {blocks, 1, 1},
		.shape.block = {ANCHOR_BLOCK, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.repeat = 1,
		.argument_count = 2,
	};
	launch->arguments = memory_zeroed(launch->argument_count, sizeof(*launch->arguments));
	launch->arguments[0].kind = ARGUMENT_BUFFER;
	launch->arguments[1].kind = ARGUMENT_INT32;
	launch->arguments[1].integer = ANCHOR_ITERATIONS;
}

static enum status cuda_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err)
{
	struct cuda_device *cuda = device->state;

	if (device->lost)
		return error_set(err, STATUS_NO_DEVICE, "GPU %s: lost", cuda->setup.device);
	if (!cuda->setup.helpers.length)
		BUG("device_helpers() comes first");
	cuda_request_add(cuda, jobs, count, sampling);
	pool_work(&cuda->pool);
	return STATUS_OK;
}

/* Times the anchor while nothing else runs. */
static enum status cuda_helpers(struct device *device, const struct text *cubin, struct error *err)
{
	struct cuda_device *cuda = device->state;
	const struct sampling sampling = {.rounds = 5, .seconds_max = 2};
	struct device_reply reply;
	enum status status = STATUS_OK;

	text_clear(&cuda->setup.helpers);
	text_append_bytes(&cuda->setup.helpers, cubin->data, cubin->length);
	if (!cuda->anchor.launch_count)
		anchor_plan(device->spec->sm_count, &cuda->anchor);
	device->anchor = (struct device_job){.family = "",
		.configuration = "",
		.plan = &cuda->anchor,
		.cubins = &cuda->setup.helpers,
		.cubin_count = 1};
	TRY(device_submit(device, &device->anchor, 1, &sampling, err));
	while (!device_poll(device, 3600, &reply))
		;
	if (reply.result.sample_count > 0)
		device->identity.anchor_us = statistics_quantile(
			reply.result.samples_us, reply.result.sample_count, 0.5);
	else if (reply.lost)
		status = error_set(err, STATUS_NO_DEVICE, "GPU %s: %s", device->identity.name,
			cuda->pool.broken.message);
	else
		status = error_set(err, STATUS_NO_DEVICE,
			"GPU %s (%s): expected it to run the anchor kernel, found: %s",
			device->identity.uuid, device->identity.name,
			reply.result.detail ? reply.result.detail
					    : outcome_name(reply.result.outcome));
	device_reply_release(&reply);
	return status;
}

/* ---- what is in the machine ---- */
enum status device_list_cuda(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err)
{
	struct worker worker = {.stderr_fd = -1};
	struct measure_gpus found = {0};
	struct error reason = {0};
	const enum status status =
		cuda_list_gpus(options->worker_path, NULL, &worker, &found, &reason);

	worker_end(&worker, NULL);
	*list = found.gpus;
	*count = found.count;
	*why = NULL;
	/* what the process says is an answer; that it does not start is none */
	if (status == STATUS_FAILED && strstr(reason.message, "starting the measuring worker"))
		return error_set(err, status, "%s", reason.message);
	for (size_t i = 0; i < found.count; i++)
		gpu_lock_holder(found.gpus[i].identity.uuid, found.gpus[i].busy_by,
			sizeof(found.gpus[i].busy_by));
	if (!found.count)
		*why = string_copy(
			status == STATUS_OK ? "the driver lists no GPU" : reason.message);
	return STATUS_OK;
}

const struct device_kind device_kind_cuda = {
	.name = "cuda",
	.compiles = true,
	.measures = true,
	.open = cuda_open,
	.close = cuda_close,
	.helpers = cuda_helpers,
	.submit = cuda_submit,
};
