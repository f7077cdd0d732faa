/* SPDX-License-Identifier: MIT */
#include "engine/trial.h"

#include <math.h>

#include "engine/kernel_check.h"
#include "score/prediction.h"

void trial_finish(struct trial *trial, enum outcome outcome, const char *detail)
{
	trial->result.outcome = outcome;
	if (detail && !trial->result.detail)
		trial->result.detail = string_copy(detail);
	trial->stage = TRIAL_DONE;
}

static void score_again(struct trial *trial)
{
	score_release(&trial->result.score);
	score_compute(trial->candidate.bound->device, &trial->work, trial->result.resources,
		&trial->result.score);
}

enum status trial_predict(const struct trial *trial, double *time_us, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};
	struct prediction prediction;

	predictor_open(&predictor, trial->candidate.bound);
	TRY(predict(&predictor, trial->values, trial->result.resources, &prediction, err));
	*time_us = prediction.time_us;
	return STATUS_OK;
}

static enum status describe_candidate(struct trial *trial, struct error *err)
{
	const struct bound_family *bound = trial->candidate.bound;

	trial->values = candidate_values(&trial->candidate, err);
	if (!trial->values)
		return STATUS_FAILED;
	TRY(candidate_plan(bound, trial->values, &trial->plan, err));
	TRY(candidate_work(bound, trial->values, &trial->work, err));
	return candidate_build(bound, trial->values, &trial->build, err);
}

/* Expects that all units are compiled. */
static void make_job(struct trial *trial)
{
	const struct result *result = &trial->result;
	const size_t units = trial->kernels ? trial->build.unit_count : 0;
	static char missing[] = ""; /* path of a cubin that is not in a cache */

	trial->cubins = memory_zeroed(units + 1, sizeof(*trial->cubins));
	for (size_t i = 0; i < units; i++)
		trial->cubins[i] = trial->kernels[i]->path ? trial->kernels[i]->path : missing;
	trial->job.family = result->family;
	trial->job.configuration = result->configuration;
	trial->job.plan = &trial->plan;
	trial->job.cubins = trial->cubins;
	trial->job.cubin_count = units;
	trial->job.resources = result->resources;
	trial->stage = TRIAL_COMPILED;
}

enum status trial_start(struct trial *trial, const struct candidate *candidate,
	struct kernel_store *store, struct error *err)
{
	const struct bound_family *bound = candidate->bound;
	struct result *result = &trial->result;
	struct text configuration = {0};

	trial->candidate = *candidate;
	trial->problem = bound->problem;
	configuration_format(bound, candidate->choices, &configuration);
	result->family = string_copy(bound->family->name);
	result->configuration = text_detach(&configuration);
	if (describe_candidate(trial, err) != STATUS_OK)
		return error_context(err, "%s with %s", result->family, result->configuration);
	string_put(result->kernel_hash, sizeof(result->kernel_hash), trial->build.kernel_hash);
	result->launch_count = trial->plan.launch_count;
	score_again(trial);
	if (!store) {
		make_job(trial);
		return STATUS_OK;
	}
	trial->kernels = memory_zeroed(trial->build.unit_count, sizeof(*trial->kernels));
	for (size_t i = 0; i < trial->build.unit_count; i++)
		TRY(kernel_store_request(store, &trial->build.units[i], &trial->kernels[i], err));
	return STATUS_OK;
}

static void take_compiler_resources(struct trial *trial)
{
	struct plan *plan = &trial->plan;
	struct kernel_resources *resources = memory_zeroed(plan->launch_count, sizeof(*resources));

	for (size_t i = 0; i < plan->launch_count; i++) {
		struct plan_launch *launch = &plan->launches[i];
		enum occupancy_limiter limiter;

		resources[i] = kernel_take_entry(trial->kernels[launch->unit], launch);
		resources[i].max_clusters = -1;
		resources[i].blocks_per_sm = occupancy_blocks_per_sm(trial->candidate.bound->device,
			launch_threads(&launch->shape, &resources[i]), resources[i].regs_per_thread,
			resources[i].smem_static_bytes, launch->shape.smem_dynamic_bytes, &limiter);
		trial->result.flags |= resources[i].flags;
	}
	trial->result.resources = resources;
}

static void take_warnings(struct trial *trial)
{
	enum {
		LINES_MAX = 12
	};
	struct text text = {0};

	for (size_t i = 0; i < trial->build.unit_count && !text.length; i++) {
		const char *line = strstr(trial->kernels[i]->log, "): warning");

		while (line && line > trial->kernels[i]->log && line[-1] != '\n')
			line--;
		for (size_t k = 0; line && *line && k < LINES_MAX; k++) {
			const size_t length = strcspn(line, "\n");

			text_append_bytes(&text, line, length);
			line += length + (line[length] == '\n');
			text_append(&text, *line && k + 1 < LINES_MAX ? "\n" : "");
		}
	}
	if (text.length)
		trial->result.warnings = text_detach(&text);
	text_release(&text);
}

/* Rejects a launch with missing or wrong arguments before it runs on a GPU. */
static bool arguments_fit(struct trial *trial)
{
	struct plan *plan = &trial->plan;
	struct error err = {0};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < plan->launch_count && status == STATUS_OK; i++)
		status = kernel_arguments_check(trial->kernels[plan->launches[i].unit],
			&plan->launches[i], plan->buffers, plan->tensor_maps, &err);
	if (status == STATUS_OK)
		status = kernel_take_symbols(trial->kernels, plan, &err);
	if (status == STATUS_OK)
		return true;
	free(trial->result.resources);
	trial->result.resources = NULL;
	trial_finish(trial, OUTCOME_LAUNCH_FAILED, err.message);
	return false;
}

