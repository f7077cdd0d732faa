/* SPDX-License-Identifier: MIT */
#include "tune/flight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Shortest useful sample of a first look; the device batches short kernels by itself. */
static const double first_look_seconds = 0.03;
static const double first_look_target_ratio = 0.005;

static void finish(struct flight *flight, enum outcome outcome, const char *detail)
{
	flight->evaluation.outcome = outcome;
	if (detail && !flight->evaluation.detail)
		flight->evaluation.detail = string_copy(detail);
	flight->stage = FLIGHT_DONE;
}

static void score_again(const struct flight_setup *setup, struct flight *flight,
	const struct kernel_resources *resources)
{
	score_release(&flight->evaluation.score);
	score_compute(setup->pool->device, &flight->work, resources, &flight->evaluation.score);
}

enum status flight_start(const struct flight_setup *setup, size_t candidate, struct flight *flight,
	struct error *err)
{
	const struct family_candidates *family = candidates_family_of(setup->pool, candidate);
	const struct bound_family *bound = family->bound;
	struct text configuration = {0};
	enum status status = STATUS_OK;

	*flight = (struct flight){.candidate = candidate};
	configuration_format(
		bound, candidates_configuration(setup->pool, candidate), &configuration);
	flight->evaluation.family = string_copy(family_name(bound->family));
	flight->evaluation.configuration = text_detach(&configuration);
	flight->slots = candidates_values(setup->pool, candidate, err);
	if (!flight->slots)
		return STATUS_FAILED;
	status = candidate_plan(bound, flight->slots, &flight->plan, err);
	if (status == STATUS_OK)
		status = candidate_work(bound, flight->slots, &flight->work, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, flight->slots, &flight->build, err);
	if (status != STATUS_OK)
		return error_context(err, "%s with %s", flight->evaluation.family,
			flight->evaluation.configuration);
	string_put(flight->evaluation.kernel_hash, sizeof(flight->evaluation.kernel_hash),
		flight->build.kernel_hash);
	flight->evaluation.launch_count = flight->plan.launch_count;
	score_again(setup, flight, NULL);
	if (!setup->store) {
		flight->stage = FLIGHT_READY;
		return STATUS_OK;
	}
	flight->kernels = memory_zeroed(flight->build.unit_count, sizeof(*flight->kernels));
	for (size_t i = 0; i < flight->build.unit_count && status == STATUS_OK; i++)
		status = kernel_store_request(
			setup->store, &flight->build.units[i], &flight->kernels[i], err);
	return status;
}

/* The compiler's figures of each launch, with the blocks that fit on an SM. */
static void take_resources(const struct flight_setup *setup, struct flight *flight)
{
	const struct plan *plan = &flight->plan;
	struct kernel_resources *resources = memory_zeroed(plan->launch_count, sizeof(*resources));

	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct plan_launch *launch = &plan->launches[i];
		const struct stored_kernel *kernel = flight->kernels[launch->unit];
		enum occupancy_limiter limiter;

		for (size_t k = 0; k < kernel->entry_count; k++)
			if (strcmp(kernel->entries[k].name, launch->entry) == 0)
				resources[i] = kernel->entries[k].resources;
		resources[i].max_clusters = -1;
		resources[i].blocks_per_sm = occupancy_blocks_per_sm(setup->pool->device,
			(int)(launch->block[0] * launch->block[1] * launch->block[2]),
			resources[i].regs_per_thread, resources[i].smem_static_bytes,
			launch->smem_dynamic_bytes, &limiter);
		flight->evaluation.flags |= resources[i].flags;
	}
	free(flight->evaluation.resources);
	flight->evaluation.resources = resources;
}

static enum status prune(const struct flight_setup *setup, struct flight *flight, struct error *err)
{
	const struct evaluation *evaluation = &flight->evaluation;
	const struct bound_family *bound =
		candidates_family_of(setup->pool, flight->candidate)->bound;
	const char *why = NULL;
	int rule = -1;

	if (candidate_prune(bound, flight->slots, evaluation->resources, evaluation->launch_count,
		    &rule, &why, err) != STATUS_OK)
		return STATUS_FAILED;
	if (rule >= 0)
		finish(flight, OUTCOME_PRUNED_BY_MODEL, why);
	else if (!isfinite(evaluation->score.predicted_time_us))
		finish(flight, OUTCOME_PRUNED_BY_MODEL, "not one block fits on an SM");
	return STATUS_OK;
}

