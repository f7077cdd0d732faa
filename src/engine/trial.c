/* SPDX-License-Identifier: MIT */
#include "engine/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Shortest useful sample of a first look; the device batches short kernels by itself. */
static const double first_look_seconds = 0.03;
static const double first_look_target_ratio = 0.005;

static void finish(struct trial *trial, enum outcome outcome, const char *detail)
{
	trial->evaluation.outcome = outcome;
	if (detail && !trial->evaluation.detail)
		trial->evaluation.detail = string_copy(detail);
	trial->stage = TRIAL_DONE;
}

static void score_again(const struct trial_setup *setup, struct trial *trial,
	const struct kernel_resources *resources)
{
	score_release(&trial->evaluation.score);
	score_compute(setup->pool->device, &trial->work, resources, &trial->evaluation.score);
}

enum status trial_start(
	const struct trial_setup *setup, size_t candidate, struct trial *trial, struct error *err)
{
	const struct family_candidates *family = candidates_family_of(setup->pool, candidate);
	const struct bound_family *bound = family->bound;
	struct text configuration = {0};
	enum status status = STATUS_OK;

	*trial = (struct trial){.candidate = candidate};
	configuration_format(
		bound, candidates_configuration(setup->pool, candidate), &configuration);
	trial->evaluation.family = string_copy(family_name(bound->family));
	trial->evaluation.configuration = text_detach(&configuration);
	trial->slots = candidates_values(setup->pool, candidate, err);
	if (!trial->slots)
		return STATUS_FAILED;
	status = candidate_plan(bound, trial->slots, &trial->plan, err);
	if (status == STATUS_OK)
		status = candidate_work(bound, trial->slots, &trial->work, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, trial->slots, &trial->build, err);
	if (status != STATUS_OK)
		return error_context(err, "%s with %s", trial->evaluation.family,
			trial->evaluation.configuration);
	string_put(trial->evaluation.kernel_hash, sizeof(trial->evaluation.kernel_hash),
		trial->build.kernel_hash);
	trial->evaluation.launch_count = trial->plan.launch_count;
	score_again(setup, trial, NULL);
	if (!setup->store) {
		trial->stage = TRIAL_READY;
		return STATUS_OK;
	}
	trial->kernels = memory_zeroed(trial->build.unit_count, sizeof(*trial->kernels));
	for (size_t i = 0; i < trial->build.unit_count && status == STATUS_OK; i++)
		status = kernel_store_request(
			setup->store, &trial->build.units[i], &trial->kernels[i], err);
	return status;
}

/* The compiler's figures of each launch, with the blocks that fit on an SM. */
static void take_resources(const struct trial_setup *setup, struct trial *trial)
{
	const struct plan *plan = &trial->plan;
	struct kernel_resources *resources = memory_zeroed(plan->launch_count, sizeof(*resources));

	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct plan_launch *launch = &plan->launches[i];
		const struct stored_kernel *kernel = trial->kernels[launch->unit];
		enum occupancy_limiter limiter;

		for (size_t k = 0; k < kernel->entry_count; k++)
			if (strcmp(kernel->entries[k].name, launch->entry) == 0)
				resources[i] = kernel->entries[k].resources;
		resources[i].max_clusters = -1;
		resources[i].blocks_per_sm = occupancy_blocks_per_sm(setup->pool->device,
			(int)(launch->block[0] * launch->block[1] * launch->block[2]),
			resources[i].regs_per_thread, resources[i].smem_static_bytes,
			launch->smem_dynamic_bytes, &limiter);
		trial->evaluation.flags |= resources[i].flags;
	}
	free(trial->evaluation.resources);
	trial->evaluation.resources = resources;
}

static enum status prune(const struct trial_setup *setup, struct trial *trial, struct error *err)
{
	const struct evaluation *evaluation = &trial->evaluation;
	const struct bound_family *bound =
		candidates_family_of(setup->pool, trial->candidate)->bound;
	const char *why = NULL;
	int rule = -1;

	if (candidate_prune(bound, trial->slots, evaluation->resources, evaluation->launch_count,
		    &rule, &why, err) != STATUS_OK)
		return STATUS_FAILED;
	if (rule >= 0)
		finish(trial, OUTCOME_PRUNED_BY_MODEL, why);
	else if (!isfinite(evaluation->score.predicted_time_us))
		finish(trial, OUTCOME_PRUNED_BY_MODEL, "not one block fits on an SM");
	return STATUS_OK;
}

