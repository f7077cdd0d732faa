/* SPDX-License-Identifier: MIT */
#include "measure/worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "measure/retest.h"
#include "measure/sampler.h"
#include "measure/verify.h"
#include "record/record_write.h"

/* Limits of the cache while memory suffices. */
enum {
	KERNELS_KEPT = 64,
	PROBLEMS_KEPT = 16,
};

struct kept {
	char key[HASH_SIZE];
	struct loaded loaded;
	struct runner runner;
	unsigned long request; /* last request that used the candidate */
};

struct serving {
	struct gpu_session gpu;
	struct problem_data **problems; /* least recently used first */
	size_t problem_count, problem_capacity;
	struct kept **kept; /* least recently used first */
	size_t kept_count, kept_capacity;
	unsigned long request;
	struct random_state random;
	bool ending; /* the last reply was sent */
};

static void reply_error(struct serving *serving, const struct error *err)
{
	gpu_send(&serving->gpu, &measure_answer_record,
		&(struct measure_answer){
			.id = serving->gpu.request_id, .failed = true, .error = *err});
	serving->ending = true;
}

static void reply_result(struct device_reply *reply, void *context)
{
	struct serving *serving = context;

	gpu_phase(&serving->gpu, NULL);
	gpu_send(&serving->gpu, &measure_answer_record,
		&(struct measure_answer){.id = serving->gpu.request_id,
			.job = (int64_t)reply->ticket,
			.has_outcome = true,
			.reply = *reply});
	serving->ending |= reply->fatal;
	result_release(&reply->result);
}

static enum status list_gpus(
	struct gpu_session *gpu, const char *name, struct measure_answer *list, struct error *err)
{
	const struct cuda_api *cuda = &gpu->cuda;
	CUdevice device;
	int count = 0;

	TRY(gpu_session_driver(gpu, err));
	list->gpus = memory_zeroed(1, sizeof(*list->gpus));
	if (name) {
		TRY(gpu_find(cuda, name, &device, err));
		list->gpu_count = 1;
		return gpu_session_describe(cuda, gpu->nvml, device, list->gpus, err);
	}
	TRY(cuda_check(cuda, cuda->cuDeviceGetCount(&count), "cuDeviceGetCount", err));
	list->gpus = memory_resize(list->gpus, (size_t)count + 1, sizeof(*list->gpus));
	for (int i = 0; i < count; i++) {
		TRY(cuda_check(cuda, cuda->cuDeviceGet(&device, i), "cuDeviceGet", err));
		TRY(gpu_session_describe(
			cuda, gpu->nvml, device, &list->gpus[list->gpu_count++], err));
	}
	return STATUS_OK;
}

static void serve_hello(struct serving *serving, const struct measure_request *request)
{
	struct measure_answer list = {.id = request->id};
	struct error err = {0};

	if (list_gpus(&serving->gpu, request->device, &list, &err) == STATUS_OK)
		gpu_send(&serving->gpu, &measure_answer_record, &list);
	else
		reply_error(serving, &err);
	free(list.gpus);
}

/* Makes an item the most recently used one. */
static void *use(void **items, size_t count, size_t at)
{
	void *item = items[at];

	memmove(&items[at], &items[at + 1], (count - 1 - at) * sizeof(*items));
	items[count - 1] = item;
	return item;
}

static void problem_drop(struct serving *serving, size_t at)
{
	struct problem_data *problem =
		use((void **)serving->problems, serving->problem_count--, at);

	problem_data_release(&serving->gpu, problem);
	free(problem);
}

/* Finds or adds a problem. Takes the description of a new one. */
static struct problem_data *problem_use(struct serving *serving, struct device_problem *description)
{
	struct problem_data *problem = NULL;
	char key[HASH_SIZE];

	device_problem_key(description, key);
	for (size_t i = 0; !problem && i < serving->problem_count; i++)
		if (strcmp(serving->problems[i]->key, key) == 0)
			problem = use((void **)serving->problems, serving->problem_count, i);
	for (size_t i = 0; !problem && i < serving->problem_count; i++)
		if (serving->problem_count >= PROBLEMS_KEPT && !serving->problems[i]->users &&
			serving->problems[i]->request != serving->request)
			problem_drop(serving, i--);
	if (!problem) {
		problem = memory_zeroed(1, sizeof(*problem));
		memcpy(problem->key, key, sizeof(key));
		problem->description = *description;
		problem->reference = &problem->description.reference;
		*description = (struct device_problem){0};
		ARRAY_GROW(serving->problems, serving->problem_count, serving->problem_capacity);
		serving->problems[serving->problem_count++] = problem;
	}
	problem->request = serving->request;
	return problem;
}

