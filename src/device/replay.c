/* SPDX-License-Identifier: MIT
 *
 * replay:FILE, a device that is a recorded journal (plain or gzip). Nothing is compiled and nothing
 * runs: each candidate meets the outcome and the samples that the journal has for it, at the stage
 * at which it met them then. Times are as good as the recording: a GPU's are measured, a model's
 * predicted. For tests, search research and demonstrations.
 *
 * A request to sample one handle is answered by the samples of the search, one for several handles
 * by those of the re-measurement. A candidate that was not in it is answered by its samples of the
 * search, made as much longer as the others became: the card was warmer then.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/device_kind.h"
#include "device/replay_record.h"

struct replay_problem {
	char *operation, *text;
};

struct replay {
	char *path;
	struct replay_record record;
	struct replay_problem *problems; /* number - 1 */
	size_t problem_count, problem_capacity;
	const struct replay_candidate **handles; /* number - 1; NULL: not recorded, or unloaded */
	size_t handle_count, handle_capacity;
	struct event_queue events;
};

extern const struct device_kind device_kind_replay;
/* The same of a journal whose times were predicted. */
static const struct device_kind replay_predicted;

static void override(int64_t *limit, int64_t recorded)
{
	if (recorded > 0)
		*limit = recorded;
}

/* The sheet that the run names, with the limits that the GPU had then; without one, from those. */
static enum status recorded_spec(const struct gpu_model *model,
	const struct device_options *options, struct device_spec **spec, struct error *err)
{
	struct device_facts facts = {0};
	enum status status;

	facts.compute_capability = (int)model->compute_capability;
	string_put(facts.name, sizeof(facts.name), model->name);
	override(&facts.sm_count, model->sm_count);
	override(&facts.l2_bytes, model->l2_bytes);
	override(&facts.dram_bytes, model->dram_bytes);
	override(&facts.smem_per_sm_bytes, model->smem_per_sm_bytes);
	override(&facts.smem_per_block_bytes, model->smem_per_block_bytes);
	override(&facts.regs_per_sm, model->regs_per_sm);
	if (model->sheet) {
		status = device_spec_load(model->sheet, options->config_folders, spec, err);
		if (status == STATUS_OK) {
			override(&(*spec)->sm_count, model->sm_count);
			override(&(*spec)->l2_bytes, model->l2_bytes);
			override(&(*spec)->dram_bytes, model->dram_bytes);
		}
		return status;
	}
	return device_spec_match(&facts, options->config_folders, spec, err);
}

/* Which recording it is, so that a resumed replay is one of the same file. */
static void identify(struct device *device, const struct journal_run *run)
{
	struct replay *replay = device->state;
	struct device_identity *identity = &device->identity;
	struct hash *hash = hash_new();
	struct text content = {0};
	char digits[HASH_SIZE];

	string_put(identity->name, sizeof(identity->name), run->device.name);
	if (run->run.driver)
		string_put(identity->driver, sizeof(identity->driver), run->run.driver);
	if (run->run.mig)
		string_put(identity->mig, sizeof(identity->mig), run->run.mig);
	identity->anchor_us = run->run.anchor_us;
	if (file_read(replay->path, &content, NULL) == STATUS_OK)
		hash_add(hash, text_string(&content), content.length);
	hash_finish(hash, digits);
	text_release(&content);
	string_put(identity->uuid, sizeof(identity->uuid), "replay-");
	string_put(identity->uuid + strlen("replay-"), sizeof(identity->uuid) - strlen("replay-"),
		digits);
}

static enum status replay_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct replay *replay = memory_zeroed(1, sizeof(*replay));
	const struct journal_run *run;
	enum status status;

	device->state = replay;
	if (!rest[0]) {
		error_set(err, STATUS_BAD_INPUT,
			"device replay: expected a journal after the colon, found nothing");
		return error_hint(err, "--device replay:tuned.journal.jsonl");
	}
	replay->path = string_copy(rest);
	status = replay_record_open(rest, &replay->record, err);
	if (status != STATUS_OK)
		return status;
	run = replay->record.run;
	status = recorded_spec(&run->device, options, &device->spec, err);
	if (status != STATUS_OK)
		error_context(err, "%s: run %s: $.device", rest, run->run.id);
	if (status == STATUS_OK) {
		identify(device, run);
		device->kind = replay->record.measured ? &device_kind_replay : &replay_predicted;
	}
	return status;
}

