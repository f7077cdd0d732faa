/* SPDX-License-Identifier: MIT
 *
 * cuda:N or cuda:GPU-UUID, a real GPU. This process never opens the driver: a worker does
 * (src/measure), and is replaced when a kernel takes it along.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "device/cuda_device.h"
#include "device/gpu_lock.h"
#include "measure/anchor.h"

static const double kernel_timeout_default_s = 10;

static void identity_fill(struct device_identity *identity, const struct measure_gpu *gpu)
{
	string_put(identity->kind, sizeof(identity->kind), "cuda");
	string_put(identity->name, sizeof(identity->name), gpu->facts.name);
	string_put(identity->uuid, sizeof(identity->uuid), gpu->uuid);
	string_put(identity->driver, sizeof(identity->driver), gpu->driver);
	string_put(identity->mig, sizeof(identity->mig), gpu->mig);
	identity->driver_cuda_version = gpu->driver_cuda_version;
	identity->clock_sm_hz = gpu->clock_sm_hz;
	identity->clock_memory_hz = gpu->clock_memory_hz;
	identity->clock_sm_max_hz = gpu->clock_sm_max_hz;
	identity->power_limit_w = gpu->power_limit_w;
}

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
	enum status status;

	device->state = cuda;
	cuda->device = device;
	cuda->lock_fd = -1;
	cuda->worker_path = string_copy(options->worker_path);
	cuda->selector = string_copy(rest[0] ? rest : "0");
	cuda->open = (struct measure_open){
		.seed = options->seed,
		.memory_limit_bytes = options->memory_limit_bytes,
		.kernel_timeout_s = kernel_timeout_s(options),
	};
	status = cuda_worker_hello(cuda, &gpu, err);
	if (status != STATUS_OK)
		return error_context(err, "cuda:%s", cuda->selector);
	identity_fill(&device->identity, &gpu);
	/* From here on it is this GPU, whatever the numbering does. */
	free(cuda->selector);
	cuda->selector = string_copy(gpu.uuid);
	status = device_spec_match(&gpu.facts, options->config_folders, &device->spec, err);
	if (status == STATUS_OK)
		status = gpu_lock_acquire(gpu.uuid, options->wait_s, &cuda->lock_fd, err);
	/* The context is made while our caller compiles the helper kernels. */
	if (status == STATUS_OK)
		status = cuda_worker_open(cuda, err);
	return status;
}

static void cuda_close(struct device *device)
{
	struct cuda_device *cuda = device->state;
	char *how;

	if (!cuda)
		return;
	if (cuda->worker.pid) {
		how = cuda_worker_end(&cuda->worker);
		free(how);
	}
	cuda_queue_release(cuda);
	if (cuda->lock_fd >= 0)
		close(cuda->lock_fd);
	text_release(&cuda->helpers);
	free(cuda->worker_path);
	free(cuda->selector);
	free(cuda);
}

static struct cuda_handle *handle_add(struct cuda_device *cuda)
{
	struct cuda_handle *handle = memory_zeroed(1, sizeof(*handle));

	ARRAY_GROW(cuda->handles, cuda->handle_count, cuda->handle_capacity);
	cuda->handles[cuda->handle_count++] = handle;
	handle->id = (device_handle)cuda->handle_count;
	handle->dead = OUTCOME_OK;
	return handle;
}

static enum status ready(const struct cuda_device *cuda, struct error *err)
{
	if (cuda->lost)
		return error_set(err, STATUS_NO_DEVICE, "GPU %s: lost", cuda->selector);
	if (cuda->helpers.length == 0)
		BUG("device_helpers() comes first");
	return STATUS_OK;
}

static enum status cuda_anchor(struct device *device, device_handle *handle, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct plan plan;
	struct cuda_handle *anchor;

	if (ready(cuda, err) != STATUS_OK)
		return STATUS_NO_DEVICE;
	anchor = handle_add(cuda);
	anchor_plan(device->spec->sm_count, &plan);
	measure_load_pack(anchor->id, 0, &plan, &cuda->helpers, 1, &anchor->payload);
	plan_release(&plan);
	*handle = anchor->id; /* loaded when it is first wanted */
	return STATUS_OK;
}

/* Times the anchor while nothing else is under way. */
static enum status anchor_measure(struct device *device, struct error *err)
{
	device_handle handle = 0;
	struct device_sample_request request = {
		.handles = &handle,
		.handle_count = 1,
		.rounds_min = 5,
		.rounds_max = 15,
		.seconds_max = 2,
		.target_ratio = 0.002,
	};
	struct device_event event;
	enum status status = cuda_anchor(device, &handle, err);

	if (status == STATUS_OK)
		status = device_sample(device, &request, err);
	if (status != STATUS_OK)
		return status;
	while (!cuda_poll(device->state, 3600, &event))
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
	enum status status;

	text_clear(&cuda->helpers);
	text_append_bytes(&cuda->helpers, cubin->data, cubin->length);
	status = cuda_worker_helpers(cuda, err);
	if (status != STATUS_OK)
		return error_context(err, "GPU %s", device->identity.name);
	return anchor_measure(device, err);
}

static enum status cuda_problem(struct device *device, const char *operation,
	const char *problem_text, const struct reference_plan *reference,
	const struct text *reference_cubin, uint32_t *problem, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct cuda_problem *added;
	char *title;

	if (ready(cuda, err) != STATUS_OK)
		return STATUS_NO_DEVICE;
	ARRAY_GROW(cuda->problems, cuda->problem_count, cuda->problem_capacity);
	added = &cuda->problems[cuda->problem_count++];
	*added = (struct cuda_problem){0};
	title = string_format("%s %s", operation, problem_text);
	measure_problem_pack(
		(uint32_t)cuda->problem_count, title, reference, reference_cubin, &added->payload);
	free(title);
	*problem = (uint32_t)cuda->problem_count;
	return STATUS_OK;
}