enum status trial_check_compiled(
	const struct trial_setup *setup, struct trial *trial, bool *moved, struct error *err)
{
	struct evaluation *evaluation = &trial->evaluation;

	*moved = false;
	for (size_t i = 0; i < trial->build.unit_count; i++)
		if (!trial->kernels[i]->ready)
			return STATUS_OK;
	*moved = true;
	evaluation->from_cache = true;
	for (size_t i = 0; i < trial->build.unit_count; i++) {
		const struct stored_kernel *kernel = trial->kernels[i];

		evaluation->compile_seconds += kernel->seconds;
		evaluation->from_cache &= kernel->from_cache;
		if (kernel->outcome != OUTCOME_OK) {
			finish(trial, kernel->outcome, kernel->log);
			return STATUS_OK;
		}
	}
	take_resources(setup, trial);
	score_again(setup, trial, evaluation->resources);
	trial->stage = TRIAL_READY;
	return prune(setup, trial, err);
}

enum status trial_load(const struct trial_setup *setup, struct trial *trial, struct error *err)
{
	struct text *cubins = memory_zeroed(trial->build.unit_count, sizeof(*cubins));
	struct device_load_request request = {.problem = setup->problem,
		.family = trial->evaluation.family,
		.configuration = trial->evaluation.configuration,
		.plan = &trial->plan,
		.cubins = cubins,
		.cubin_count = setup->store ? trial->build.unit_count : 0,
		.resources = trial->evaluation.resources,
		.predicted_time_us = trial->evaluation.score.predicted_time_us};
	enum status status;

	for (size_t i = 0; i < request.cubin_count; i++)
		cubins[i] = trial->kernels[i]->cubin; /* borrowed for the call */
	status = device_load(setup->device, &request, &trial->handle, err);
	free(cubins);
	trial->stage = TRIAL_LOADING;
	return status;
}

static enum status start_sampling(
	const struct trial_setup *setup, struct trial *trial, double best_us, struct error *err)
{
	struct device_sample_request request = {.handles = &trial->handle,
		.handle_count = 1,
		.rounds_min = setup->rounds_min,
		.rounds_max = setup->rounds_max,
		.seconds_max = first_look_seconds,
		.target_ratio = first_look_target_ratio,
		.give_up_us = isfinite(best_us) ? best_us * setup->give_up_ratio : 0};

	trial->stage = TRIAL_SAMPLING;
	return device_sample(setup->device, &request, err);
}

/* The driver's own words on resources count more than the compiler's report. */
static void take_driver_resources(
	const struct trial_setup *setup, struct trial *trial, struct device_event *event)
{
	struct evaluation *evaluation = &trial->evaluation;

	if (!event->resources || event->launch_count != evaluation->launch_count)
		return;
	free(evaluation->resources);
	evaluation->resources = event->resources;
	event->resources = NULL;
	score_again(setup, trial, evaluation->resources);
}

enum status trial_event(const struct trial_setup *setup, struct trial *trial,
	struct device_event *event, double best_us, struct error *err)
{
	struct evaluation *evaluation = &trial->evaluation;

	evaluation->flags |= event->flags;
	if (event->kind == DEVICE_EVENT_LOADED)
		take_driver_resources(setup, trial, event);
	if (event->outcome != OUTCOME_OK) {
		evaluation->verification = event->kind == DEVICE_EVENT_VERIFIED
						   ? event->verification
						   : evaluation->verification;
		if (event->sample_count)
			evaluation_add_samples(evaluation, event->samples_us, event->sample_count);
		finish(trial, event->outcome, event->detail);
		return STATUS_OK;
	}
	switch (event->kind) {
	case DEVICE_EVENT_LOADED:
		trial->stage = TRIAL_VERIFYING;
		return device_verify(setup->device, trial->handle, err);
	case DEVICE_EVENT_VERIFIED:
		evaluation->verification = event->verification;
		return start_sampling(setup, trial, best_us, err);
	case DEVICE_EVENT_SAMPLED:
		evaluation->predicted = event->predicted;
		evaluation_add_samples(evaluation, event->samples_us, event->sample_count);
		finish(trial, OUTCOME_OK, NULL);
		return STATUS_OK;
	case DEVICE_EVENT_LOST:
		break;
	}
	finish(trial, OUTCOME_DEVICE_LOST, event->detail);
	return STATUS_OK;
}

void trial_release(const struct trial_setup *setup, struct trial *trial)
{
	if (trial->handle)
		device_unload(setup->device, trial->handle);
	free(trial->slots);
	free(trial->kernels);
	build_release(&trial->build);
	plan_release(&trial->plan);
	work_release(&trial->work);
	evaluation_release(&trial->evaluation);
	*trial = (struct trial){0};
}