static void replay_close(struct device *device)
{
	struct replay *replay = device->state;

	if (!replay)
		return;
	for (size_t i = 0; i < replay->problem_count; i++) {
		free(replay->problems[i].operation);
		free(replay->problems[i].text);
	}
	free(replay->problems);
	free(replay->handles);
	event_queue_release(&replay->events);
	replay_record_release(&replay->record);
	free(replay->path);
	free(replay);
}

static enum status replay_problem(struct device *device, const char *operation,
	const char *problem_text, const struct reference_plan *reference,
	const struct text *reference_cubin, uint32_t *problem, struct error *err)
{
	struct replay *replay = device->state;

	(void)reference, (void)reference_cubin, (void)err;
	ARRAY_GROW(replay->problems, replay->problem_count, replay->problem_capacity);
	replay->problems[replay->problem_count++] = (struct replay_problem){
		.operation = string_copy(operation), .text = string_copy(problem_text)};
	*problem = (uint32_t)replay->problem_count;
	return STATUS_OK;
}

/* The stage at which a candidate with this outcome was found out. */
static enum device_event_kind stage_of(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_PRUNED_BY_MODEL:
	case OUTCOME_COMPILE_FAILED:
	case OUTCOME_COMPILE_CRASHED:
	case OUTCOME_COMPILE_TIMEOUT:
	case OUTCOME_LAUNCH_FAILED:
	case OUTCOME_OUT_OF_MEMORY:
		return DEVICE_EVENT_LOADED;
	case OUTCOME_CRASHED:
	case OUTCOME_TIMED_OUT:
	case OUTCOME_WRONG_RESULT:
	case OUTCOME_OUT_OF_BOUNDS:
	case OUTCOME_NONDETERMINISTIC:
		return DEVICE_EVENT_VERIFIED;
	default:
		return DEVICE_EVENT_SAMPLED;
	}
}

/* The samples, or where a compact journal has their summary only, as many that lie evenly around
 * the same median and have an interval as wide. */
static double *samples_of(const struct evaluation *evaluation, size_t *count)
{
	const struct summary *time = &evaluation->time;
	double *samples_us;

	*count = evaluation->sample_count;
	if (*count)
		return memory_copy(evaluation->samples_us, *count * sizeof(*samples_us));
	*count = time->count;
	samples_us = memory_zeroed(*count, sizeof(*samples_us));
	for (size_t i = 0; i < *count; i++) {
		/* the interval's ends are some 0.98 sqrt(n) places from the middle */
		double place =
			((double)i - ((double)*count - 1) / 2) / (0.98 * sqrt((double)*count));

		samples_us[i] =
			time->median + (place < 0 ? place * (time->median - time->ci95_low)
						  : place * (time->ci95_high - time->median));
	}
	return samples_us;
}

/* What was recorded, as far as this stage shows it, its samples `longer` times as long. */
static void answer(struct replay *replay, device_handle handle, enum device_event_kind stage,
	const struct evaluation *evaluation, double longer)
{
	struct device_event event = {.kind = stage, .handle = handle};

	if (stage_of(evaluation->outcome) == stage && evaluation->outcome != OUTCOME_OK) {
		event.outcome = evaluation->outcome;
		event.detail = string_copy(evaluation->detail);
	}
	if (stage == DEVICE_EVENT_LOADED) {
		event.flags = evaluation->flags;
		if (evaluation->resources) {
			event.launch_count = evaluation->launch_count;
			event.resources = memory_copy(evaluation->resources,
				evaluation->launch_count * sizeof(*evaluation->resources));
		}
	}
	if (stage == DEVICE_EVENT_VERIFIED)
		event.verification = evaluation->verification;
	if (stage == DEVICE_EVENT_SAMPLED)
		event.measured = evaluation->measured;
	if (stage == DEVICE_EVENT_SAMPLED && evaluation->time.count) {
		event.predicted = evaluation->predicted;
		event.samples_us = samples_of(evaluation, &event.sample_count);
		for (size_t i = 0; i < event.sample_count; i++)
			event.samples_us[i] *= longer;
	}
	event_queue_push(&replay->events, event);
}

static const struct evaluation *evaluation_of(const struct replay_candidate *candidate)
{
	return candidate->searched ? candidate->searched : candidate->remeasured;
}