/* Returns whether all blocks of cooperative launches fit on the GPU at once. */
static bool cooperative_fit(const struct trial *trial)
{
	for (size_t i = 0; i < trial->plan.launch_count; i++) {
		const struct launch_shape *shape = &trial->plan.launches[i].shape;

		if (shape->cooperative && launch_shape_blocks(shape) >
						  trial->result.resources[i].blocks_per_sm *
							  trial->candidate.bound->device->sm_count)
			return false;
	}
	return true;
}

/* Returns the resource that prevents a single block from fitting on an SM. */
static const char *limit_of_none(const struct trial *trial)
{
	for (size_t i = 0; i < trial->plan.launch_count; i++) {
		const struct plan_launch *launch = &trial->plan.launches[i];
		const struct kernel_resources *resources = &trial->result.resources[i];

		if (resources->blocks_per_sm == 0 &&
			occupancy_blocks_per_sm(trial->candidate.bound->device,
				launch_threads(&launch->shape, resources), 0,
				resources->smem_static_bytes, launch->shape.smem_dynamic_bytes,
				NULL) > 0)
			return GPU_LIMIT ": registers of a thread times threads of a block";
	}
	return GPU_LIMIT ": shared memory of a block";
}

static enum status prune_trial(struct trial *trial, struct error *err)
{
	const struct result *result = &trial->result;
	const struct score *score = &result->score;
	const char *why = NULL;
	int rule = -1;

	TRY(candidate_prune(trial->candidate.bound, trial->values, result->resources,
		result->launch_count, score->longest,
		score->launch_count ? score->launches[score->longest].smem_bytes : 0, &rule, &why,
		err));
	if (rule >= 0)
		trial_finish(trial, OUTCOME_PRUNED_BY_MODEL, why);
	else if (!isfinite(result->score.predicted_time_us))
		trial_finish(trial, OUTCOME_PRUNED_BY_MODEL, limit_of_none(trial));
	else if (!cooperative_fit(trial))
		trial_finish(trial, OUTCOME_PRUNED_BY_MODEL,
			GPU_LIMIT ": blocks of a cooperative launch");
	return STATUS_OK;
}

enum status trial_take_compiled(struct trial *trial, bool prunes, struct error *err)
{
	struct result *result = &trial->result;

	for (size_t i = 0; i < trial->build.unit_count; i++)
		if (!compile_is_done(trial->kernels[i]))
			return STATUS_OK;
	result->from_cache = true;
	for (size_t i = 0; i < trial->build.unit_count; i++) {
		const struct compile_result *kernel = trial->kernels[i];

		result->compile_seconds += kernel->seconds;
		result->from_cache &= kernel->from_cache;
		if (kernel->outcome != OUTCOME_OK) {
			/* a source that exceeds a limit of the GPU is not wrong */
			if (kernel->exceeds_smem)
				trial_finish(trial, OUTCOME_PRUNED_BY_MODEL,
					GPU_LIMIT ": shared memory that a kernel declares");
			else
				trial_finish(trial, kernel->outcome, kernel->log);
			return STATUS_OK;
		}
	}
	take_warnings(trial);
	take_compiler_resources(trial);
	if (!arguments_fit(trial))
		return STATUS_OK;
	score_again(trial);
	make_job(trial);
	return prunes ? prune_trial(trial, err) : STATUS_OK;
}

static void take_driver_resources(struct trial *trial, struct result *found)
{
	struct result *result = &trial->result;

	if (!found->resources || !trial->candidate.bound ||
		found->launch_count != result->launch_count)
		return;
	if (!result->resources) {
		result->resources = found->resources;
		found->resources = NULL;
	}
	for (size_t i = 0; found->resources && i < found->launch_count; i++) {
		struct kernel_resources *resources = &result->resources[i];

		resources->regs_per_thread = found->resources[i].regs_per_thread;
		resources->smem_static_bytes = found->resources[i].smem_static_bytes;
		resources->blocks_per_sm = found->resources[i].blocks_per_sm;
		resources->max_clusters = found->resources[i].max_clusters;
	}
	score_again(trial);
}

void trial_take_reply(
	struct trial *trial, struct device_reply *reply, const struct output_digest *wanted)
{
	struct result *found = &reply->result;

	take_driver_resources(trial, found);
	if (trial->is_checked_again && found->sample_count) {
		trial->retest_us = found->samples_us[0];
		found->sample_count = 0;
	}
	result_add(&trial->result, found);
	if (reply->reference_failed)
		return;
	if (found->verification.done && found->outcome == OUTCOME_OK && wanted &&
		(!trial->result.bits ||
			output_digest_compare(trial->result.bits, wanted, NULL) != DIGEST_SAME))
		trial_finish(trial, OUTCOME_OTHER_BITS, NULL);
	else if (found->outcome != OUTCOME_OK || trial->goal == TRIAL_DONE)
		trial_finish(trial, found->outcome, found->detail);
	else
		trial->stage = trial->goal;
}

void trial_release(struct trial *trial)
{
	free(trial->values);
	free(trial->kernels);
	free(trial->cubins);
	build_release(&trial->build);
	plan_release(&trial->plan);
	work_release(&trial->work);
	result_release(&trial->result);
	*trial = (struct trial){0};
}