static enum status cuda_load(struct device *device, const struct device_load_request *request,
	device_handle *handle, struct error *err)
{
	struct cuda_device *cuda = device->state;
	struct cuda_handle *added;

	if (ready(cuda, err) != STATUS_OK)
		return STATUS_NO_DEVICE;
	if (request->problem == 0 || request->problem > cuda->problem_count)
		BUG("problem %u", request->problem);
	added = handle_add(cuda);
	added->problem = request->problem;
	added->launch_count = request->plan->launch_count;
	added->resources = memory_zeroed(added->launch_count + 1, sizeof(*added->resources));
	if (request->resources && added->launch_count)
		memcpy(added->resources, request->resources,
			added->launch_count * sizeof(*added->resources));
	measure_load_pack(added->id, request->problem, request->plan, request->cubins,
		request->cubin_count, &added->payload);
	*handle = added->id;
	cuda_request_add(cuda, REQUEST_LOAD, handle, 1);
	cuda_pump(cuda);
	return STATUS_OK;
}

static enum status cuda_verify(struct device *device, device_handle handle, struct error *err)
{
	struct cuda_device *cuda = device->state;

	if (ready(cuda, err) != STATUS_OK)
		return STATUS_NO_DEVICE;
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

	if (ready(cuda, err) != STATUS_OK)
		return STATUS_NO_DEVICE;
	if (request->handle_count == 0)
		return STATUS_OK;
	for (size_t i = 0; i < request->handle_count; i++)
		cuda_handle_find(cuda, request->handles[i]);
	added = cuda_request_add(cuda, REQUEST_SAMPLE, request->handles, request->handle_count);
	added->sample.rounds_min = request->rounds_min;
	added->sample.rounds_max = request->rounds_max;
	added->sample.seconds_max = request->seconds_max;
	added->sample.target_ratio = request->target_ratio;
	added->sample.give_up_us = request->give_up_us;
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

static size_t kind_pending(const struct device *device)
{
	return cuda_pending(device->state);
}

static bool kind_poll(struct device *device, double timeout_s, struct device_event *event)
{
	return cuda_poll(device->state, timeout_s, event);
}

static size_t cuda_poll_fds(const struct device *device, struct pollfd *fds, size_t max)
{
	const struct cuda_device *cuda = device->state;

	if (max == 0 || cuda->worker.pid == 0)
		return 0;
	fds[0] = (struct pollfd){.fd = cuda->worker.from_fd, .events = POLLIN};
	return 1;
}

const struct device_kind device_kind_cuda = {
	.name = "cuda",
	.summary = "a GPU of this machine, by number or UUID: kernels are verified and measured",
	.compiles = true,
	.measures = true,
	.open = cuda_open,
	.close = cuda_close,
	.helpers = cuda_helpers,
	.anchor = cuda_anchor,
	.problem = cuda_problem,
	.load = cuda_load,
	.verify = cuda_verify,
	.sample = cuda_sample,
	.unload = cuda_unload,
	.pending = kind_pending,
	.poll = kind_poll,
	.poll_fds = cuda_poll_fds,
};

/* ---- what is in the machine ---- */
static enum status listing_fill(
	const struct packet *packet, struct device_listing **list, size_t *count, struct error *err)
{
	struct json_at gpus;
	enum status status = json_member(&packet->root, "gpus", &gpus, err);

	if (status != STATUS_OK)
		return status;
	*list = memory_zeroed(json_count(&gpus) + 1, sizeof(**list));
	for (size_t i = 0; status == STATUS_OK && i < json_count(&gpus); i++) {
		struct json_at at = json_item(&gpus, i);
		struct device_listing *listing = &(*list)[i];
		struct measure_gpu gpu;

		status = measure_gpu_from_json(&at, &gpu, err);
		if (status != STATUS_OK)
			break;
		listing->facts = gpu.facts;
		identity_fill(&listing->identity, &gpu);
		gpu_lock_holder(gpu.uuid, listing->busy_by, sizeof(listing->busy_by));
		(*count)++;
	}
	if (status != STATUS_OK) {
		free(*list);
		*list = NULL;
		*count = 0;
	}
	return status;
}

enum status device_list_cuda(const struct device_options *options, struct device_listing **list,
	size_t *count, char **why, struct error *err)
{
	const double list_timeout_s = 90;
	struct child worker;
	struct packet packet = {0};
	struct text payload = {0};
	struct error theirs = {0};
	enum status status;
	char *how;

	*list = NULL;
	*count = 0;
	*why = NULL;
	status = cuda_worker_start(&worker, options->worker_path, err);
	if (status != STATUS_OK)
		return status;
	packet_pack(json_new_object(), NULL, 0, &payload);
	if (!cuda_worker_send(&worker, REQUEST_LIST, &payload))
		status = error_set(&theirs, STATUS_NO_DEVICE, "measuring worker: it ended");
	if (status == STATUS_OK)
		status = cuda_worker_reply(&worker, REPLY_LIST, list_timeout_s, &packet, &theirs);
	how = cuda_worker_end(&worker);
	if (status == STATUS_OK) {
		status = listing_fill(&packet, list, count, err);
		if (status == STATUS_OK && *count == 0)
			*why = string_copy("the driver lists no GPU");
	} else {
		/* No driver, no GPU: an answer, not an error. */
		*why = string_copy(theirs.message);
		status = STATUS_OK;
	}
	packet_release(&packet);
	text_release(&payload);
	free(how);
	return status;
}
