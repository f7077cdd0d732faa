/* SPDX-License-Identifier: MIT */
#include "measure/worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "measure/sampler.h"
#include "measure/verify.h"

/* A candidate by its handle. */
struct slot {
	struct loaded loaded;
	struct runner runner;
};

struct serving {
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
static void reply(const struct serving *serving, enum measure_reply kind,
	const struct record *record, const void *value)
{
	if (message_send(serving->gpu.reply_fd, kind, record, value, NULL) != STATUS_OK)
		_exit(STATUS_FAILED); /* the parent process has ended */
}

static void reply_or_error(const struct serving *serving, enum status status,
	const struct error *err, enum measure_reply kind, const struct record *record,
	const void *value)
{
	if (status == STATUS_OK)
		reply(serving, kind, record, value);
	else
		reply(serving, REPLY_ERROR, &measure_error_record, err);
}

static void reply_result(
	struct serving *serving, enum measure_reply kind, const struct device_event *result)
{
	reply(serving, kind, &device_event_record, result);
	serving->ending |= result->fatal;
}

/* ---- GPUs ---- */
static enum status list_gpus(
	struct cuda_api *cuda, struct nvml **nvml, struct measure_gpus *list, struct error *err)
{
	int count = 0;

	TRY(cuda_api_open(cuda, err));
	*nvml = nvml_open();
	TRY(cuda_check(cuda, cuda->cuDeviceGetCount(&count), "cuDeviceGetCount", err));
	list->gpus = memory_zeroed((size_t)count + 1, sizeof(*list->gpus));
	for (int i = 0; i < count; i++) {
		CUdevice device;

		TRY(cuda_check(cuda, cuda->cuDeviceGet(&device, i), "cuDeviceGet", err));
		TRY(gpu_session_describe(cuda, *nvml, device, &list->gpus[list->count++], err));
	}
	return STATUS_OK;
}

static void serve_list(struct serving *serving, void *request)
{
	struct measure_gpus list = {0};
	struct cuda_api cuda;
	struct nvml *nvml = NULL;
	struct error err = {0};

	(void)request;
	reply_or_error(serving, list_gpus(&cuda, &nvml, &list, &err), &err, REPLY_LIST,
		&measure_gpus_record, &list);
	free(list.gpus);
	nvml_close(nvml);
	cuda_api_close(&cuda);
}

static void serve_hello(struct serving *serving, void *request)
{
	const struct measure_hello *hello = request;
	struct error err = {0};

	reply_or_error(serving,
		gpu_session_hello(&serving->gpu, hello->device ? hello->device : "", &err), &err,
		REPLY_HELLO, &measure_gpu_record, &serving->gpu.gpu);
}

static void serve_open(struct serving *serving, void *request)
{
	serving->open_status = gpu_session_open(&serving->gpu, request, &serving->open_error);
	random_seed(&serving->random, serving->gpu.options.seed);
}

static void serve_helpers(struct serving *serving, void *request)
{
	const struct measure_helpers *helpers = request;
	struct error err = serving->open_error;
	enum status status = serving->open_status;

	if (status == STATUS_OK)
		status = gpu_session_helpers(&serving->gpu, &helpers->cubin, &err);
	reply_or_error(serving, status, &err, REPLY_HELPERS, NULL, NULL);
}

/* ---- problems ---- */
static struct problem_data *problem_find(const struct serving *serving, uint32_t id)
{
	for (size_t i = 0; i < serving->problem_count; i++)
		if (serving->problems[i]->told.problem == id)
			return serving->problems[i];
	return NULL;
}

static void serve_problem(struct serving *serving, void *request)
{
	struct measure_problem *told = request;
	struct problem_data *problem = memory_zeroed(1, sizeof(*problem));

	problem->told = *told;
	*told = (struct measure_problem){0};
	ARRAY_GROW(serving->problems, serving->problem_count, serving->problem_capacity);
	serving->problems[serving->problem_count++] = problem;
}

/* Gives back the memory of the problem for which nothing is loaded and that was used longest ago.
 */
static bool reclaim(void *context)
{
	struct serving *serving = context;
	struct problem_data *oldest = NULL;

	for (size_t i = 0; i < serving->problem_count; i++) {
		struct problem_data *problem = serving->problems[i];

		if (problem->users == 0 && problem->arena.base &&
			(!oldest || problem->last_use_s < oldest->last_use_s))
			oldest = problem;
	}
	if (oldest)
		problem_data_evict(&serving->gpu, oldest);
	return oldest != NULL;
}

/* ---- candidates ---- */
static struct slot *slot_find(const struct serving *serving, uint32_t handle)
{
	for (size_t i = 0; i < serving->slot_count; i++)
		if (serving->slots[i]->loaded.handle == handle)
			return serving->slots[i];
	return NULL;
}

static void serve_load(struct serving *serving, void *request)
{
	struct measure_load *load = request;
	struct problem_data *problem = problem_find(serving, load->problem);
	struct slot *slot = memory_zeroed(1, sizeof(*slot));
	struct device_event result = {.handle = load->handle};

	gpu_progress(&serving->gpu, load->handle, 0);
	ARRAY_GROW(serving->slots, serving->slot_count, serving->slot_capacity);
	serving->slots[serving->slot_count++] = slot;
	if (load->problem && !problem) {
		slot->loaded.handle = load->handle;
		gpu_fail(&serving->gpu, OUTCOME_LAUNCH_FAILED, "problem %u is unknown",
			load->problem);
		slot->loaded.failure = serving->gpu.failure;
	} else {
		loaded_init(&serving->gpu, &slot->loaded, load->handle, problem, &load->plan,
			load->cubins, load->cubin_count);
	}
	result.outcome = slot->loaded.failure.outcome;
	result.fatal = slot->loaded.failure.fatal;
	if (result.outcome != OUTCOME_OK)
		result.detail = slot->loaded.failure.detail;
	if (slot->loaded.resources) {
		result.resources = slot->loaded.resources;
		result.launch_count = slot->loaded.plan.launch_count;
	}
	reply_result(serving, REPLY_LOADED, &result); /* borrows from the slot */
}

static void serve_verify(struct serving *serving, void *request)
{
	const struct measure_handle *asked = request;
	struct device_event result = {.handle = asked->handle, .outcome = OUTCOME_LAUNCH_FAILED};
	struct slot *slot = slot_find(serving, asked->handle);

	gpu_progress(&serving->gpu, result.handle, 0);
	if (!slot || slot->loaded.failure.outcome != OUTCOME_OK) {
		result.outcome = slot ? slot->loaded.failure.outcome : OUTCOME_LAUNCH_FAILED;
		result.detail =
			string_copy(slot ? slot->loaded.failure.detail : "it is not loaded");
	} else if (!slot->loaded.problem) {
		result.detail = string_copy("there is nothing to compare with");
	} else {
		verify_run(&serving->gpu, &slot->loaded, &result);
	}
	reply_result(serving, REPLY_VERIFIED, &result);
	record_release(&device_event_record, &result);
}

static void emit_sampled(struct device_event *result, void *context)
{
	reply_result(context, REPLY_SAMPLED, result);
}

static void serve_sample(struct serving *serving, void *request)
{
	const struct measure_sample *sample = request;
	struct sampler_entry *entries = memory_zeroed(sample->handle_count + 1, sizeof(*entries));

	for (size_t i = 0; i < sample->handle_count; i++) {
		struct slot *slot = slot_find(serving, sample->handles[i]);

		entries[i].handle = sample->handles[i];
		entries[i].loaded = slot ? &slot->loaded : NULL;
		entries[i].runner = slot ? &slot->runner : NULL;
		if (slot && slot->loaded.problem)
			slot->loaded.problem->touched = true;
	}
	sampler_serve(&serving->gpu, entries, sample->handle_count, &sample->sampling,
		&serving->random, emit_sampled, serving);
	free(entries);
}

static void slot_free(struct serving *serving, struct slot *slot)
{
	runner_release(&serving->gpu, &slot->runner);
	loaded_release(&serving->gpu, &slot->loaded);
	free(slot);
}

static void serve_unload(struct serving *serving, void *request)
{
	const struct measure_handle *asked = request;

	for (size_t i = 0; i < serving->slot_count; i++)
		if (serving->slots[i]->loaded.handle == asked->handle) {
			slot_free(serving, serving->slots[i]);
			serving->slots[i] = serving->slots[--serving->slot_count];
			return;
		}
}

/* ---- the loop ---- */
union request {
	struct measure_hello hello;
	struct measure_open open;
	struct measure_helpers helpers;
	struct measure_problem problem;
	struct measure_load load;
	struct measure_handle handle;
	struct measure_sample sample;
};

static const struct {
	void (*serve)(struct serving *serving, void *request); /* may take what it keeps */
	const struct record *record;                           /* NULL: no payload */
} services[REQUEST_COUNT] = {
	[REQUEST_LIST] = {serve_list, NULL},
	[REQUEST_HELLO] = {serve_hello, &measure_hello_record},
	[REQUEST_OPEN] = {serve_open, &measure_open_record},
	[REQUEST_HELPERS] = {serve_helpers, &measure_helpers_record},
	[REQUEST_PROBLEM] = {serve_problem, &measure_problem_record},
	[REQUEST_LOAD] = {serve_load, &measure_load_record},
	[REQUEST_VERIFY] = {serve_verify, &measure_handle_record},
	[REQUEST_SAMPLE] = {serve_sample, &measure_sample_record},
	[REQUEST_UNLOAD] = {serve_unload, &measure_handle_record},
};

static void serve(struct serving *serving, const struct message *message)
{
	const uint32_t kind = message->kind;
	const struct record *record;
	union request request;
	struct error err = {0};

	if (kind >= REQUEST_COUNT || !services[kind].serve)
		return;
	record = services[kind].record;
	if (record &&
		message_unpack(message, record, "measuring request", &request, &err) != STATUS_OK) {
		reply(serving, REPLY_ERROR, &measure_error_record, &err);
		serving->ending = true;
		return;
	}
	services[kind].serve(serving, &request);
	if (record)
		record_release(record, &request);
}

static void serving_release(struct serving *serving)
{
	while (serving->slot_count)
		slot_free(serving, serving->slots[--serving->slot_count]);
	while (serving->problem_count) {
		struct problem_data *problem = serving->problems[--serving->problem_count];

		problem_data_release(&serving->gpu, problem);
		free(problem);
	}
	free(serving->slots);
	free(serving->problems);
	gpu_session_close(&serving->gpu);
}

int measure_worker_main(void)
{
	struct serving serving = {.open_status = STATUS_OK};
	struct text pending = {0};
	struct message message;
	int reply_fd = worker_begin();

	if (reply_fd < 0)
		return STATUS_FAILED;
	serving.gpu.reply_fd = reply_fd;
	serving.gpu.reclaim = reclaim;
	serving.gpu.reclaim_context = &serving;
	while (!serving.ending &&
		message_receive(STDIN_FILENO, &pending, -1, &message) == MESSAGE_READY) {
		serve(&serving, &message);
		message_release(&message);
	}
	text_release(&pending);
	/* With its context gone the driver answers nothing but errors: leave it to the kernel. */
	if (serving.ending)
		_exit(STATUS_FAILED);
	serving_release(&serving);
	close(reply_fd);
	return STATUS_OK;
}
