/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate: every active launch's `model` as numbers.
 */
#include "candidate/candidate_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_family.h"
#include "candidate/composite.h"
#include "family/family.h"

/* Addresses of shared-memory accesses depend on a few values (a pitch, a swizzle), candidates on
 * many: a small direct-mapped table of each access. */
enum {
	MEMO_SLOTS_MAX = 8,
	MEMO_ENTRIES = 64
};

struct access_memo {
	bool usable; /* few enough names */
	int slots[MEMO_SLOTS_MAX];
	size_t slot_count;
	struct memo_entry {
		bool used;
		int64_t key[MEMO_SLOTS_MAX];
		uint32_t address[WORK_LANES];
	} entries[MEMO_ENTRIES];
};

struct work_context {
	const struct bound_family *bound;
	struct value *values;
	struct access_memo **memos; /* per launch, one per access; from the second evaluation on */
	bool is_used;
	struct work work; /* its arrays have room for all launches, accesses and tiles */
};

static void access_memo_init(
	struct access_memo *memo, const struct expression *address, size_t lane_slot)
{
	size_t count;
	const int *slots = expression_slots(address, &count);

	memo->usable = count <= MEMO_SLOTS_MAX + 1;
	for (size_t i = 0; i < count && memo->usable; i++) {
		if ((size_t)slots[i] == lane_slot)
			continue;
		memo->usable = memo->slot_count < MEMO_SLOTS_MAX;
		if (memo->usable)
			memo->slots[memo->slot_count++] = slots[i];
	}
}

/* The entry that belongs to values: used (its addresses hold), or to be filled (its key is set).
 * NULL: not memoizable. */
static struct memo_entry *access_memo_find(struct access_memo *memo, const struct value *values)
{
	int64_t key[MEMO_SLOTS_MAX] = {0};
	uint64_t mixed = 0;
	struct memo_entry *entry;

	if (!memo || !memo->usable)
		return NULL;
	for (size_t i = 0; i < memo->slot_count; i++) {
		const struct value *value = &values[memo->slots[i]];

		if (value->type != VALUE_INT && value->type != VALUE_BOOL)
			return NULL;
		key[i] = value->type == VALUE_INT ? value->integer : value->boolean;
		mixed = (mixed ^ (uint64_t)key[i]) * 0x9e3779b97f4a7c15u;
		mixed ^= mixed >> 29;
	}
	entry = &memo->entries[mixed % MEMO_ENTRIES];
	if (entry->used && memcmp(entry->key, key, sizeof(key)) == 0)
		return entry;
	entry->used = false;
	memcpy(entry->key, key, sizeof(key));
	return entry;
}

/* ---- a launch's model ---- */
/* A number that is finite and not negative; NULL leaves *result as it is. */
static enum status evaluate_amount(const struct expression *expression, const struct value *values,
	double *result, struct error *err)
{
	if (!expression)
		return STATUS_OK;
	TRY(expression_real(expression, values, result, err));
	if (!isfinite(*result) || *result < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an amount of at least 0, found %g",
			expression_where(expression), *result);
	return STATUS_OK;
}

static enum status evaluate_pipes(const struct model_amounts *amounts, const struct value *values,
	double result[PIPE_COUNT], struct error *err)
{
	for (int pipe = 0; pipe < PIPE_COUNT; pipe++)
		TRY(evaluate_amount(amounts->pipe[pipe], values, &result[pipe], err));
	return STATUS_OK;
}

static enum status evaluate_schedule(const struct model *model, const struct value *values,
	enum schedule *schedule, struct error *err)
{
	const char *name;
	int found;

	*schedule = model->schedule;
	if (!model->schedule_text)
		return STATUS_OK;
	TRY(expression_string(model->schedule_text, values, &name, err));
	found = name_find(name, schedule_names);
	if (found < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected 'grid', 'persistent' or 'stream_k', found \"%s\"",
			expression_where(model->schedule_text), name);
	*schedule = (enum schedule)found;
	return STATUS_OK;
}

static enum status evaluate_addresses(const struct model_access *access, struct value *values,
	size_t lane_slot, struct access_memo *memo, uint32_t *address, struct error *err)
{
	struct memo_entry *entry = access_memo_find(memo, values);

	for (int i = 0; i < WORK_LANES && !(entry && entry->used); i++) {
		int64_t number;

		values[lane_slot] = value_int(i);
		TRY(expression_int_within(access->address, values, 0, UINT32_MAX, &number, err));
		address[i] = (uint32_t)number;
	}
	if (entry && entry->used)
		memcpy(address, entry->address, sizeof(entry->address));
	else if (entry)
		memcpy(entry->address, address, sizeof(entry->address));
	if (entry)
		entry->used = true;
	return STATUS_OK;
}

