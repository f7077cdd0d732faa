/* SPDX-License-Identifier: MIT */
#include "device/cuda_queue.h"

#include <math.h>

#include "base/clock.h"

struct cuda_handle *cuda_handle_find(const struct cuda_device *cuda, device_handle handle)
{
	if (handle == 0 || handle > cuda->handle_count || !cuda->handles[handle - 1])
		BUG("device handle %u", handle);
	return cuda->handles[handle - 1];
}

/* ---- the list of requests ---- */
static struct cuda_request *request_insert(struct cuda_device *cuda, size_t at,
	enum measure_request kind, const device_handle *handles, size_t handle_count)
{
	struct cuda_request request = {.kind = kind};

	request.sample.handles = memory_zeroed(handle_count + 1, sizeof(*handles));
	memcpy(request.sample.handles, handles, handle_count * sizeof(*handles));
	request.sample.handle_count = handle_count;
	ARRAY_GROW(cuda->requests, cuda->request_count, cuda->request_capacity);
	memmove(&cuda->requests[at + 1], &cuda->requests[at],
		(cuda->request_count - at) * sizeof(*cuda->requests));
	cuda->requests[at] = request;
	cuda->request_count++;
	return &cuda->requests[at];
}

struct cuda_request *cuda_request_add(struct cuda_device *cuda, enum measure_request kind,
	const device_handle *handles, size_t handle_count)
{
	return request_insert(cuda, cuda->request_count, kind, handles, handle_count);
}

static void request_remove(struct cuda_device *cuda, size_t at)
{
	record_release(&measure_sample_record, &cuda->requests[at].sample);
	memmove(&cuda->requests[at], &cuda->requests[at + 1],
		(--cuda->request_count - at) * sizeof(*cuda->requests));
}

static bool request_has(const struct cuda_request *request, device_handle handle)
{
	for (size_t i = 0; i < request->sample.handle_count; i++)
		if (request->sample.handles[i] == handle)
			return true;
	return false;
}

static size_t sent_count(const struct cuda_device *cuda)
{
	size_t count = 0;

	while (count < cuda->request_count && cuda->requests[count].sent)
		count++;
	return count;
}

size_t cuda_pending(const struct device *device)
{
	const struct cuda_device *cuda = device->state;
	size_t count = 0;

	for (size_t i = 0; i < cuda->request_count; i++)
		if (!cuda->requests[i].silent && cuda->requests[i].kind != REQUEST_UNLOAD)
			count += cuda->requests[i].sample.handle_count;
	return count;
}

/* ---- events ---- */
static enum device_event_kind event_kind(enum measure_request kind)
{
	return kind == REQUEST_LOAD     ? DEVICE_EVENT_LOADED
	       : kind == REQUEST_VERIFY ? DEVICE_EVENT_VERIFIED
					: DEVICE_EVENT_SAMPLED;
}

/* The compiler's account, completed by what the driver says. */
static void resources_merge(const struct cuda_handle *handle, struct device_event *event)
{
	struct kernel_resources *merged =
		memory_copy(handle->resources, (handle->launch_count + 1) * sizeof(*merged));

	for (size_t i = 0; i < handle->launch_count && i < event->launch_count; i++) {
		merged[i].regs_per_thread = event->resources[i].regs_per_thread;
		merged[i].smem_static_bytes = event->resources[i].smem_static_bytes;
		merged[i].blocks_per_sm = event->resources[i].blocks_per_sm;
		merged[i].max_clusters = event->resources[i].max_clusters;
	}
	free(event->resources);
	event->resources = merged;
	event->launch_count = handle->launch_count;
}

static void charge(
	enum outcome *failure, char **failure_detail, enum outcome outcome, const char *detail)
{
	*failure = outcome;
	free(*failure_detail);
	*failure_detail = string_copy(detail);
}

/* The handle took a worker along, or the reference of its problem failed. */
static void handle_charge(struct cuda_device *cuda, device_handle id, bool reference,
	enum outcome outcome, const char *detail)
{
	struct cuda_handle *handle = cuda_handle_find(cuda, id);
	struct cuda_problem *problem =
		handle->problem ? &cuda->problems[handle->problem - 1] : NULL;

	if (reference && problem)
		charge(&problem->failure, &problem->failure_detail, outcome, detail);
	else
		charge(&handle->failure, &handle->failure_detail, outcome, detail);
}

