/* SPDX-License-Identifier: MIT */
#include "engine/comparison.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/announce.h"
#include "engine/single.h"

static struct trial_setup setup_of(
	const struct comparison *comparison, const struct compared *compared)
{
	return (struct trial_setup){.pool = &compared->pool,
		.store = comparison->bench->store,
		.device = comparison->bench->device,
		.problem = compared->number};
}

/* The problem's number, announced once for all items that share it. */
static enum status find_number(struct comparison *comparison, const struct problem *problem,
	uint32_t *number, struct error *err)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (comparison->items[i]->problem == problem) {
			*number = comparison->items[i]->number;
			return STATUS_OK;
		}
	return problem_announce(comparison->bench, problem, number, err);
}

enum status comparison_add(struct comparison *comparison, struct bound_family *bound,
	const choice *choices, struct compared **added, struct error *err)
{
	struct compared *compared = memory_zeroed(1, sizeof(*compared));
	enum status status = single_from_choices(
		bound->problem, bound->device, bound, choices, &compared->pool, err);

	compared->problem = bound->problem;
	if (status == STATUS_OK)
		status = find_number(comparison, compared->problem, &compared->number, err);
	if (status != STATUS_OK) {
		candidates_release(&compared->pool);
		free(compared);
		return status;
	}
	ARRAY_GROW(comparison->items, comparison->count, comparison->capacity);
	comparison->items[comparison->count++] = compared;
	*added = compared;
	return STATUS_OK;
}

static bool is_interrupted(const struct comparison *comparison)
{
	return comparison->interrupted && *comparison->interrupted;
}

static enum status interrupted(struct error *err)
{
	return error_set(err, STATUS_INTERRUPTED, "interrupted");
}

/* Without a compiler the model's estimate of registers has to do. */
static void take_estimate(struct trial *trial)
{
	double predicted_us = trial->evaluation.score.predicted_time_us;

	trial->stage = TRIAL_DONE;
	trial->evaluation.predicted = true;
	if (isfinite(predicted_us))
		evaluation_add_samples(&trial->evaluation, &predicted_us, 1);
	else
		trial->evaluation.outcome = OUTCOME_PRUNED_BY_MODEL;
}

static enum status start_all(struct comparison *comparison, struct error *err)
{
	bool compiles = device_compiles(comparison->bench->device);
	enum status status = STATUS_OK;

	for (size_t i = 0; i < comparison->count && status == STATUS_OK; i++) {
		struct compared *compared = comparison->items[i];
		struct trial_setup setup = setup_of(comparison, compared);

		if (compared->done)
			continue;
		status = trial_start(&setup, 0, &compared->trial, err);
		if (status == STATUS_OK && !setup.store && compiles)
			take_estimate(&compared->trial);
	}
	return status;
}

/* Waits for the compilers and loads what they make of each. */
static enum status load_all(struct comparison *comparison, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < comparison->count && status == STATUS_OK; i++) {
		struct compared *compared = comparison->items[i];
		struct trial_setup setup = setup_of(comparison, compared);
		bool moved = false;

		while (!compared->done && status == STATUS_OK && !moved &&
			compared->trial.stage == TRIAL_COMPILING) {
			if (is_interrupted(comparison))
				return interrupted(err);
			status = trial_check_compiled(&setup, &compared->trial, &moved, err);
			if (status == STATUS_OK && !moved)
				kernel_store_poll(setup.store, 0.2);
		}
		if (status == STATUS_OK && !compared->done && compared->trial.stage == TRIAL_READY)
			status = trial_load(&setup, &compared->trial, err);
	}
	return status;
}

static struct compared *find(struct comparison *comparison, device_handle handle)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (comparison->items[i]->trial.handle == handle)
			return comparison->items[i];
	return NULL;
}

/* A verified candidate waits for the others: all are sampled together. */
static enum status take_event(
	struct comparison *comparison, struct device_event *event, struct error *err)
{
	struct compared *compared = find(comparison, event->handle);
	struct trial_setup setup;

	if (event->kind == DEVICE_EVENT_LOST)
		return error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
			event->detail ? event->detail : "it stopped answering");
	if (!compared || compared->done || compared->trial.stage == TRIAL_DONE)
		return STATUS_OK;
	if (event->kind == DEVICE_EVENT_VERIFIED && event->outcome == OUTCOME_OK) {
		compared->trial.evaluation.verification = event->verification;
		compared->trial.stage = TRIAL_SAMPLING;
		return STATUS_OK;
	}
	setup = setup_of(comparison, compared);
	return trial_event(&setup, &compared->trial, event, INFINITY, err);
}

static enum status drain(struct comparison *comparison, struct error *err)
{
	struct device *device = comparison->bench->device;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && device_pending(device)) {
		struct device_event event;

		if (is_interrupted(comparison))
			return interrupted(err);
		if (!device_poll(device, 0.2, &event))
			continue;
		status = take_event(comparison, &event, err);
		device_event_release(&event);
	}
	return status;
}

static enum status sample_all(
	struct comparison *comparison, const struct comparison_rounds *rounds, struct error *err)
{
	device_handle *handles = memory_zeroed(comparison->count + 1, sizeof(*handles));
	struct device_sample_request request = {.handles = handles,
		.rounds_min = rounds->least,
		.rounds_max = rounds->most,
		.seconds_max = rounds->seconds_max,
		.target_ratio = rounds->target_ratio};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *compared = comparison->items[i];

		if (!compared->done && compared->trial.stage == TRIAL_SAMPLING)
			handles[request.handle_count++] = compared->trial.handle;
	}
	if (request.handle_count)
		status = device_sample(comparison->bench->device, &request, err);
	free(handles);
	return status;
}

enum status comparison_run(
	struct comparison *comparison, const struct comparison_rounds *rounds, struct error *err)
{
	enum status status = start_all(comparison, err);

	if (status == STATUS_OK)
		status = load_all(comparison, err);
	if (status == STATUS_OK)
		status = drain(comparison, err);
	if (status == STATUS_OK)
		status = sample_all(comparison, rounds, err);
	if (status == STATUS_OK)
		status = drain(comparison, err);
	for (size_t i = 0; i < comparison->count; i++) {
		struct compared *compared = comparison->items[i];

		/* its memory is for others; its numbers stay */
		if (compared->trial.handle)
			device_unload(comparison->bench->device, compared->trial.handle);
		compared->trial.handle = 0;
		compared->done = true;
	}
	return status;
}

void comparison_clear(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++) {
		struct compared *compared = comparison->items[i];
		struct trial_setup setup = setup_of(comparison, compared);

		trial_release(&setup, &compared->trial);
		candidates_release(&compared->pool);
		free(compared);
	}
	free(comparison->items);
	comparison->items = NULL;
	comparison->count = comparison->capacity = 0;
}

double compared_time_us(const struct compared *compared)
{
	const struct evaluation *evaluation = &compared->trial.evaluation;

	return evaluation->outcome == OUTCOME_OK && evaluation->time.count ? evaluation->time.median
									   : INFINITY;
}
