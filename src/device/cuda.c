/* SPDX-License-Identifier: MIT
 *
 * cuda:N or cuda:GPU-UUID, a real GPU. Only its worker process (src/measure) opens the driver.
 */
#include <stdlib.h>
#include <string.h>

#include "device/executor.h"
#include "device/gpu_lock.h"
#include "measure/helper_layout.h"

enum {
	REQUESTS_MAX = 4 /* requests queued in the worker, so that it need not wait */
};

static const double kernel_timeout_default_s = 10, reference_timeout_default_s = 300;
/* With eight GPUs, initialising a driver can take ten seconds. */
static const double start_timeout_s = 90;

struct cuda_device {
	struct executor executor; /* comes first */
	char *path;               /* path of the worker; NULL for this executable */
	char *selector;           /* number or UUID; if NULL, the worker lists all GPUs */
	struct measure_answer found;
	struct measure_setup setup;
	struct plan anchor;
};

/* ---- messages ---- */
static enum status cuda_start(struct executor *executor, struct worker *worker,
	struct measure_request *hello, struct error *err)
{
	struct cuda_device *cuda = (struct cuda_device *)executor;

	hello->device = cuda->selector;
	return worker_start(worker, cuda->path, "worker-measure", false, err) == STATUS_OK
		       ? STATUS_OK
		       : error_context(err, "starting the measuring worker");
}

static enum status take_gpus(
	struct executor *executor, const struct text *line, struct text *why, struct error *err)
{
	struct cuda_device *cuda = (struct cuda_device *)executor;

	record_release(&measure_answer_record, &cuda->found);
	TRY(line_read(&measure_answer_record, line, "its line", &cuda->found, err));
	if (cuda->found.failed) {
		executor->reason = cuda->found.error;
		text_append(why, executor->reason.message);
	}
	return STATUS_OK;
}

static double cuda_complete(
	struct executor *executor, const struct worker *worker, struct measure_request *run)
{
	struct cuda_device *cuda = (struct cuda_device *)executor;

	cuda->setup.reference_timeout_s = executor->reference_timeout_s;
	run->setup = &cuda->setup;
	/* the first request after "hello" makes the context */
	return worker->id > 1 ? executor->kernel_timeout_s : start_timeout_s;
}

static const struct executor_protocol protocol = {.name = "the measuring worker",
	.is_worker = true,
	.pause_s = 0.5,
	.handshake_s = start_timeout_s,
	.lost_context = "the measuring worker cannot be restarted: ",
	.start = cuda_start,
	.take_hello = take_gpus,
	.complete = cuda_complete};

/* ---- the device ---- */
/* $TILETUNE_KERNEL_TIMEOUT is for sanitizers, which slow kernels down a thousand times. */
static double kernel_timeout_s(const struct device_options *options)
{
	const char *chosen = getenv("TILETUNE_KERNEL_TIMEOUT");
	double seconds = chosen ? strtod(chosen, NULL) : 0;

	if (options->kernel_timeout_s > 0)
		return options->kernel_timeout_s;
	return seconds > 0 ? seconds : kernel_timeout_default_s;
}

static void cuda_free(struct cuda_device *cuda)
{
	executor_release(&cuda->executor);
	record_release(&measure_setup_record, &cuda->setup);
	record_release(&measure_answer_record, &cuda->found);
	plan_release(&cuda->anchor);
	free(cuda->path);
	free(cuda->selector);
	free(cuda);
}

/* Starts a worker process and waits for its handshake. The caller frees *started, even after a
 * failure. Errors: STATUS_FAILED if no process can be started; STATUS_NO_DEVICE without driver or
 * GPU. */
static enum status start_cuda(struct device *device, const struct device_options *options,
	const char *selector, struct cuda_device **started, struct error *err)
{
	struct cuda_device *cuda = *started = memory_zeroed(1, sizeof(*cuda));

	cuda->path = string_copy(options->worker_path);
	cuda->selector = string_copy(selector);
	executor_open(&cuda->executor, device, &protocol, REQUESTS_MAX);
	return executor_start(&cuda->executor, err);
}