/* Takes the handle off the first request, and the result, which becomes the event. */
static void answer(struct cuda_device *cuda, struct device_event *result)
{
	struct cuda_request *request = &cuda->requests[0];
	const device_handle handle = result->handle;
	size_t kept = 0;

	result->kind = event_kind(request->kind);
	if (result->kind == DEVICE_EVENT_LOADED && !request->silent)
		resources_merge(cuda_handle_find(cuda, handle), result);
	if (request->silent)
		device_event_release(result);
	else
		device_event_push(cuda->device, *result);
	*result = (struct device_event){0};
	for (size_t i = 0; i < request->sample.handle_count; i++)
		if (request->sample.handles[i] != handle)
			request->sample.handles[kept++] = request->sample.handles[i];
	request->sample.handle_count = kept;
	if (kept == 0)
		request_remove(cuda, 0);
	if (sent_count(cuda) == 0)
		cuda->unanswered_bytes = 0;
}

static void answer_outcome(struct cuda_device *cuda, device_handle handle, bool reference,
	enum outcome outcome, const char *detail)
{
	answer(cuda, &(struct device_event){.handle = handle,
			     .reference = reference,
			     .outcome = outcome,
			     .detail = string_copy(detail)});
}

/* The problem of a request that verifies, if its reference failed. */
static const struct cuda_problem *failed_reference(
	const struct cuda_device *cuda, const struct cuda_request *request)
{
	const struct cuda_handle *handle = cuda_handle_find(cuda, request->sample.handles[0]);
	const struct cuda_problem *problem =
		handle->problem ? &cuda->problems[handle->problem - 1] : NULL;

	return request->kind == REQUEST_VERIFY && problem && problem->failure != OUTCOME_OK
		       ? problem
		       : NULL;
}

/* ---- sending ---- */
static bool send_frame(struct cuda_device *cuda, const struct text *frame)
{
	cuda->unanswered_bytes += frame->length;
	return worker_send(&cuda->worker.process, frame, NULL) == STATUS_OK;
}

static bool problem_send(struct cuda_device *cuda, uint32_t number)
{
	struct cuda_problem *problem = &cuda->problems[number - 1];

	if (problem->generation == cuda->worker.generation)
		return true;
	problem->generation = cuda->worker.generation;
	return send_frame(cuda, &problem->frame);
}

static size_t load_bytes(const struct cuda_device *cuda, const struct cuda_handle *handle)
{
	size_t bytes = handle->frame.length;

	if (handle->problem &&
		cuda->problems[handle->problem - 1].generation != cuda->worker.generation)
		bytes += cuda->problems[handle->problem - 1].frame.length;
	return bytes;
}

/* Writes one request. False if the worker is gone (its end is noticed when reading). */
static bool request_send(struct cuda_device *cuda, struct cuda_request *request)
{
	struct cuda_handle *handle = cuda_handle_find(cuda, request->sample.handles[0]);
	const struct measure_handle asked = {handle->id};
	struct text frame = {0};
	bool sent;

	if (request->kind == REQUEST_LOAD) {
		handle->generation = cuda->worker.generation;
		return (!handle->problem || problem_send(cuda, handle->problem)) &&
		       send_frame(cuda, &handle->frame);
	}
	if (request->kind == REQUEST_SAMPLE)
		message_pack(request->kind, &measure_sample_record, &request->sample, &frame);
	else
		message_pack(request->kind, &measure_handle_record, &asked, &frame);
	sent = send_frame(cuda, &frame);
	text_release(&frame);
	return sent;
}

static void handle_free(struct cuda_device *cuda, struct cuda_handle *handle)
{
	cuda->handles[handle->id - 1] = NULL;
	text_release(&handle->frame);
	free(handle->resources);
	free(handle->failure_detail);
	free(handle);
}

/* What the request at `at` still lacks before it can be sent; false: nothing, send it. */
static bool request_prepare(struct cuda_device *cuda, size_t at)
{
	struct cuda_request *request = &cuda->requests[at];
	const struct cuda_problem *problem = failed_reference(cuda, request);

	if (problem) {
		answer_outcome(cuda, request->sample.handles[0], true, problem->failure,
			problem->failure_detail);
		return true;
	}
	for (size_t i = 0; i < request->sample.handle_count; i++) {
		struct cuda_handle *handle = cuda_handle_find(cuda, request->sample.handles[i]);

		if (request->kind == REQUEST_UNLOAD)
			continue;
		if (handle->failure != OUTCOME_OK) {
			answer_outcome(
				cuda, handle->id, false, handle->failure, handle->failure_detail);
			return true;
		}
		if (request->kind != REQUEST_LOAD &&
			handle->generation != cuda->worker.generation) {
			request_insert(cuda, at, REQUEST_LOAD, &handle->id, 1)->silent = true;
			return true;
		}
	}
	return false;
}

