/* SPDX-License-Identifier: MIT
 *
 * model:NAME, a spec sheet. Blocks per SM are computed, and times are predicted.
 */
#include <math.h>

#include "device/device.h"

static enum status model_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	TRY(device_spec_load(rest, options->config_folders, &device->spec, err));
	string_put(device->identity.name, sizeof(device->identity.name), device->spec->title);
	return STATUS_OK;
}

/* A job fails if no block fits. */
static void inspect(
	const struct device *device, const struct device_job *job, struct result *result)
{
	const struct plan *plan = job->plan;

	result->launch_count = plan->launch_count;
	result->resources = memory_zeroed(plan->launch_count + 1, sizeof(*result->resources));
	for (size_t i = 0; i < plan->launch_count && job->resources; i++) {
		const struct plan_launch *launch = &plan->launches[i];
		struct kernel_resources *resources = &result->resources[i];
		enum occupancy_limiter limiter;

		*resources = job->resources[i];
		resources->blocks_per_sm = occupancy_blocks_per_sm(device->spec,
			launch_threads(&launch->shape, resources), resources->regs_per_thread,
			resources->smem_static_bytes, launch->shape.smem_dynamic_bytes, &limiter);
		resources->max_clusters = -1;
		if (resources->blocks_per_sm >= 1 || result->outcome != OUTCOME_OK)
			continue;
		result->outcome = OUTCOME_LAUNCH_FAILED;
		result->detail = string_format("%s: no block fits on an SM (limited by %s)",
			launch->entry, occupancy_limiter_names[limiter]);
	}
}

static enum status model_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < count; i++) {
		const struct device_job *job = &jobs[i];
		struct device_reply reply = {.ticket = job->ticket};
		struct result *result = &reply.result;

		inspect(device, job, result);
		result->predicted = sampling->rounds || sampling->energy_s > 0;
		if (result->outcome == OUTCOME_OK && result->predicted) {
			result->outcome = isfinite(job->predicted_time_us) ? OUTCOME_OK
									   : OUTCOME_LAUNCH_FAILED;
			if (result->outcome == OUTCOME_OK)
				result_set_samples(result, &job->predicted_time_us, 1);
		}
		device_reply_push(device, reply);
	}
	return STATUS_OK;
}

const struct device_kind device_kind_model = {
	.name = "model",
	.compiles = true,
	.measures = false,
	.open = model_open,
	.submit = model_submit,
};