static void kept_drop(struct serving *serving, size_t at)
{
	struct kept *kept = use((void **)serving->kept, serving->kept_count--, at);

	runner_release(&serving->gpu, &kept->runner);
	loaded_release(&serving->gpu, &kept->loaded);
	free(kept);
}

/* Frees the least recently used candidate or, if this request uses all of them, the tensors of a
 * problem without candidates. Returns false if nothing can be freed. */
static bool reclaim(void *context)
{
	struct serving *serving = context;

	if (serving->kept_count && serving->kept[0]->request != serving->request) {
		kept_drop(serving, 0);
		return true;
	}
	for (size_t i = 0; i < serving->problem_count; i++)
		if (!serving->problems[i]->users && serving->problems[i]->arena.base) {
			problem_data_evict(&serving->gpu, serving->problems[i]);
			return true;
		}
	return false;
}

/* Finds or loads a candidate. Takes the plan of a new one. */
static struct kept *kept_use(struct serving *serving, struct device_job *job)
{
	struct problem_data *problem = job->problem ? problem_use(serving, job->problem) : NULL;
	CLEANUP(text_release) struct text text = {0};
	struct hash *hash = hash_new();
	struct kept *kept;
	char key[HASH_SIZE];

	record_append(&plan_record, job->plan, &text);
	hash_add(hash, text.data, text.length);
	hash_add(hash, &job->load, sizeof(job->load));
	for (size_t i = 0; i < job->cubin_count; i++)
		hash_add_string(hash, job->cubins[i]);
	if (problem)
		hash_add_string(hash, problem->key);
	hash_finish(hash, key);
	for (size_t i = 0; i < serving->kept_count; i++)
		if (strcmp(serving->kept[i]->key, key) == 0)
			return use((void **)serving->kept, serving->kept_count, i);
	while (serving->kept_count >= KERNELS_KEPT && serving->kept[0]->request != serving->request)
		kept_drop(serving, 0);
	kept = memory_zeroed(1, sizeof(*kept));
	memcpy(kept->key, key, sizeof(key));
	kept->request = serving->request;
	ARRAY_GROW(serving->kept, serving->kept_count, serving->kept_capacity);
	serving->kept[serving->kept_count++] = kept;
	loaded_init(
		&serving->gpu, &kept->loaded, problem, job->plan, job->cubins, job->cubin_count);
	/* loading also needs memory */
	while (kept->loaded.failure.outcome == OUTCOME_OUT_OF_MEMORY && reclaim(serving)) {
		*job->plan = kept->loaded.plan;
		kept->loaded.plan = (struct plan){0};
		loaded_release(&serving->gpu, &kept->loaded);
		loaded_init(&serving->gpu, &kept->loaded, problem, job->plan, job->cubins,
			job->cubin_count);
	}
	return kept;
}

/* The time of the second series becomes the only sample. */
static void retest(struct serving *serving, struct kept *kept, struct device_reply *answer)
{
	double time_us = 0;

	if (!kept->loaded.problem)
		return;
	/* other candidates may have changed the tensors */
	if (!problem_data_restore(&serving->gpu, kept->loaded.problem) ||
		!retest_series(&serving->gpu, &kept->runner, answer, &time_us)) {
		gpu_take_failure(&serving->gpu.failure, answer);
		return;
	}
	answer->result.samples_us = memory_copy(&time_us, sizeof(time_us));
	answer->result.sample_count = 1;
}

/* Returns NULL if the job is answered. */
static struct kept *prepare(
	struct serving *serving, bool times, struct device_job *job, struct device_reply *answer)
{
	struct result *result = &answer->result;
	struct kept *kept;