static bool has_failed(const struct cuda_device *cuda, const struct cuda_request *request)
{
	if (failed_reference(cuda, request))
		return true;
	for (size_t i = 0; i < request->sample.handle_count; i++)
		if (cuda_handle_find(cuda, request->sample.handles[i])->failure != OUTCOME_OK)
			return true;
	return false;
}

/* Whether one of the first `count` requests, which were sent, will be answered for the handle. */
static bool is_awaited(const struct cuda_device *cuda, size_t count, device_handle handle)
{
	for (size_t i = 0; i < count; i++)
		if (request_has(&cuda->requests[i], handle))
			return true;
	return false;
}

static void unload(struct cuda_device *cuda, size_t at)
{
	struct cuda_handle *handle = cuda_handle_find(cuda, cuda->requests[at].sample.handles[0]);

	if (handle->generation == cuda->worker.generation && handle->failure == OUTCOME_OK)
		request_send(cuda, &cuda->requests[at]);
	handle_free(cuda, handle);
	request_remove(cuda, at);
}

void cuda_pump(struct cuda_device *cuda)
{
	while (!cuda->lost) {
		size_t at = sent_count(cuda);
		struct cuda_request *request;

		if (at == cuda->request_count || at >= CUDA_QUEUE_DEPTH)
			return;
		request = &cuda->requests[at];
		if (request->kind == REQUEST_UNLOAD) {
			if (is_awaited(cuda, at, request->sample.handles[0]))
				return;
			unload(cuda, at);
			continue;
		}
		/* Answers keep their order: a failed handle's wait until it is their turn. */
		if (at > 0 && has_failed(cuda, request))
			return;
		if (request_prepare(cuda, at))
			continue;
		/* A write must not wait for a worker that is busy: it may hang, and then nothing
		 * would notice. With nothing to answer it reads at once. */
		if (at > 0 && request->kind == REQUEST_LOAD &&
			cuda->unanswered_bytes +
					load_bytes(cuda, cuda_handle_find(cuda,
								 request->sample.handles[0])) >
				(size_t)1 << 19)
			return;
		if (at == 0) {
			cuda->watch_since_s = clock_seconds();
			cuda->progress = (struct measure_progress){0};
		}
		request->sent = true;
		if (!request_send(cuda, request))
			return;
	}
}

/* ---- when the worker is gone ---- */
static void lose(struct cuda_device *cuda, const struct error *err)
{
	struct device_event event = {
		.kind = DEVICE_EVENT_LOST,
		.outcome = OUTCOME_DEVICE_LOST,
		.detail = string_copy(err->message),
	};

	cuda->lost = true;
	while (cuda->request_count)
		request_remove(cuda, cuda->request_count - 1);
	device_event_push(cuda->device, event);
}

static void restart(struct cuda_device *cuda)
{
	struct error err;

	for (size_t i = 0; i < cuda->request_count; i++)
		cuda->requests[i].sent = false;
	cuda->unanswered_bytes = 0;
	cuda->progress = (struct measure_progress){0};
	if (cuda_worker_restart(&cuda->worker, &err) != STATUS_OK)
		lose(cuda, &err);
}

/* Blames the handle in progress. outcome: crashed or timed_out. killed: by SIGKILL from outside. */
static void fail(struct cuda_device *cuda, enum outcome outcome, bool killed, const char *detail)
{
	device_handle active = cuda->progress.handle;
	struct cuda_request *request = cuda->request_count ? &cuda->requests[0] : NULL;

	if (request && request->sent) {
		const bool known = active && request_has(request, active);

		/* Between two steps, or killed: not known whose fault; so once more. */
		const bool again = (!known || killed) && ++request->attempts < CUDA_ATTEMPTS_MAX;

		if (!known)
			active = request->sample.handles[0];
		if (!again) {
			handle_charge(cuda, active, cuda->progress.reference, outcome, detail);
			answer_outcome(cuda, active, cuda->progress.reference, outcome, detail);
		}
	}
	restart(cuda);
}