enum status flight_check_compiled(
	const struct flight_setup *setup, struct flight *flight, bool *moved, struct error *err)
{
	struct evaluation *evaluation = &flight->evaluation;

	*moved = false;
	for (size_t i = 0; i < flight->build.unit_count; i++)
		if (!flight->kernels[i]->ready)
			return STATUS_OK;
	*moved = true;
	evaluation->from_cache = true;
	for (size_t i = 0; i < flight->build.unit_count; i++) {
		const struct stored_kernel *kernel = flight->kernels[i];

		evaluation->compile_seconds += kernel->seconds;
		evaluation->from_cache &= kernel->from_cache;
		if (kernel->outcome != OUTCOME_OK) {
			finish(flight, kernel->outcome, kernel->log);
			return STATUS_OK;
		}
	}
	take_resources(setup, flight);
	score_again(setup, flight, evaluation->resources);
	flight->stage = FLIGHT_READY;
	return prune(setup, flight, err);
}

enum status flight_load(const struct flight_setup *setup, struct flight *flight, struct error *err)
{
	struct text *cubins = memory_zeroed(flight->build.unit_count, sizeof(*cubins));
	struct device_load_request request = {.problem = setup->problem,
		.family = flight->evaluation.family,
		.configuration = flight->evaluation.configuration,
		.plan = &flight->plan,
		.cubins = cubins,
		.cubin_count = setup->store ? flight->build.unit_count : 0,
		.resources = flight->evaluation.resources,
		.predicted_time_us = flight->evaluation.score.predicted_time_us};
	enum status status;

	for (size_t i = 0; i < request.cubin_count; i++)
		cubins[i] = flight->kernels[i]->cubin; /* borrowed for the call */
	status = device_load(setup->device, &request, &flight->handle, err);
	free(cubins);
	flight->stage = FLIGHT_LOADING;
	return status;
}

static enum status start_sampling(
	const struct flight_setup *setup, struct flight *flight, double best_us, struct error *err)
{
	struct device_sample_request request = {.handles = &flight->handle,
		.handle_count = 1,
		.rounds_min = setup->rounds_min,
		.rounds_max = setup->rounds_max,
		.seconds_max = first_look_seconds,
		.target_ratio = first_look_target_ratio,
		.give_up_us = isfinite(best_us) ? best_us * setup->give_up_ratio : 0};

	flight->stage = FLIGHT_SAMPLING;
	return device_sample(setup->device, &request, err);
}

/* The driver's own words on resources count more than the compiler's report. */
static void take_driver_resources(
	const struct flight_setup *setup, struct flight *flight, struct device_event *event)
{
	struct evaluation *evaluation = &flight->evaluation;

	if (!event->resources || event->launch_count != evaluation->launch_count)
		return;
	free(evaluation->resources);
	evaluation->resources = event->resources;
	event->resources = NULL;
	score_again(setup, flight, evaluation->resources);
}

enum status flight_event(const struct flight_setup *setup, struct flight *flight,
	struct device_event *event, double best_us, struct error *err)
{
	struct evaluation *evaluation = &flight->evaluation;

	evaluation->flags |= event->flags;
	if (event->kind == DEVICE_EVENT_LOADED)
		take_driver_resources(setup, flight, event);
	if (event->outcome != OUTCOME_OK) {
		evaluation->verification = event->kind == DEVICE_EVENT_VERIFIED
						   ? event->verification
						   : evaluation->verification;
		if (event->sample_count)
			evaluation_add_samples(evaluation, event->samples_us, event->sample_count);
		finish(flight, event->outcome, event->detail);
		return STATUS_OK;
	}
	switch (event->kind) {
	case DEVICE_EVENT_LOADED:
		flight->stage = FLIGHT_VERIFYING;
		return device_verify(setup->device, flight->handle, err);
	case DEVICE_EVENT_VERIFIED:
		evaluation->verification = event->verification;
		return start_sampling(setup, flight, best_us, err);
	case DEVICE_EVENT_SAMPLED:
		evaluation->predicted = event->predicted;
		evaluation_add_samples(evaluation, event->samples_us, event->sample_count);
		finish(flight, OUTCOME_OK, NULL);
		return STATUS_OK;
	case DEVICE_EVENT_LOST:
		break;
	}
	finish(flight, OUTCOME_DEVICE_LOST, event->detail);
	return STATUS_OK;
}

void flight_release(const struct flight_setup *setup, struct flight *flight)
{
	if (flight->handle)
		device_unload(setup->device, flight->handle);
	free(flight->slots);
	free(flight->kernels);
	build_release(&flight->build);
	plan_release(&flight->plan);
	work_release(&flight->work);
	evaluation_release(&flight->evaluation);
	*flight = (struct flight){0};
}
