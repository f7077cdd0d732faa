/* SPDX-License-Identifier: MIT
 *
 * model:NAME, a device that is a spec sheet. Nothing runs: loading computes the occupancy of the
 * compiled kernels, verifying says that nothing was verified, a sample is the predicted time.
 */
#include <math.h>
#include <stdlib.h>

#include "device/device_kind.h"

struct model_candidate {
	struct kernel_resources *resources; /* NULL: unloaded */
	size_t launch_count;
	double predicted_time_us;
	bool fits;
};

struct model {
	struct model_candidate *candidates; /* handle - 1 */
	size_t count, capacity;
	uint32_t problems;
};

static enum status model_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	TRY(device_spec_load(rest, options->config_folders, &device->spec, err));
	device->state = memory_zeroed(1, sizeof(struct model));
	string_put(device->identity.name, sizeof(device->identity.name), device->spec->title);
	return STATUS_OK;
}

static void model_close(struct device *device)
{
	struct model *model = device->state;

	if (!model)
		return;
	for (size_t i = 0; i < model->count; i++)
		free(model->candidates[i].resources);
	free(model->candidates);
	free(model);
}

static enum status model_problem(struct device *device, const char *operation,
	const char *problem_text, const struct reference_plan *reference,
	const struct text *reference_cubins, size_t cubin_count, uint32_t *problem,
	struct error *err)
{
	struct model *model = device->state;

	(void)operation, (void)problem_text, (void)reference, (void)reference_cubins,
		(void)cubin_count, (void)err;
	*problem = ++model->problems;
	return STATUS_OK;
}

static enum status model_load(struct device *device, const struct device_load_request *request,
	device_handle *handle, struct error *err)
{
	struct model *model = device->state;
	const struct plan *plan = request->plan;
	struct device_event event = {.kind = DEVICE_EVENT_LOADED, .outcome = OUTCOME_OK};
	struct model_candidate *candidate;

	(void)err;
	ARRAY_GROW(model->candidates, model->count, model->capacity);
	candidate = &model->candidates[model->count++];
	*candidate = (struct model_candidate){
		.launch_count = plan->launch_count,
		.predicted_time_us = request->predicted_time_us,
		.fits = true,
	};
	candidate->resources = memory_zeroed(plan->launch_count + 1, sizeof(*candidate->resources));
	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct plan_launch *launch = &plan->launches[i];
		struct kernel_resources *resources = &candidate->resources[i];
		enum occupancy_limiter limiter;

		*resources = request->resources[i];
		resources->blocks_per_sm = occupancy_blocks_per_sm(device->spec,
			(int)(launch->shape.block[0] * launch->shape.block[1] *
				launch->shape.block[2]),
			resources->regs_per_thread, resources->smem_static_bytes,
			launch->shape.smem_dynamic_bytes, &limiter);
		resources->max_clusters = -1;
		if (resources->blocks_per_sm < 1 && candidate->fits) {
			candidate->fits = false;
			event.outcome = OUTCOME_LAUNCH_FAILED;
			event.detail = string_format("%s: no block fits on an SM (limited by %s)",
				launch->entry, occupancy_limiter_names[limiter]);
		}
	}
	*handle = (device_handle)model->count;
	event.handle = *handle;
	event.launch_count = plan->launch_count;
	event.resources = memory_copy(
		candidate->resources, (plan->launch_count + 1) * sizeof(*candidate->resources));
	device_event_push(device, event);
	return STATUS_OK;
}

static struct model_candidate *candidate_of(const struct device *device, device_handle handle)
{
	const struct model *model = device->state;

	if (handle == 0 || handle > model->count || !model->candidates[handle - 1].resources)
		BUG("device handle %u", handle);
	return &model->candidates[handle - 1];
}

static enum status model_verify(struct device *device, device_handle handle, struct error *err)
{
	const bool fits = candidate_of(device, handle)->fits;

	(void)err;
	device_event_push(device, (struct device_event){.kind = DEVICE_EVENT_VERIFIED,
					  .handle = handle,
					  .outcome = fits ? OUTCOME_OK : OUTCOME_LAUNCH_FAILED});
	return STATUS_OK;
}

static enum status model_sample(
	struct device *device, const struct device_sample_request *request, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < request->handle_count; i++) {
		const struct model_candidate *candidate = candidate_of(device, request->handles[i]);
		struct device_event event = {
			.kind = DEVICE_EVENT_SAMPLED,
			.handle = request->handles[i],
			.outcome = OUTCOME_LAUNCH_FAILED,
			.predicted = true,
		};

		if (candidate->fits && isfinite(candidate->predicted_time_us)) {
			event.outcome = OUTCOME_OK;
			event.samples_us = memory_copy(&candidate->predicted_time_us,
				sizeof(candidate->predicted_time_us));
			event.sample_count = 1;
		}
		device_event_push(device, event);
	}
	return STATUS_OK;
}

static void model_unload(struct device *device, device_handle handle)
{
	struct model_candidate *candidate = candidate_of(device, handle);

	free(candidate->resources);
	candidate->resources = NULL;
}

const struct device_kind device_kind_model = {
	.name = "model",
	.compiles = true,
	.measures = false,
	.open = model_open,
	.close = model_close,
	.problem = model_problem,
	.load = model_load,
	.verify = model_verify,
	.sample = model_sample,
	.unload = model_unload,
};