static enum status cuda_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	const struct sampling none = {0};
	struct cuda_device *cuda;
	enum status status = start_cuda(device, options, rest, &cuda, err);

	device->state = cuda;
	if (status != STATUS_OK)
		return error_context(err, "cuda:%s", rest);
	device->identity = cuda->found.gpus[0].identity;
	/* the numbering may change before the next process starts */
	free(cuda->selector);
	cuda->selector = string_copy(device->identity.uuid);
	cuda->setup = (struct measure_setup){
		.device = string_copy(device->identity.uuid),
		.seed = options->seed,
		.kernel_timeout_s = kernel_timeout_s(options),
		.l2_warm = options->l2_warm,
	};
	cuda->executor.kernel_timeout_s = cuda->setup.kernel_timeout_s;
	cuda->executor.reference_timeout_s = options->reference_timeout_s > 0
						     ? options->reference_timeout_s
						     : reference_timeout_default_s;
	TRY(device_spec_match(
		&cuda->found.gpus[0].facts, options->config_folders, &device->spec, err));
	TRY(gpu_lock_acquire(device->identity.uuid, options->wait_s, &device->lock_fd, err));
	/* meanwhile, the caller compiles the helper kernels */
	executor_add(&cuda->executor, NULL, 0, &none, NULL);
	pool_work(&cuda->executor.measures);
	return STATUS_OK;
}

static void cuda_close(struct device *device)
{
	if (device->state)
		cuda_free(device->state);
}

/* The anchor is a fixed kernel whose time depends only on the clock. Every run stores it, so that a
 * slower clock is not mistaken for a slower kernel. */
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
		return error_set(err, STATUS_NO_DEVICE, "GPU %s was lost", cuda->setup.device);
	if (!cuda->setup.helpers)
		BUG("device_helpers() comes first");
	struct sampling unlimited = *sampling;

	unlimited.until_s = 0;
	executor_add(&cuda->executor, jobs, count, &unlimited, NULL);
	pool_work(&cuda->executor.measures);
	return STATUS_OK;
}

static enum status cuda_helpers(struct device *device, const char *cubin, struct error *err)
{
	struct cuda_device *cuda = device->state;
	const struct sampling sampling = {.rounds = 5, .seconds_max = 2};
	struct device_reply reply;
	enum status status = STATUS_OK;

	free(cuda->setup.helpers);
	cuda->setup.helpers = string_copy(cubin);
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
			cuda->executor.measures.broken.message);
	else
		status = error_set(err, STATUS_NO_DEVICE,
			"GPU %s (%s) cannot run the anchor kernel: %s", device->identity.uuid,
			device->identity.name,
			reply.result.detail ? reply.result.detail
					    : outcome_name(reply.result.outcome));
	device_reply_release(&reply);
	return status;
}

/* ---- the machine's GPUs ---- */
enum status device_list_cuda(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err)
{
	struct device asked = {0};
	struct cuda_device *cuda;
	struct error reason = {0};
	const enum status status = start_cuda(&asked, options, NULL, &cuda, &reason);

	*list = cuda->found.gpus;
	*count = cuda->found.gpu_count;
	*why = NULL;
	cuda->found = (struct measure_answer){0};
	cuda_free(cuda);
	for (size_t i = 0; i < asked.reply_count; i++)
		device_reply_release(&asked.replies[i]);
	free(asked.replies);
	if (status == STATUS_FAILED) {
		*err = reason;
		return status;
	}
	for (size_t i = 0; i < *count; i++)
		gpu_lock_holder(
			(*list)[i].identity.uuid, (*list)[i].busy_by, sizeof((*list)[i].busy_by));
	if (!*count)
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
