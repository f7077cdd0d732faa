/* SPDX-License-Identifier: MIT
 *
 * cuda:N or cuda:GPU-UUID, a real GPU. This process never opens the driver: a worker does
 * (src/measure), and is replaced when a kernel takes it along.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda_queue.h"
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

static enum status cuda_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct cuda_device *cuda = memory_zeroed(1, sizeof(*cuda));
	struct measure_gpu gpu;

	device->state = cuda;
	cuda->device = device;
	cuda->lock_fd = -1;
	cuda->worker.path = string_copy(options->worker_path);
	cuda->worker.selector = string_copy(rest[0] ? rest : "0");
	cuda->worker.open = (struct measure_open){
		.seed = options->seed,
		.memory_limit_bytes = options->memory_limit_bytes,
		.kernel_timeout_s = kernel_timeout_s(options),
		.reference_timeout_s = options->reference_timeout_s > 0
					       ? options->reference_timeout_s
					       : reference_timeout_default_s,
		.l2_warm = options->l2_warm,
	};
	if (cuda_worker_hello(&cuda->worker, &gpu, err) != STATUS_OK)
		return error_context(err, "cuda:%s", cuda->worker.selector);
	device->identity = gpu.identity;
	/* From here on it is this GPU, even if the numbering changes. */
	free(cuda->worker.selector);
	cuda->worker.selector = string_copy(gpu.identity.uuid);
	TRY(device_spec_match(&gpu.facts, options->config_folders, &device->spec, err));
	TRY(gpu_lock_acquire(gpu.identity.uuid, options->wait_s, &cuda->lock_fd, err));
	/* The context is made while our caller compiles the helper kernels. */
	return cuda_worker_open(&cuda->worker, err);
}

static void cuda_close(struct device *device)
{
	struct cuda_device *cuda = device->state;

	if (!cuda)
		return;
	cuda_worker_release(&cuda->worker);
	cuda_queue_release(cuda);
	if (cuda->lock_fd >= 0)
		close(cuda->lock_fd);
	free(cuda);
}

static struct cuda_handle *handle_add(struct cuda_device *cuda)
{
	struct cuda_handle *handle = memory_zeroed(1, sizeof(*handle));

	ARRAY_GROW(cuda->handles, cuda->handle_count, cuda->handle_capacity);
	cuda->handles[cuda->handle_count++] = handle;
	handle->id = (device_handle)cuda->handle_count;
	handle->failure = OUTCOME_OK;
	return handle;
}

static void load_pack(struct cuda_handle *handle, const struct plan *plan,
	const struct text *cubins, size_t cubin_count)
{
	const struct measure_load load = {.handle = handle->id,
		.problem = handle->problem,
		.plan = *plan,
		.cubins = (struct text *)(uintptr_t)cubins, /* only read */
		.cubin_count = cubin_count};

	message_pack(REQUEST_LOAD, &measure_load_record, &load, &handle->frame);
}

static enum status ready(const struct cuda_device *cuda, struct error *err)
{
	if (cuda->lost)
		return error_set(err, STATUS_NO_DEVICE, "GPU %s: lost", cuda->worker.selector);
	if (cuda->worker.helpers.cubin.length == 0)
		BUG("device_helpers() comes first");
	return STATUS_OK;
}

/* The anchor: a fixed kernel of the helpers whose time depends on the clock alone. Every run stores
 * it, so that a slower clock is not mistaken for a slower kernel. It is loaded and sampled like any
 * candidate, by this plan, with the helpers' cubin and without a problem. */
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
		.argument_count = ANCHOR_ARGUMENTS,
	};
	launch->arguments = memory_zeroed(ANCHOR_ARGUMENTS, sizeof(*launch->arguments));
	launch->arguments[ANCHOR_OUT].kind = ARGUMENT_BUFFER;
	launch->arguments[ANCHOR_COUNT].kind = ARGUMENT_INT32;
	launch->arguments[ANCHOR_COUNT].integer = ANCHOR_ITERATIONS;
}

static enum status cuda_anchor(struct device *device, device_handle *handle, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct plan plan;
	struct cuda_handle *anchor;

	TRY(ready(cuda, err));
	anchor = handle_add(cuda);
	anchor_plan(device->spec->sm_count, &plan);
	load_pack(anchor, &plan, &cuda->worker.helpers.cubin, 1);
	plan_release(&plan);
	*handle = anchor->id; /* loaded when it is first wanted */
	return STATUS_OK;
}

/* Times the anchor while nothing else runs. */
static enum status anchor_measure(struct device *device, struct error *err)
{
	device_handle handle = 0;
	struct device_sample_request request = {
		.handles = &handle,
		.handle_count = 1,
		.sampling = {.rounds = 5, .seconds_max = 2},
	};
	struct device_event event;
	enum status status = STATUS_OK;

	TRY(cuda_anchor(device, &handle, err));
	TRY(device_sample(device, &request, err));
	while (!device_poll(device, 3600, &event))
		;
	if (event.kind == DEVICE_EVENT_SAMPLED && event.sample_count > 0)
		device->identity.anchor_us =
			statistics_quantile(event.samples_us, event.sample_count, 0.5);
	else
		status = error_set(err, STATUS_NO_DEVICE,
			"GPU %s (%s): expected it to run the anchor kernel, found: %s",
			device->identity.uuid, device->identity.name,
			event.detail ? event.detail : outcome_name(event.outcome));
	device_event_release(&event);
	device_unload(device, handle);
	return status;
}