	*answer = (struct device_reply){.ticket = job->ticket};
	serving->gpu.ticket = job->ticket;
	gpu_progress(&serving->gpu, 0, false);
	gpu_phase(&serving->gpu, &result->spent.load_ms);
	kept = kept_use(serving, job);
	kept->request = serving->request;
	if (kept->loaded.failure.outcome != OUTCOME_OK)
		gpu_take_failure(&kept->loaded.failure, answer);
	else
		result->resources = memory_copy(kept->loaded.resources,
			(kept->loaded.plan.launch_count + 1) * sizeof(*result->resources));
	result->launch_count = result->resources ? kept->loaded.plan.launch_count : 0;
	gpu_phase(&serving->gpu, &result->spent.confirm_ms);
	if (result->outcome == OUTCOME_OK && job->verify && !times && kept->runner.estimate_us > 0)
		retest(serving, kept, answer);
	gpu_phase(&serving->gpu, &result->spent.verify_ms);
	if (result->outcome == OUTCOME_OK && job->verify)
		verify_run(&serving->gpu, &kept->loaded, answer);
	gpu_phase(&serving->gpu, NULL);
	if (result->outcome == OUTCOME_OK && times)
		return kept;
	reply_result(answer, serving);
	/* a later attempt may succeed */
	if (!serving->ending && kept->loaded.failure.outcome != OUTCOME_OK)
		kept_drop(serving, serving->kept_count - 1);
	return NULL;
}

static void run_jobs(struct serving *serving, struct measure_request *run)
{
	const bool times = run->sampling.rounds || run->sampling.energy_s > 0;
	CLEANUP(memory_free)
	struct series *series = memory_zeroed(run->job_count + 1, sizeof(*series));
	size_t count = 0;

	serving->gpu.has_job = true;
	for (size_t i = 0; i < run->job_count && !serving->ending; i++) {
		struct kept *kept = prepare(serving, times, &run->jobs[i], &series[count].reply);

		if (!kept)
			continue;
		kept->runner.loaded = &kept->loaded;
		series[count++].runner = &kept->runner;
		if (kept->loaded.problem)
			kept->loaded.problem->touched = true;
	}
	if (count && !serving->ending)
		sampler_serve(&serving->gpu, series, count, &run->sampling, &serving->random,
			reply_result, serving);
	serving->gpu.has_job = false;
}

static void serve_run(struct serving *serving, struct measure_request *run)
{
	const bool is_first = !serving->gpu.context;
	struct error err = {0};

	serving->request++;
	for (size_t i = 0; i < run->job_count; i++)
		run->jobs[i].ticket = i;
	if (!run->setup)
		error_set(&err, STATUS_FAILED, "the request has no setup");
	else if (gpu_session_open(&serving->gpu, run->setup, &err) == STATUS_OK) {
		if (is_first)
			random_seed(&serving->random, run->setup->seed);
		gpu_progress(&serving->gpu, 0, false);
	}
	if (err.status != STATUS_OK)
		reply_error(serving, &err);
	else
		run_jobs(serving, run);
}

static void serve(struct serving *serving, const struct text *line)
{
	struct measure_request request = {0};
	struct error err = {0};

	if (line_read(&measure_request_record, line, "measuring request", &request, &err) !=
		STATUS_OK) {
		reply_error(serving, &err);
		return;
	}
	serving->gpu.request_id = request.id;
	if (request.kind == REQUEST_HELLO)
		serve_hello(serving, &request);
	else
		serve_run(serving, &request);
	record_release(&measure_request_record, &request);
}

static void serving_release(struct serving *serving)
{
	while (serving->kept_count)
		kept_drop(serving, serving->kept_count - 1);
	while (serving->problem_count)
		problem_drop(serving, serving->problem_count - 1);
	free(serving->kept);
	free(serving->problems);
	gpu_session_close(&serving->gpu);
}

int measure_worker_main(void)
{
	struct serving serving = {0};
	struct text pending = {0}, line;
	int reply_fd = worker_begin();

	if (reply_fd < 0)
		return STATUS_FAILED;
	serving.gpu.reply_fd = reply_fd;
	serving.gpu.reclaim = reclaim;
	serving.gpu.reclaim_context = &serving;
	while (!serving.ending &&
		line_receive(STDIN_FILENO, &pending, -1, &line) == MESSAGE_READY) {
		serve(&serving, &line);
		text_release(&line);
	}
	text_release(&pending);
	/* driver calls would fail */
	if (serving.ending)
		_exit(STATUS_FAILED);
	serving_release(&serving);
	close(reply_fd);
	return STATUS_OK;
}