static enum status replay_load(struct device *device, const struct device_load_request *request,
	device_handle *handle, struct error *err)
{
	struct replay *replay = device->state;
	const struct replay_problem *problem = &replay->problems[request->problem - 1];
	const struct replay_candidate *candidate = replay_record_find(&replay->record,
		problem->operation, problem->text, request->family, request->configuration);

	(void)err;
	ARRAY_GROW(replay->handles, replay->handle_count, replay->handle_capacity);
	replay->handles[replay->handle_count++] = candidate;
	*handle = (device_handle)replay->handle_count;
	if (candidate) {
		answer(replay, *handle, DEVICE_EVENT_LOADED, evaluation_of(candidate), 1);
	} else {
		struct device_event event = {.kind = DEVICE_EVENT_LOADED,
			.handle = *handle,
			.outcome = OUTCOME_LAUNCH_FAILED,
			.detail = string_format("not recorded in %s", replay->path)};

		event_queue_push(&replay->events, event);
	}
	return STATUS_OK;
}

static const struct replay_candidate *candidate_of(
	const struct replay *replay, device_handle handle)
{
	if (handle == 0 || handle > replay->handle_count || !replay->handles[handle - 1])
		BUG("device handle %u", handle);
	return replay->handles[handle - 1];
}

static enum status replay_verify(struct device *device, device_handle handle, struct error *err)
{
	struct replay *replay = device->state;

	(void)err;
	answer(replay, handle, DEVICE_EVENT_VERIFIED, evaluation_of(candidate_of(replay, handle)),
		1);
	return STATUS_OK;
}

/* How much longer re-measured times were than those of the search, among these: geometric mean. */
static double warming(const struct replay *replay, const device_handle *handles, size_t count)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct replay_candidate *candidate = candidate_of(replay, handles[i]);

		if (!candidate->remeasured || !candidate->searched ||
			candidate->remeasured->outcome != OUTCOME_OK ||
			!(candidate->searched->time.median > 0))
			continue;
		sum += log(candidate->remeasured->time.median / candidate->searched->time.median);
		known++;
	}
	return known ? exp(sum / (double)known) : 1;
}

static enum status replay_sample(
	struct device *device, const struct device_sample_request *request, struct error *err)
{
	struct replay *replay = device->state;
	const bool together = request->handle_count > 1;
	const double warmer =
		together ? warming(replay, request->handles, request->handle_count) : 1;

	(void)err;
	for (size_t i = 0; i < request->handle_count; i++) {
		const struct replay_candidate *candidate =
			candidate_of(replay, request->handles[i]);

		if (together && candidate->remeasured)
			answer(replay, request->handles[i], DEVICE_EVENT_SAMPLED,
				candidate->remeasured, 1);
		else
			answer(replay, request->handles[i], DEVICE_EVENT_SAMPLED,
				evaluation_of(candidate), candidate->searched ? warmer : 1);
	}
	return STATUS_OK;
}

static void replay_unload(struct device *device, device_handle handle)
{
	struct replay *replay = device->state;

	replay->handles[handle - 1] = NULL;
}

static size_t replay_pending(const struct device *device)
{
	const struct replay *replay = device->state;

	return event_queue_length(&replay->events);
}

static bool replay_poll(struct device *device, double timeout_s, struct device_event *event)
{
	struct replay *replay = device->state;

	(void)timeout_s; /* everything is there at once */
	return event_queue_pop(&replay->events, event);
}

static void replay_recorded(const struct device *device, const char *operation, const char *problem,
	device_recorded_visit *visit, void *context)
{
	const struct replay *replay = device->state;

	for (size_t i = 0; i < replay->record.count; i++) {
		const struct replay_candidate *candidate = &replay->record.candidates[i];

		if (strcmp(candidate->operation, operation) == 0 &&
			strcmp(candidate->problem, problem) == 0)
			visit(context, evaluation_of(candidate)->family,
				evaluation_of(candidate)->configuration);
	}
}

#define REPLAY_CALLS                                                                               \
	.name = "replay", .compiles = false, .open = replay_open, .close = replay_close,           \
	.problem = replay_problem, .load = replay_load, .verify = replay_verify,                   \
	.sample = replay_sample, .unload = replay_unload, .pending = replay_pending,               \
	.poll = replay_poll, .recorded = replay_recorded,                                          \
	.summary = "a recorded journal: nothing is compiled or run"

const struct device_kind device_kind_replay = {REPLAY_CALLS, .measures = true};
static const struct device_kind replay_predicted = {REPLAY_CALLS, .measures = false};
