/* SPDX-License-Identifier: MIT */
#include "candidate/candidate_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_family.h"
#include "candidate/launch_work.h"
#include "family/family.h"

struct work_context {
	const struct bound_family *bound;
	struct value *values;
	uint64_t changed; /* computed_bit() of names changed since the last evaluation */
	struct work kept; /* results of all launches, valid where filled[i] is set */
	bool *filled;
	struct work work; /* active launches, which borrow the lists of `kept` */
};

/* ---- amounts that no model states ---- */
/* Adds the tensor's bytes, and sets the launch's type to the float type with the highest peak
 * rate. */
static void take_tensor(
	const struct bound_family *bound, size_t tensor, struct launch_work *launch, double *most)
{
	const struct plan_buffer *taken = &bound->model.tensors[tensor];
	const double peak = device_spec_peak_flop_per_s(bound->device, taken->dtype);

	launch->tensor_bytes += (double)taken->bytes;
	if (!dtype_is_float(taken->dtype) || peak <= *most)
		return;
	launch->dtype = taken->dtype;
	*most = peak;
}

/* Uses the tensors among the launch's arguments, or the types of all tensors if there are none. */
static void take_arguments(
	const struct bound_family *bound, size_t index, struct launch_work *launch)
{
	const struct argument_list *arguments = &bound->family->launches[index].arguments;
	const size_t tensors = bound->family->operation->tensor_count;
	double most = 0;

	launch->dtype = DTYPE_FP32;
	launch->tensor_bytes = 0;
	for (size_t i = 0; i < arguments->count; i++) {
		const struct plan_argument *argument = &arguments->items[i];
		const bool is_map = argument->kind == ARGUMENT_TENSOR_MAP;
		const size_t buffer = is_map ? bound->family->tensor_maps[argument->index].buffer
					     : argument->index;

		if ((is_map || argument->kind == ARGUMENT_BUFFER) && buffer < tensors)
			take_tensor(bound, buffer, launch, &most);
	}
	if (launch->tensor_bytes > 0)
		return;
	for (size_t i = 0; i < tensors; i++)
		take_tensor(bound, i, launch, &most);
	launch->tensor_bytes = 0;
}

static double flop_of(const struct launch_work *launch)
{
	static const enum pipe computing[] = {PIPE_TENSOR_MMA, PIPE_TENSOR_WGMMA, PIPE_FP32};
	double flop = 0;

	for (size_t i = 0; i < ARRAY_COUNT(computing); i++)
		flop += launch->prologue[computing[i]] + launch->epilogue[computing[i]] +
			launch->steps_mean * launch->per_step[computing[i]];
	return flop * launch->units * launch->shape.repeat;
}

static double bytes_of(const struct launch_work *launch)
{
	return (launch->dram_read_bytes + launch->dram_write_bytes) * launch->shape.repeat;
}

/* Distributes FLOP and bytes that no model states among the launches without a model (bytes in
 * proportion to their tensors), or among all if each has one. The FLOP use the fastest pipe, so the
 * predicted time is a lower bound. */
static void fill_in(const struct bound_family *bound, struct work *work)
{
	double flop = work->flop, bytes = work->min_bytes, silent = 0, tensor_bytes = 0;
	bool says_flop = false, says_bytes = false;

	for (size_t i = 0; i < work->launch_count; i++) {
		const struct launch_work *launch = &work->launches[i];
		const double repeat = launch->shape.repeat;

		says_flop |= flop_of(launch) > 0;
		says_bytes |= bytes_of(launch) > 0;
		flop -= flop_of(launch);
		bytes -= bytes_of(launch);
		silent += !launch->has_model;
		tensor_bytes += launch->has_model ? 0 : repeat * launch->tensor_bytes;
	}
	for (size_t i = 0; i < work->launch_count; i++) {
		struct launch_work *launch = &work->launches[i];
		const double equal = 1 / ((silent > 0 ? silent : (double)work->launch_count) *
						 launch->shape.repeat);
		const double by_tensors =
			tensor_bytes > 0 ? launch->tensor_bytes / tensor_bytes : equal;

		if (launch->has_model && silent > 0)
			continue;
		if ((silent > 0 || !says_flop) && flop > 0 && launch->units > 0)
			launch->prologue[device_spec_fastest_pipe(bound->device, launch->dtype)] =
				equal * flop / launch->units;
		if ((silent > 0 || !says_bytes) && bytes > 0)
			launch->dram_read_bytes = by_tensors * bytes;
	}
}