static enum status evaluate_access(const struct model_access *access, struct value *values,
	size_t lane_slot, struct access_memo *memo, struct work_smem_access *result,
	struct error *err)
{
	int64_t number;

	TRY(expression_int_within(access->width_bytes, values, 1, 16, &number, err));
	result->pipe = access->is_write ? PIPE_SMEM_WRITE : PIPE_SMEM_READ;
	result->width_bytes = (uint32_t)number;
	TRY(evaluate_amount(access->bytes, values, &result->bytes_per_step, err));
	return evaluate_addresses(access, values, lane_slot, memo, result->address, err);
}

static enum status test_when(
	const struct expression *when, const struct value *values, bool *holds, struct error *err)
{
	*holds = true;
	return when ? expression_test(when, values, holds, err) : STATUS_OK;
}

static enum status evaluate_accesses(const struct model *model, struct value *values,
	size_t lane_slot, struct access_memo *memos, struct launch_work *work, struct error *err)
{
	if (model->access_count == 0)
		return STATUS_OK;
	if (!work->smem_accesses)
		work->smem_accesses =
			memory_zeroed(model->access_count, sizeof(*work->smem_accesses));
	for (size_t i = 0; i < model->access_count; i++) {
		bool holds;

		TRY(test_when(model->accesses[i].when, values, &holds, err));
		if (holds)
			TRY(evaluate_access(&model->accesses[i], values, lane_slot,
				memos ? &memos[i] : NULL,
				&work->smem_accesses[work->smem_access_count++], err));
	}
	return STATUS_OK;
}

static enum status evaluate_tile(const struct model_tile *tile, const struct value *values,
	const struct plan_buffer *tensor, struct work_tile *result, struct error *err)
{
	int64_t element = (int64_t)dtype_size(tensor->dtype);
	int64_t rows, columns, offset = 0;

	TRY(expression_int_within(tile->rows, values, 0, UINT32_MAX, &rows, err));
	TRY(expression_int_within(tile->columns, values, 0, UINT32_MAX / element, &columns, err));
	if (tile->row_offset)
		TRY(expression_int_within(
			tile->row_offset, values, 0, UINT32_MAX / element, &offset, err));
	result->is_output = tile->is_output;
	result->rows = (uint32_t)rows;
	result->row_bytes = (uint32_t)(columns * element);
	result->row_offset_bytes = (uint32_t)(offset * element);
	result->pitch_bytes = tensor->ld * (uint64_t)element;
	return STATUS_OK;
}

static enum status evaluate_tiles(const struct model *model, const struct value *values,
	const struct plan_buffer *tensors, struct launch_work *work, struct error *err)
{
	if (model->tile_count == 0)
		return STATUS_OK;
	if (!work->tiles)
		work->tiles = memory_zeroed(model->tile_count, sizeof(*work->tiles));
	for (size_t i = 0; i < model->tile_count; i++) {
		const struct model_tile *tile = &model->tiles[i];
		bool holds;

		TRY(test_when(tile->when, values, &holds, err));
		if (holds)
			TRY(evaluate_tile(tile, values, &tensors[tile->tensor],
				&work->tiles[work->tile_count++], err));
	}
	return STATUS_OK;
}

static enum status evaluate_numbers(const struct model *model, const struct value *values,
	struct launch_work *work, struct error *err)
{
	const struct {
		const struct expression *expression;
		double *result;
		double otherwise;
	} numbers[] = {
		{model->units, &work->units, (double)work->grid[0] * work->grid[1] * work->grid[2]},
		{model->useful_fraction, &work->useful_ratio, 1},
		{model->steps_mean, &work->steps_mean, 1},
		{model->stages, &work->stages, 1},
		{model->epilogue_overlap, &work->epilogue_overlap_ratio, 0},
		{model->dram_read_bytes, &work->dram_read_bytes, 0},
		{model->dram_write_bytes, &work->dram_write_bytes, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
		*numbers[i].result = numbers[i].otherwise;
		TRY(evaluate_amount(numbers[i].expression, values, numbers[i].result, err));
	}
	work->steps_max = work->steps_mean;
	return evaluate_amount(model->steps_max, values, &work->steps_max, err);
}

/* Fills everything but the launch's shape. values: of all slots; that of `lane` (lane_slot) is
 * changed. memos: one per access, or NULL. */
static enum status model_evaluate(const struct model *model, struct value *values, size_t lane_slot,
	const struct plan_buffer *tensors, struct access_memo *memos, struct launch_work *work,
	struct error *err)
{
	TRY(evaluate_numbers(model, values, work, err));
	TRY(evaluate_schedule(model, values, &work->schedule, err));
	TRY(dtype_evaluate(&model->dtype, values, &work->dtype, err));
	TRY(evaluate_pipes(&model->per_step, values, work->per_step, err));
	TRY(evaluate_pipes(&model->prologue, values, work->prologue, err));
	TRY(evaluate_pipes(&model->epilogue, values, work->epilogue, err));
	TRY(evaluate_accesses(model, values, lane_slot, memos, work, err));
	return evaluate_tiles(model, values, tensors, work, err);
}

/* ---- candidates ---- */
enum {
	REGS_LEAST = 16,
	REGS_UNKNOWN = 32, /* so few that nothing is taken for too large */
	REGS_MOST = 255
};

static enum status launch_work(const struct bound_family *bound, size_t index, struct value *values,
	struct access_memo *memos, struct launch_work *work, struct error *err)
{
	const struct bound_model *model = &bound->model;
	const struct launch *launch = &model->launches[index];
	struct launch_shape shape;
	int64_t regs = REGS_UNKNOWN;

