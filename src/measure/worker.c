/* SPDX-License-Identifier: MIT */
#include "measure/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/child.h"
#include "base/memory.h"
#include "measure/sampler.h"
#include "measure/verify.h"

/* A candidate by its handle. */
struct slot {
	struct loaded loaded;
	struct runner runner;
};

struct worker {
	struct gpu_session gpu;
	enum status open_status; /* of OPEN: reported with the next reply */
	struct error open_error;
	struct problem_data **problems;
	size_t problem_count, problem_capacity;
	struct slot **slots;
	size_t slot_count, slot_capacity;
	struct random_state random;
	bool ending; /* the context is gone */
};

/* ---- replies ---- */
static void reply(const struct worker *worker, enum measure_reply kind, struct text *payload)
{
	if (message_send(worker->gpu.reply_fd, kind, text_string(payload), payload->length, NULL) !=
		STATUS_OK)
		_exit(STATUS_FAILED); /* nobody listens any more */
	text_release(payload);
}

static void reply_error(const struct worker *worker, const struct error *error)
{
	struct text payload = {0};

	measure_error_pack(error, &payload);
	reply(worker, REPLY_ERROR, &payload);
}

static void reply_result(
	struct worker *worker, enum measure_reply kind, const struct measure_result *result)
{
	struct text payload = {0};

	measure_result_pack(result, &payload);
	reply(worker, kind, &payload);
	worker->ending |= result->fatal;
}

/* ---- GPUs ---- */
static void serve_list(struct worker *worker)
{
	struct json *header = json_new_object(), *list = json_new_array();
	struct cuda_api cuda;
	struct nvml *nvml = NULL;
	struct error err = {0};
	struct text payload = {0};
	int count = 0;
	enum status status = cuda_api_open(&cuda, &err);

	if (status == STATUS_OK) {
		nvml = nvml_open();
		status = cuda_check(&cuda, cuda.cuDeviceGetCount(&count), "cuDeviceGetCount", &err);
	}
	for (int i = 0; status == STATUS_OK && i < count; i++) {
		struct measure_gpu gpu;
		CUdevice device;

		status = cuda_check(&cuda, cuda.cuDeviceGet(&device, i), "cuDeviceGet", &err);
		if (status == STATUS_OK)
			status = gpu_session_describe(&cuda, nvml, device, &gpu, &err);
		if (status == STATUS_OK)
			json_push(list, measure_gpu_to_json(&gpu));
	}
	json_put(header, "gpus", list);
	if (status == STATUS_OK) {
		packet_pack(header, NULL, 0, &payload);
		reply(worker, REPLY_LIST, &payload);
	} else {
		json_free(header);
		reply_error(worker, &err);
	}
	nvml_close(nvml);
	cuda_api_close(&cuda);
}

static void serve_hello(struct worker *worker, const struct packet *packet)
{
	struct error err = {0};
	const char *name = "";
	struct text payload = {0};
	struct json *header;

	if (json_member_string(&packet->root, "device", &name, &err) != STATUS_OK ||
		gpu_session_hello(&worker->gpu, name, &err) != STATUS_OK) {
		reply_error(worker, &err);
		return;
	}
	header = json_new_object();
	json_put(header, "gpu", measure_gpu_to_json(&worker->gpu.gpu));
	packet_pack(header, NULL, 0, &payload);
	reply(worker, REPLY_HELLO, &payload);
}

static void serve_open(struct worker *worker, const struct packet *packet)
{
	struct measure_open open;

	worker->open_status = measure_open_unpack(packet, &open, &worker->open_error);
	if (worker->open_status == STATUS_OK)
		worker->open_status = gpu_session_open(&worker->gpu, &open, &worker->open_error);
	random_seed(&worker->random, worker->gpu.options.seed);
}

static void serve_helpers(struct worker *worker, const struct packet *packet)
{
	struct error err = worker->open_error;
	enum status status = worker->open_status;
	struct text payload = {0};

	if (status == STATUS_OK && packet->blob_count != 1)
		status = error_set(&err, STATUS_FAILED, "measuring worker: expected one blob");
	if (status == STATUS_OK)
		status = gpu_session_helpers(&worker->gpu, &packet->blobs[0], &err);
	if (status != STATUS_OK) {
		reply_error(worker, &err);
		return;
	}
	packet_pack(json_new_object(), NULL, 0, &payload);
	reply(worker, REPLY_HELPERS, &payload);
}