static enum status evaluate_launch(struct work_context *context, size_t index, struct error *err)
{
	const struct bound_family *bound = context->bound;
	struct launch_work *kept = &context->kept.launches[index], *result;
	const uint64_t changed = context->filled[index] ? context->changed : COMPUTED_ALL;
	bool is_active;

	context->filled[index] = false;
	TRY(expression_test(bound->model.launches[index].when, context->values, &is_active, err));
	if (!is_active)
		return STATUS_OK;
	TRY(launch_work_evaluate(bound, index, context->values, changed, kept, err));
	context->filled[index] = true;
	result = &context->work.launches[context->work.launch_count++];
	*result = *kept;
	if (!result->has_model)
		take_arguments(bound, index, result);
	return STATUS_OK;
}

static enum status evaluate(struct work_context *context, struct error *err)
{
	const struct bound_model *model = &context->bound->model;
	struct work *work = &context->work;

	work->flop = model->flop;
	work->min_bytes = model->min_bytes;
	work->launch_count = 0;
	for (size_t i = 0; i < model->launch_count; i++)
		TRY(evaluate_launch(context, i, err));
	fill_in(context->bound, work);
	return STATUS_OK;
}

struct work_context *work_context_new(const struct bound_family *bound)
{
	struct work_context *context = memory_zeroed(1, sizeof(*context));
	const size_t count = bound->family->scope.all.count, launches = bound->model.launch_count;

	context->bound = bound;
	context->values = memory_zeroed(count, sizeof(*context->values));
	space_fixed(bound->space, context->values);
	context->filled = memory_zeroed(launches + 1, sizeof(*context->filled));
	context->kept.launches = memory_zeroed(launches + 1, sizeof(*context->kept.launches));
	context->kept.launch_count = launches;
	for (size_t i = 0; i < launches; i++)
		context->kept.launches[i] = launch_work_copy(&bound->model.launches[i].work);
	context->work.launches = memory_zeroed(launches + 1, sizeof(*context->work.launches));
	return context;
}

void work_context_free(struct work_context *context)
{
	if (!context)
		return;
	context->work.launch_count = 0;
	work_release(&context->work);
	work_release(&context->kept);
	free(context->filled);
	free(context->values);
	free(context);
}

enum status work_context_evaluate(struct work_context *context, const struct value *values,
	const struct work **work, struct error *err)
{
	const struct bound_family *bound = context->bound;
	enum status status;

	/* Only parameters and constants change. Differing padding causes needless recomputation,
	 * not errors. */
	context->changed = 0;
	for (size_t i = bound->space->fixed_count; i < bound->family->scope.all.count; i++) {
		if (memcmp(&context->values[i], &values[i], sizeof(*values)) == 0)
			continue;
		context->changed |= computed_bit(i, bound->family->scope.parameter_at);
		context->values[i] = values[i];
	}
	*work = &context->work;
	status = evaluate(context, err);
	if (status != STATUS_OK) /* the results cannot be reused for the next configuration */
		memset(context->filled, 0, bound->model.launch_count * sizeof(*context->filled));
	return status;
}

enum status candidate_work(const struct bound_family *bound, const struct value *values,
	struct work *work, struct error *err)
{
	struct work_context *context = work_context_new(bound);
	const struct work *found;
	const enum status status = work_context_evaluate(context, values, &found, err);

	*work = (struct work){0};
	if (status == STATUS_OK) {
		*work = *found;
		work->launches = memory_zeroed(found->launch_count + 1, sizeof(*work->launches));
		for (size_t i = 0; i < found->launch_count; i++)
			work->launches[i] = launch_work_copy(&found->launches[i]);
	}
	work_context_free(context);
	return status;
}
