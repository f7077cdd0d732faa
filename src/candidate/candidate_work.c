/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate: every active launch's `model` as numbers.
 */
#include "candidate/candidate_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_family.h"
#include "candidate/composite.h"
#include "candidate/launch_work.h"
#include "family/family.h"

struct work_context {
	const struct bound_family *bound;
	struct value *values;
	bool *changed;    /* by slot: since the evaluation before */
	struct work kept; /* all launches; filled[i]: the result of the evaluation before */
	bool *filled;
	struct work work; /* the active ones; their lists are those of `kept` */
};

/* ---- candidates ---- */
static enum status sum_workspaces(const struct bound_model *model, const struct value *values,
	uint64_t *workspace_bytes, struct error *err)
{
	*workspace_bytes = 0;
	for (size_t i = 0; i < model->workspace_count; i++) {
		int64_t bytes;

		TRY(expression_int(model->workspace_bytes[i], values, &bytes, err));
		if (bytes > 0)
			*workspace_bytes += (uint64_t)bytes;
	}
	return STATUS_OK;
}

/* ---- what no model says ---- */
/* Of the tensors' types the one that the device is fastest with. */
static enum dtype fastest_dtype(const struct bound_family *bound)
{
	const struct plan_buffer *tensors = bound->model.tensors;
	enum dtype fastest = DTYPE_FP32;

	for (size_t i = 0; i < bound->family->operation->tensor_count; i++)
		if (device_spec_peak_flop_per_s(bound->device, tensors[i].dtype) >
			device_spec_peak_flop_per_s(bound->device, fastest))
			fastest = tensors[i].dtype;
	return fastest;
}

static bool computes(const double amounts[PIPE_COUNT])
{
	return amounts[PIPE_TENSOR_MMA] > 0 || amounts[PIPE_TENSOR_WGMMA] > 0 ||
	       amounts[PIPE_FP32] > 0;
}

/* Where no launch says what it computes, or what it moves, they share the problem's FLOP, or its
 * bytes: every kernel does that much. By the fastest pipe, so that what follows is
 * the least time. */
static void fill_in(const struct bound_family *bound, struct work *work)
{
	const struct device_spec *device = bound->device;
	const double launches = (double)work->launch_count;
	bool says_flop = false, says_bytes = false;

	for (size_t i = 0; i < work->launch_count; i++) {
		const struct launch_work *launch = &work->launches[i];

		says_flop |= computes(launch->per_step) || computes(launch->prologue) ||
			     computes(launch->epilogue);
		says_bytes |= launch->dram_read_bytes > 0 || launch->dram_write_bytes > 0;
	}
	for (size_t i = 0; i < work->launch_count; i++) {
		struct launch_work *launch = &work->launches[i];
		const double parts = launches * launch->shape.repeat;

		if (!launch->has_model)
			launch->dtype = fastest_dtype(bound);
		if (!says_flop && launch->units > 0)
			launch->prologue[device_spec_fastest_pipe(device, launch->dtype)] =
				work->flop / (parts * launch->units);
		if (!says_bytes)
			launch->dram_read_bytes = work->min_bytes / parts;
	}
}

/* context: where the results before are kept, or NULL. */
static enum status evaluate_launch(const struct bound_family *bound, size_t index,
	struct value *values, struct work_context *context, struct work *work, struct error *err)
{
	struct launch_work *result = &work->launches[work->launch_count];
	struct launch_work *kept = context ? &context->kept.launches[index] : result;
	const bool *changed = context && context->filled[index] ? context->changed : NULL;
	bool is_active;

	if (context)
		context->filled[index] = false;
	TRY(launch_is_active(&bound->model.launches[index], values, &is_active, err));
	if (!is_active)
		return STATUS_OK;
	work->launch_count++;
	TRY(launch_work_evaluate(bound, index, values, changed, kept, err));
	if (context)
		context->filled[index] = true;
	*result = *kept;
	return STATUS_OK;
}

/* Changes the value of `lane` and no other. work: has room for all launches. */
static enum status evaluate(const struct bound_family *bound, struct value *values,
	struct work_context *context, struct work *work, struct error *err)
{
	const struct bound_model *model = &bound->model;

	work->flop = model->flop;
	work->min_bytes = model->min_bytes;
	work->launch_count = 0;
	TRY(sum_workspaces(model, values, &work->workspace_bytes, err));
	for (size_t i = 0; i < model->launch_count; i++)
		TRY(evaluate_launch(bound, i, values, context, work, err));
	if (bound->composite)
		return composite_work(bound, work, err);
	fill_in(bound, work);
	return STATUS_OK;
}

enum status candidate_work(const struct bound_family *bound, const struct value *slots,
	struct work *work, struct error *err)
{
	CLEANUP(memory_free)
	struct value *values = memory_copy(slots, bound->family->scope.count * sizeof(*values));
	enum status status;

	*work = (struct work){
		.launches = memory_zeroed(bound->model.launch_count + 1, sizeof(*work->launches))};
	status = evaluate(bound, values, NULL, work, err);
	if (status != STATUS_OK)
		work_release(work);
	return status;
}

/* ---- many configurations ---- */
struct work_context *work_context_new(const struct bound_family *bound)
{
	struct work_context *context = memory_zeroed(1, sizeof(*context));
	const size_t slots = bound->family->scope.count, launches = bound->model.launch_count;

	context->bound = bound;
	context->values = memory_zeroed(slots, sizeof(*context->values));
	context->changed = memory_zeroed(slots, sizeof(*context->changed));
	space_fixed(bound->space, context->values);
	context->filled = memory_zeroed(launches + 1, sizeof(*context->filled));
	context->kept.launches = memory_zeroed(launches + 1, sizeof(*context->kept.launches));
	context->kept.launch_count = launches;
	if (!bound->composite) /* the steps' work is added, memory and all */
		context->work.launches =
			memory_zeroed(launches + 1, sizeof(*context->work.launches));
	return context;
}

void work_context_free(struct work_context *context)
{
	if (!context)
		return;
	if (!context->bound->composite)
		context->work.launch_count = 0; /* the lists are those of `kept` */
	work_release(&context->work);
	work_release(&context->kept);
	free(context->changed);
	free(context->filled);
	free(context->values);
	free(context);
}

enum status work_context_evaluate(struct work_context *context, const struct value *slots,
	const struct work **work, struct error *err)
{
	const struct bound_family *bound = context->bound;
	enum status status;

	if (bound->composite)
		work_release(&context->work);
	/* problem and device stay what they are */
	for (size_t i = bound->space->fixed_count; i < bound->family->scope.count; i++) {
		context->changed[i] = memcmp(&context->values[i], &slots[i], sizeof(*slots)) != 0;
		context->values[i] = slots[i];
	}
	*work = &context->work;
	status = evaluate(bound, context->values, context, &context->work, err);
	if (status != STATUS_OK) /* the next one cannot follow it */
		memset(context->filled, 0, bound->model.launch_count * sizeof(*context->filled));
	return status;
}