static void worker_failed(struct cuda_device *cuda)
{
	CLEANUP(text_release) struct text how = {0};
	CLEANUP(memory_free) char *detail = NULL;
	bool killed;

	worker_end(&cuda->worker.process, &how);
	killed = worker_was_killed(&how);
	detail = string_format("the measuring worker %s%s",
		string_starts_with(text_string(&how), "killed") ? "was " : "", text_string(&how));
	fail(cuda, OUTCOME_CRASHED, killed, detail);
}

static void worker_hangs(struct cuda_device *cuda, double allowed_s)
{
	CLEANUP(memory_free)
	char *detail = cuda_worker_kill(&cuda->worker, allowed_s, cuda->progress.reference);

	fail(cuda, OUTCOME_TIMED_OUT, false, detail);
}

/* ---- what the worker says ---- */
/* The context is gone with this answer. */
static void worker_ends(struct cuda_device *cuda, struct device_event *result)
{
	struct cuda_request *request = &cuda->requests[0];

	worker_end(&cuda->worker.process, NULL);
	/* A lost device is not its fault the first time. */
	if (result->outcome != OUTCOME_DEVICE_LOST || ++request->attempts >= CUDA_ATTEMPTS_MAX) {
		handle_charge(
			cuda, result->handle, result->reference, result->outcome, result->detail);
		if (request->silent && request->kind == REQUEST_LOAD)
			request_remove(cuda, 0);
		else
			answer(cuda, result);
	}
	restart(cuda);
}

static bool reply_fits(const struct cuda_device *cuda, uint32_t kind, device_handle handle)
{
	const struct cuda_request *request = cuda->request_count ? &cuda->requests[0] : NULL;

	return request && request->sent && request_has(request, handle) &&
	       kind == (request->kind == REQUEST_LOAD            ? REPLY_LOADED
			       : request->kind == REQUEST_VERIFY ? REPLY_VERIFIED
								 : REPLY_SAMPLED);
}

static void receive(struct cuda_device *cuda, const struct message *message)
{
	static const char who[] = "measuring worker";
	CLEANUP(device_event_release) struct device_event result = {0};

	cuda->watch_since_s = clock_seconds();
	if (message->kind == REPLY_PROGRESS) {
		if (message_unpack(message, &measure_progress_record, who, &cuda->progress, NULL) !=
			STATUS_OK)
			worker_failed(cuda);
		return;
	}
	/* it speaks nonsense */
	if (message->kind < REPLY_LOADED || message->kind > REPLY_SAMPLED ||
		message_unpack(message, &device_event_record, who, &result, NULL) != STATUS_OK ||
		!reply_fits(cuda, message->kind, result.handle)) {
		worker_failed(cuda);
		return;
	}
	cuda->progress = (struct measure_progress){0};
	if (result.fatal) {
		worker_ends(cuda, &result);
		return;
	}
	if (result.reference)
		handle_charge(cuda, result.handle, true, result.outcome, result.detail);
	answer(cuda, &result);
}

void cuda_work(struct device *device, double timeout_s)
{
	struct cuda_device *cuda = device->state;
	struct worker *process = &cuda->worker.process;
	double deadline = clock_seconds() + (timeout_s > 0 ? timeout_s : 0);

	for (;;) {
		double allowed_s, now;
		struct message message;
		enum message_result result;

		cuda_pump(cuda);
		if (device->event_count || cuda->lost || sent_count(cuda) == 0)
			return;
		allowed_s = cuda->progress.allow_s > 0 ? (double)cuda->progress.allow_s
						       : cuda->worker.open.kernel_timeout_s;
		now = clock_seconds();
		result = message_receive(process->from_fd, &process->pending,
			fmax(fmin(cuda->watch_since_s + allowed_s, deadline) - now, 0), &message);
		if (result == MESSAGE_READY) {
			receive(cuda, &message);
			message_release(&message);
		} else if (result == MESSAGE_CLOSED) {
			worker_failed(cuda);
		} else if (clock_seconds() >= cuda->watch_since_s + allowed_s) {
			worker_hangs(cuda, allowed_s);
		} else if (clock_seconds() >= deadline) {
			return;
		}
	}
}

void cuda_queue_release(struct cuda_device *cuda)
{
	while (cuda->request_count)
		request_remove(cuda, cuda->request_count - 1);
	free(cuda->requests);
	for (size_t i = 0; i < cuda->handle_count; i++)
		if (cuda->handles[i])
			handle_free(cuda, cuda->handles[i]);
	free(cuda->handles);
	for (size_t i = 0; i < cuda->problem_count; i++) {
		text_release(&cuda->problems[i].frame);
		free(cuda->problems[i].failure_detail);
	}
	free(cuda->problems);
}