	TRY(launch_shape_evaluate(launch, values, bound->device, &shape, err));
	if (launch->regs_estimate)
		TRY(expression_int(launch->regs_estimate, values, &regs, err));
	memcpy(work->grid, shape.grid, sizeof(work->grid));
	memcpy(work->block, shape.block, sizeof(work->block));
	memcpy(work->cluster, shape.cluster, sizeof(work->cluster));
	work->smem_dynamic_bytes = shape.smem_dynamic_bytes;
	work->repeat = shape.repeat;
	work->has_model = launch->has_model;
	/* an estimate is a guess: outside of what there is it means "the least" or "the most" */
	work->regs_estimate = regs < REGS_LEAST  ? REGS_LEAST
			      : regs > REGS_MOST ? REGS_MOST
						 : (int32_t)regs;
	return model_evaluate(&launch->model, values,
		scope_extra_slot(&bound->family->scope, EXTRA_LANE), model->tensors, memos, work,
		err);
}

static enum status sum_workspaces(const struct bound_model *model, const struct value *values,
	uint64_t *workspace_bytes, struct error *err)
{
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
 * bytes: that much is done whatever the kernel is. By the fastest pipe, so that what follows is
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
		const double parts = launches * launch->repeat;

		if (!launch->has_model)
			launch->dtype = fastest_dtype(bound);
		if (!says_flop && launch->units > 0)
			launch->prologue[device_spec_fastest_pipe(device, launch->dtype)] =
				work->flop / (parts * launch->units);
		if (!says_bytes)
			launch->dram_read_bytes = work->min_bytes / parts;
	}
}

/* values: of all slots; changed. work: zeroed, or with room for all. */
static enum status evaluate(const struct bound_family *bound, struct value *values,
	struct access_memo *const *memos, struct work *work, struct error *err)
{
	const struct bound_model *model = &bound->model;

	work->flop = model->flop;
	work->min_bytes = model->min_bytes;
	if (!work->launches)
		work->launches = memory_zeroed(model->launch_count, sizeof(*work->launches));
	TRY(sum_workspaces(model, values, &work->workspace_bytes, err));
	for (size_t i = 0; i < model->launch_count; i++) {
		bool is_active;

		TRY(launch_is_active(&model->launches[i], values, &is_active, err));
		if (is_active)
			TRY(launch_work(bound, i, values, memos ? memos[i] : NULL,
				&work->launches[work->launch_count++], err));
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

	*work = (struct work){0};
	status = evaluate(bound, values, NULL, work, err);
	if (status != STATUS_OK)
		work_release(work);
	return status;
}

/* ---- many configurations ---- */
static struct access_memo **make_memos(const struct bound_family *bound)
{
	const struct bound_model *model = &bound->model;
	struct access_memo **memos = memory_zeroed(model->launch_count + 1, sizeof(*memos));

	for (size_t i = 0; i < model->launch_count; i++) {
		const struct model *launch = &model->launches[i].model;

		memos[i] = memory_zeroed(launch->access_count + 1, sizeof(**memos));
		for (size_t k = 0; k < launch->access_count; k++)
			access_memo_init(&memos[i][k], launch->accesses[k].address,
				scope_extra_slot(&bound->family->scope, EXTRA_LANE));
	}
	return memos;
}

struct work_context *work_context_new(const struct bound_family *bound)
{
	struct work_context *context = memory_zeroed(1, sizeof(*context));
	const struct bound_model *model = &bound->model;
	size_t accesses_max = 1, tiles_max = 1;

	context->bound = bound;
	context->values = memory_zeroed(bound->family->scope.count, sizeof(*context->values));
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
	for (size_t i = 0; i < context->work.launch_count; i++) {
		struct launch_work *launch = &context->work.launches[i];

		*launch = (struct launch_work){
			.smem_accesses = launch->smem_accesses, .tiles = launch->tiles};
	}
	context->work.launch_count = 0;
	context->work.workspace_bytes = 0;
	memcpy(context->values, slots, bound->family->scope.count * sizeof(*slots));
	*work = &context->work;
	return evaluate(bound, context->values, context->memos, &context->work, err);
}
