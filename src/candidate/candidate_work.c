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
	struct access_memo **memos; /* per launch, one per access; from the second evaluation on */
	bool is_used;
	struct work work; /* its arrays have room for all launches, accesses and tiles */
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

/* Changes the value of `lane` and no other. memos: per launch, or NULL. work: zeroed but for the
 * memory of its lists, which have room for all. */
static enum status evaluate(const struct bound_family *bound, struct value *values,
	struct access_memo **memos, struct work *work, struct error *err)
{
	const struct bound_model *model = &bound->model;

	work->flop = model->flop;
	work->min_bytes = model->min_bytes;
	work->launch_count = 0;
	TRY(sum_workspaces(model, values, &work->workspace_bytes, err));
	for (size_t i = 0; i < model->launch_count; i++) {
		struct launch_work *launch = &work->launches[work->launch_count];
		bool is_active;

		TRY(launch_is_active(&model->launches[i], values, &is_active, err));
		if (!is_active)
			continue;
		*launch = (struct launch_work){
			.smem_accesses = launch->smem_accesses, .tiles = launch->tiles};
		work->launch_count++;
		TRY(launch_work_evaluate(bound, i, values, memos ? memos[i] : NULL, launch, err));
	}
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
static struct access_memo **make_memos(const struct bound_family *bound)
{
	const size_t count = bound->model.launch_count;
	struct access_memo **memos = memory_zeroed(count + 1, sizeof(*memos));

	for (size_t i = 0; i < count; i++)
		memos[i] = access_memos_new(bound, i);
	return memos;
}

struct work_context *work_context_new(const struct bound_family *bound)
{
	struct work_context *context = memory_zeroed(1, sizeof(*context));
	const struct bound_model *model = &bound->model;
	size_t accesses_max = 1, tiles_max = 1;

	context->bound = bound;
	context->values = memory_zeroed(bound->family->scope.count, sizeof(*context->values));
	space_fixed(bound->space, context->values);
	for (size_t i = 0; i < model->launch_count; i++) {
		const struct model *launch = &model->launches[i].model;

		if (launch->access_count > accesses_max)
			accesses_max = launch->access_count;
		if (launch->tile_count > tiles_max)
			tiles_max = launch->tile_count;
	}
	if (bound->composite) /* the steps' work is added, memory and all */
		return context;
	context->work.launches =
		memory_zeroed(model->launch_count + 1, sizeof(*context->work.launches));
	for (size_t i = 0; i < model->launch_count; i++) {
		struct launch_work *launch = &context->work.launches[i];

		launch->smem_accesses = memory_zeroed(accesses_max, sizeof(*launch->smem_accesses));
		launch->tiles = memory_zeroed(tiles_max, sizeof(*launch->tiles));
	}
	return context;
}

void work_context_free(struct work_context *context)
{
	if (!context)
		return;
	for (size_t i = 0; context->memos && i < context->bound->model.launch_count; i++)
		free(context->memos[i]);
	if (!context->bound->composite)
		context->work.launch_count = context->bound->model.launch_count;
	work_release(&context->work);
	free(context->memos);
	free(context->values);
	free(context);
}

enum status work_context_evaluate(struct work_context *context, const struct value *slots,
	const struct work **work, struct error *err)
{
	const struct bound_family *bound = context->bound;

	if (context->is_used && !context->memos)
		context->memos = make_memos(bound);
	context->is_used = true;
	if (bound->composite)
		work_release(&context->work);
	/* problem and device stay what they are */
	memcpy(context->values + bound->space->fixed_count, slots + bound->space->fixed_count,
		(bound->family->scope.count - bound->space->fixed_count) * sizeof(*slots));
	*work = &context->work;
	return evaluate(bound, context->values, context->memos, &context->work, err);
}