/* ---- problems ---- */
static struct problem_data *problem_find(const struct worker *worker, uint32_t id)
{
	for (size_t i = 0; i < worker->problem_count; i++)
		if (worker->problems[i]->id == id)
			return worker->problems[i];
	return NULL;
}

static void serve_problem(struct worker *worker, struct packet *packet)
{
	struct problem_data *problem = memory_zeroed(1, sizeof(*problem));

	/* What cannot be read is missed when a candidate wants it. */
	if (measure_problem_unpack(packet, &problem->id, &problem->title, &problem->reference,
		    NULL) != STATUS_OK) {
		free(problem);
		return;
	}
	problem->reference_cubin = packet->blobs[0];
	packet->blobs[0] = (struct text){0};
	ARRAY_GROW(worker->problems, worker->problem_count, worker->problem_capacity);
	worker->problems[worker->problem_count++] = problem;
}

/* Gives back the memory of the problem that nobody has loaded for and that was used longest ago. */
static bool reclaim(void *context)
{
	struct worker *worker = context;
	struct problem_data *oldest = NULL;

	for (size_t i = 0; i < worker->problem_count; i++) {
		struct problem_data *problem = worker->problems[i];

		if (problem->users == 0 && problem->arena.base &&
			(!oldest || problem->last_use_s < oldest->last_use_s))
			oldest = problem;
	}
	if (oldest)
		problem_data_evict(&worker->gpu, oldest);
	return oldest != NULL;
}

/* ---- candidates ---- */
static struct slot *slot_find(const struct worker *worker, uint32_t handle)
{
	for (size_t i = 0; i < worker->slot_count; i++)
		if (worker->slots[i]->loaded.handle == handle)
			return worker->slots[i];
	return NULL;
}

static void serve_load(struct worker *worker, const struct packet *packet)
{
	struct measure_result result = {0};
	struct plan plan = {0};
	struct error err = {0};
	uint32_t problem_id = 0;
	struct problem_data *problem;
	struct slot *slot;

	if (measure_load_unpack(packet, &result.handle, &problem_id, &plan, &err) != STATUS_OK) {
		result.outcome = OUTCOME_LAUNCH_FAILED;
		result.detail = string_copy(err.message);
		reply_result(worker, REPLY_LOADED, &result);
		measure_result_release(&result);
		return;
	}
	gpu_progress(&worker->gpu, result.handle, 0);
	problem = problem_find(worker, problem_id);
	slot = memory_zeroed(1, sizeof(*slot));
	ARRAY_GROW(worker->slots, worker->slot_count, worker->slot_capacity);
	worker->slots[worker->slot_count++] = slot;
	if (problem_id && !problem) {
		slot->loaded.handle = result.handle;
		failure_set(&slot->loaded.failure, OUTCOME_LAUNCH_FAILED, "problem %u is unknown",
			problem_id);
		plan_release(&plan);
	} else {
		loaded_init(&worker->gpu, &slot->loaded, result.handle, problem, &plan,
			packet->blobs, packet->blob_count);
	}
	result.outcome = slot->loaded.failure.outcome;
	result.fatal = slot->loaded.failure.fatal;
	if (result.outcome != OUTCOME_OK)
		result.detail = slot->loaded.failure.detail;
	if (slot->loaded.resources) {
		result.resources = slot->loaded.resources;
		result.launch_count = slot->loaded.plan.launch_count;
	}
	reply_result(worker, REPLY_LOADED, &result); /* borrows from the slot */
}

static void serve_verify(struct worker *worker, const struct packet *packet)
{
	struct measure_result result = {.outcome = OUTCOME_LAUNCH_FAILED};
	struct slot *slot;

	measure_handle_unpack(packet, &result.handle, NULL);
	slot = slot_find(worker, result.handle);
	gpu_progress(&worker->gpu, result.handle, 0);
	if (!slot || slot->loaded.failure.outcome != OUTCOME_OK) {
		result.outcome = slot ? slot->loaded.failure.outcome : OUTCOME_LAUNCH_FAILED;
		result.detail =
			string_copy(slot ? slot->loaded.failure.detail : "it is not loaded");
	} else if (!slot->loaded.problem) {
		result.detail = string_copy("there is nothing to compare with");
	} else {
		loaded_verify(&worker->gpu, &slot->loaded, &result);
	}
	reply_result(worker, REPLY_VERIFIED, &result);
	measure_result_release(&result);
}