static enum status cuda_helpers(struct device *device, const struct text *cubin, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct text *kept = &cuda->worker.helpers.cubin;

	text_clear(kept);
	text_append_bytes(kept, cubin->data, cubin->length);
	if (cuda_worker_helpers(&cuda->worker, err) != STATUS_OK)
		return error_context(err, "GPU %s", device->identity.name);
	return anchor_measure(device, err);
}

static enum status cuda_problem(struct device *device, const char *operation,
	const char *problem_text, const struct reference_plan *reference,
	const struct text *reference_cubins, size_t cubin_count, uint32_t *problem,
	struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct measure_problem told;
	struct cuda_problem *added;

	TRY(ready(cuda, err));
	ARRAY_GROW(cuda->problems, cuda->problem_count, cuda->problem_capacity);
	added = &cuda->problems[cuda->problem_count++];
	*added = (struct cuda_problem){0};
	*problem = (uint32_t)cuda->problem_count;
	told = (struct measure_problem){.problem = *problem,
		.title = string_format("%s %s", operation, problem_text),
		.reference = *reference,
		.cubins = (struct text *)(uintptr_t)reference_cubins,
		.cubin_count = cubin_count};
	message_pack(REQUEST_PROBLEM, &measure_problem_record, &told, &added->frame);
	free(told.title);
	return STATUS_OK;
}

static enum status cuda_load(struct device *device, const struct device_load_request *request,
	device_handle *handle, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct cuda_handle *added;

	TRY(ready(cuda, err));
	if (request->problem == 0 || request->problem > cuda->problem_count)
		BUG("problem %u", request->problem);
	added = handle_add(cuda);
	added->problem = request->problem;
	added->launch_count = request->plan->launch_count;
	added->resources = memory_zeroed(added->launch_count + 1, sizeof(*added->resources));
	if (request->resources && added->launch_count)
		memcpy(added->resources, request->resources,
			added->launch_count * sizeof(*added->resources));
	load_pack(added, request->plan, request->cubins, request->cubin_count);
	*handle = added->id;
	cuda_request_add(cuda, REQUEST_LOAD, handle, 1);
	cuda_pump(cuda);
	return STATUS_OK;
}

static enum status cuda_verify(struct device *device, device_handle handle, struct error *err)
{
	struct cuda_device *cuda = device->state;

	TRY(ready(cuda, err));
	cuda_handle_find(cuda, handle);
	cuda_request_add(cuda, REQUEST_VERIFY, &handle, 1);
	cuda_pump(cuda);
	return STATUS_OK;
}

static enum status cuda_sample(
	struct device *device, const struct device_sample_request *request, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct cuda_request *added;

	TRY(ready(cuda, err));
	if (request->handle_count == 0)
		return STATUS_OK;
	for (size_t i = 0; i < request->handle_count; i++)
		cuda_handle_find(cuda, request->handles[i]);
	added = cuda_request_add(cuda, REQUEST_SAMPLE, request->handles, request->handle_count);
	added->sample.sampling = request->sampling;
	cuda_pump(cuda);
	return STATUS_OK;
}

static void cuda_unload(struct device *device, device_handle handle)
{
	struct cuda_device *cuda = device->state;

	cuda_handle_find(cuda, handle);
	cuda_request_add(cuda, REQUEST_UNLOAD, &handle, 1);
	cuda_pump(cuda);
}

static size_t cuda_poll_fds(const struct device *device, struct pollfd *fds, size_t max)
{
	const struct cuda_device *cuda = device->state;

	if (max == 0 || cuda->worker.process.pid == 0)
		return 0;
	fds[0] = (struct pollfd){.fd = cuda->worker.process.from_fd, .events = POLLIN};
	return 1;
}

/* ---- what is in the machine ---- */
static enum status cuda_list(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err)
{
	struct measure_gpus found = {0};

	if (cuda_worker_list(options->worker_path, &found, why, err) != STATUS_OK)
		return STATUS_FAILED;
	*list = memory_zeroed(found.count + 1, sizeof(**list));
	*count = found.count;
	for (size_t i = 0; i < found.count; i++) {
		struct device_listing *listing = &(*list)[i];

		listing->facts = found.gpus[i].facts;
		listing->identity = found.gpus[i].identity;
		gpu_lock_holder(listing->identity.uuid, listing->busy_by, sizeof(listing->busy_by));
	}
	if (found.count == 0 && !*why)
		*why = string_copy("the driver lists no GPU");
	record_release(&measure_gpus_record, &found);
	return STATUS_OK;
}

const struct device_kind device_kind_cuda = {
	.name = "cuda",
	.compiles = true,
	.measures = true,
	.list = cuda_list,
	.open = cuda_open,
	.close = cuda_close,
	.helpers = cuda_helpers,
	.anchor = cuda_anchor,
	.problem = cuda_problem,
	.load = cuda_load,
	.verify = cuda_verify,
	.sample = cuda_sample,
	.unload = cuda_unload,
	.pending = cuda_pending,
	.work = cuda_work,
	.poll_fds = cuda_poll_fds,
};