static void emit_sampled(struct measure_result *result, void *context)
{
	reply_result(context, REPLY_SAMPLED, result);
}

static void serve_sample(struct worker *worker, const struct packet *packet)
{
	struct measure_sample request;
	struct sampler_entry *entries;

	if (measure_sample_unpack(packet, &request, NULL) != STATUS_OK)
		return;
	entries = memory_zeroed(request.handle_count + 1, sizeof(*entries));
	for (size_t i = 0; i < request.handle_count; i++) {
		struct slot *slot = slot_find(worker, request.handles[i]);

		entries[i].handle = request.handles[i];
		entries[i].loaded = slot ? &slot->loaded : NULL;
		entries[i].runner = slot ? &slot->runner : NULL;
	}
	sampler_serve(&worker->gpu, entries, request.handle_count, &request, &worker->random,
		emit_sampled, worker);
	free(entries);
	measure_sample_release(&request);
}

static void slot_free(struct worker *worker, struct slot *slot)
{
	runner_release(&worker->gpu, &slot->runner);
	loaded_release(&worker->gpu, &slot->loaded);
	free(slot);
}

static void serve_unload(struct worker *worker, const struct packet *packet)
{
	uint32_t handle = 0;

	measure_handle_unpack(packet, &handle, NULL);
	for (size_t i = 0; i < worker->slot_count; i++)
		if (worker->slots[i]->loaded.handle == handle) {
			slot_free(worker, worker->slots[i]);
			worker->slots[i] = worker->slots[--worker->slot_count];
			return;
		}
}

/* ---- the loop ---- */
static void serve(struct worker *worker, const struct message *message)
{
	struct packet packet;
	struct error err = {0};

	if (packet_unpack(&message->payload, "measuring request", &packet, &err) != STATUS_OK) {
		reply_error(worker, &err);
		worker->ending = true;
		return;
	}
	switch ((enum measure_request)message->kind) {
	case REQUEST_LIST:
		serve_list(worker);
		break;
	case REQUEST_HELLO:
		serve_hello(worker, &packet);
		break;
	case REQUEST_OPEN:
		serve_open(worker, &packet);
		break;
	case REQUEST_HELPERS:
		serve_helpers(worker, &packet);
		break;
	case REQUEST_PROBLEM:
		serve_problem(worker, &packet);
		break;
	case REQUEST_LOAD:
		serve_load(worker, &packet);
		break;
	case REQUEST_VERIFY:
		serve_verify(worker, &packet);
		break;
	case REQUEST_SAMPLE:
		serve_sample(worker, &packet);
		break;
	case REQUEST_UNLOAD:
		serve_unload(worker, &packet);
		break;
	}
	packet_release(&packet);
}

static void worker_release(struct worker *worker)
{
	while (worker->slot_count)
		slot_free(worker, worker->slots[--worker->slot_count]);
	while (worker->problem_count) {
		struct problem_data *problem = worker->problems[--worker->problem_count];

		problem_data_release(&worker->gpu, problem);
		free(problem);
	}
	free(worker->slots);
	free(worker->problems);
	gpu_session_close(&worker->gpu);
}

int measure_worker_main(void)
{
	struct worker worker = {.open_status = STATUS_OK};
	struct text pending = {0};
	struct message message;
	int reply_fd;

	child_follow_parent();
	signal(SIGPIPE, SIG_IGN);
	/* Frames have a descriptor of their own: what a library prints must not end up among them.
	 */
	reply_fd = dup(STDOUT_FILENO);
	if (reply_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return STATUS_FAILED;
	worker.gpu.reply_fd = reply_fd;
	worker.gpu.reclaim = reclaim;
	worker.gpu.reclaim_context = &worker;
	while (!worker.ending &&
		message_receive(STDIN_FILENO, &pending, -1, &message) == MESSAGE_READY) {
		serve(&worker, &message);
		message_release(&message);
	}
	text_release(&pending);
	/* With its context gone the driver answers nothing but errors: leave it to the kernel. */
	if (worker.ending)
		_exit(STATUS_FAILED);
	worker_release(&worker);
	close(reply_fd);
	return STATUS_OK;
}
