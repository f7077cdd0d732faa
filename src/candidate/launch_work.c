/* SPDX-License-Identifier: MIT */
#include "candidate/launch_work.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- shapes ---- */
enum {
	BLOCK_XY_MAX = 1024,
	BLOCK_Z_MAX = 64,
	CLUSTER_BLOCKS_MAX = 16, /* 8 is portable, 16 on request */
	REPEAT_MAX = 1 << 20,
};

const uint32_t launch_grid_max[3] = {INT32_MAX, 65535, 65535};

/* Along what is left out there is one. */
static enum status evaluate_three(const struct expression_list *list, const struct value *values,
	const uint32_t most[3], uint32_t result[3], struct error *err)
{
	for (size_t i = 0; i < 3; i++) {
		result[i] = 1;
		if (i < list->count)
			TRY(expression_uint32(list->items[i], values, 1, most[i], &result[i], err));
	}
	return STATUS_OK;
}

static enum status evaluate_block(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	static const uint32_t most[3] = {BLOCK_XY_MAX, BLOCK_XY_MAX, BLOCK_Z_MAX};
	int64_t threads = 1;

	TRY(evaluate_three(&launch->block, values, most, shape->block, err));
	for (size_t i = 0; i < 3; i++)
		threads *= shape->block[i];
	if (threads > device->max_threads_per_block)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRId64 " threads in a block, found %" PRId64,
			expression_where(launch->block.items[0]), device->max_threads_per_block,
			threads);
	return STATUS_OK;
}

static enum status evaluate_cluster(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	const uint32_t most = device->compute_capability >= 90 ? CLUSTER_BLOCKS_MAX : 1;
	const uint32_t most_of_each[3] = {most, most, most};
	int64_t blocks = 1;

	TRY(evaluate_three(&launch->cluster, values, most_of_each, shape->cluster, err));
	for (size_t i = 0; i < launch->cluster.count; i++) {
		blocks *= shape->cluster[i];
		if (shape->grid[i] % shape->cluster[i] != 0)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a grid of whole clusters, found %" PRIu32
				" blocks in clusters of %" PRIu32,
				expression_where(launch->cluster.items[i]), shape->grid[i],
				shape->cluster[i]);
	}
	if (blocks > most)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRIu32 " blocks in a cluster, found %" PRId64,
			expression_where(launch->cluster.items[0]), most, blocks);
	return STATUS_OK;
}

enum status launch_shape_evaluate(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	*shape = (struct launch_shape){.repeat = 1};
	TRY(evaluate_three(&launch->grid, values, launch_grid_max, shape->grid, err));
	TRY(evaluate_block(launch, values, device, shape, err));
	TRY(evaluate_cluster(launch, values, device, shape, err));
	if (launch->smem_bytes)
		TRY(expression_uint32(launch->smem_bytes, values, 0,
			(uint32_t)device->smem_per_block_bytes, &shape->smem_dynamic_bytes, err));
	if (launch->repeat)
		TRY(expression_uint32(launch->repeat, values, 1, REPEAT_MAX, &shape->repeat, err));
	return STATUS_OK;
}

/* ---- what stays of the values before ---- */
/* Whether nothing that it reads has changed. NULL reads nothing; without `changed` all has. */
static bool stays(const struct expression *expression, const bool *changed)
{
	size_t count = 0;
	const int *indices = expression ? expression_indices(expression, &count) : NULL;
	bool same = changed;

	for (size_t i = 0; i < count && same; i++)
		same = !changed[indices[i]];
	return same;
}

static bool list_stays(const struct expression_list *list, const bool *changed)
{
	bool same = changed;

	for (size_t i = 0; i < list->count && same; i++)
		same = stays(list->items[i], changed);
	return same;
}

static bool shape_stays(const struct launch *launch, const bool *changed)
{
	return list_stays(&launch->grid, changed) && list_stays(&launch->block, changed) &&
	       list_stays(&launch->cluster, changed) && stays(launch->smem_bytes, changed) &&
	       stays(launch->repeat, changed);
}

static bool accesses_stay(const struct model *model, const bool *changed)
{
	bool same = changed;

	for (size_t i = 0; i < model->access_count && same; i++) {
		const struct model_access *access = &model->accesses[i];

		same = stays(access->when, changed) && stays(access->width_bytes, changed) &&
		       stays(access->bytes, changed) && stays(access->address, changed);
	}
	return same;
}

static bool tiles_stay(const struct model *model, const bool *changed)
{
	bool same = changed;

	for (size_t i = 0; i < model->tile_count && same; i++) {
		const struct model_tile *tile = &model->tiles[i];

		same = stays(tile->when, changed) && stays(tile->rows, changed) &&
		       stays(tile->columns, changed) && stays(tile->row_offset, changed);
	}
	return same;
}

/* ---- a launch's model ---- */
/* A number that is finite and not negative; without an expression `otherwise`. */
static enum status evaluate_amount(const struct expression *expression, const struct value *values,
	const bool *changed, double otherwise, double *result, struct error *err)
{
	if (!expression) {
		*result = otherwise;
		return STATUS_OK;
	}
	if (stays(expression, changed))
		return STATUS_OK;
	TRY(expression_real(expression, values, result, err));
	if (!isfinite(*result) || *result < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an amount of at least 0, found %g",
			expression_where(expression), *result);
	return STATUS_OK;
}

static enum status evaluate_pipes(const struct model_amounts *amounts, const struct value *values,
	const bool *changed, double result[PIPE_COUNT], struct error *err)
{
	for (int pipe = 0; pipe < PIPE_COUNT; pipe++)
		TRY(evaluate_amount(amounts->pipe[pipe], values, changed, 0, &result[pipe], err));
	return STATUS_OK;
}

static enum status evaluate_schedule(const struct model *model, const struct value *values,
	enum schedule *schedule, struct error *err)
{
	const char *name;
	int found;

	*schedule = SCHEDULE_GRID;
	if (!model->schedule)
		return STATUS_OK;
	TRY(expression_string(model->schedule, values, &name, err));
	found = name_find(name, schedule_names);
	if (found < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected 'grid', 'persistent' or 'stream_k', found \"%s\"",
			expression_where(model->schedule), name);
	*schedule = (enum schedule)found;
	return STATUS_OK;
}

static enum status evaluate_addresses(const struct model_access *access, struct value *values,
	size_t lane_index, uint32_t *address, struct error *err)
{
	for (int i = 0; i < WORK_LANES; i++) {
		values[lane_index] = value_int(i);
		TRY(expression_uint32(access->address, values, 0, UINT32_MAX, &address[i], err));
	}
	return STATUS_OK;
}

static enum status evaluate_access(const struct model_access *access, struct value *values,
	size_t lane_index, struct work_smem_access *result, struct error *err)
{
	TRY(expression_uint32(access->width_bytes, values, 1, 16, &result->width_bytes, err));
	result->pipe = access->is_write ? PIPE_SMEM_WRITE : PIPE_SMEM_READ;
	TRY(evaluate_amount(access->bytes, values, NULL, 0, &result->bytes_per_step, err));
	return evaluate_addresses(access, values, lane_index, result->address, err);
}

static enum status evaluate_accesses(const struct model *model, struct value *values,
	size_t lane_index, struct launch_work *work, struct error *err)
{
	work->smem_access_count = 0;
	if (!work->smem_accesses)
		work->smem_accesses =
			memory_zeroed(model->access_count, sizeof(*work->smem_accesses));
	for (size_t i = 0; i < model->access_count; i++) {
		bool holds;

		TRY(expression_test(model->accesses[i].when, values, &holds, err));
		if (holds)
			TRY(evaluate_access(&model->accesses[i], values, lane_index,
				&work->smem_accesses[work->smem_access_count++], err));
	}
	return STATUS_OK;
}

static enum status evaluate_tile(const struct model_tile *tile, const struct value *values,
	const struct plan_buffer *tensor, struct work_tile *result, struct error *err)
{
	const uint32_t element = (uint32_t)dtype_size(tensor->dtype), most = UINT32_MAX / element;
	uint32_t columns, offset = 0;

	TRY(expression_uint32(tile->rows, values, 0, UINT32_MAX, &result->rows, err));
	TRY(expression_uint32(tile->columns, values, 0, most, &columns, err));
	if (tile->row_offset)
		TRY(expression_uint32(tile->row_offset, values, 0, most, &offset, err));
	result->is_output = tile->is_output;
	result->row_bytes = columns * element;
	result->row_offset_bytes = offset * element;
	result->pitch_bytes = tensor->ld * element;
	return STATUS_OK;
}

static enum status evaluate_tiles(const struct model *model, const struct value *values,
	const struct plan_buffer *tensors, struct launch_work *work, struct error *err)
{
	work->tile_count = 0;
	if (!work->tiles)
		work->tiles = memory_zeroed(model->tile_count, sizeof(*work->tiles));
	for (size_t i = 0; i < model->tile_count; i++) {
		const struct model_tile *tile = &model->tiles[i];
		bool holds;

		TRY(expression_test(tile->when, values, &holds, err));
		if (holds)
			TRY(evaluate_tile(tile, values, &tensors[tile->tensor],
				&work->tiles[work->tile_count++], err));
	}
	return STATUS_OK;
}

static enum status evaluate_numbers(const struct model *model, const struct value *values,
	const bool *changed, struct launch_work *work, struct error *err)
{
	const struct {
		const struct expression *expression;
		double *result;
		double otherwise;
	} numbers[] = {
		{model->units, &work->units,
			(double)work->shape.grid[0] * work->shape.grid[1] * work->shape.grid[2]},
		{model->useful_fraction, &work->useful_ratio, 1},
		{model->steps_mean, &work->steps_mean, 1},
		{model->stages, &work->stages, 1},
		{model->epilogue_overlap, &work->epilogue_overlap_ratio, 0},
		{model->dram_read_bytes, &work->dram_read_bytes, 0},
		{model->dram_write_bytes, &work->dram_write_bytes, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		TRY(evaluate_amount(numbers[i].expression, values, changed, numbers[i].otherwise,
			numbers[i].result, err));
	return evaluate_amount(
		model->steps_max, values, changed, work->steps_mean, &work->steps_max, err);
}

/* Fills everything but the launch's shape. Of the values that of `lane` (lane_index) is changed. */
static enum status model_evaluate(const struct model *model, struct value *values,
	size_t lane_index, const struct plan_buffer *tensors, const bool *changed,
	struct launch_work *work, struct error *err)
{
	TRY(evaluate_numbers(model, values, changed, work, err));
	if (!stays(model->schedule, changed))
		TRY(evaluate_schedule(model, values, &work->schedule, err));
	TRY(dtype_evaluate(model->dtype, values, &work->dtype, err));
	TRY(evaluate_pipes(&model->per_step, values, changed, work->per_step, err));
	TRY(evaluate_pipes(&model->prologue, values, changed, work->prologue, err));
	TRY(evaluate_pipes(&model->epilogue, values, changed, work->epilogue, err));
	if (!accesses_stay(model, changed))
		TRY(evaluate_accesses(model, values, lane_index, work, err));
	return tiles_stay(model, changed) ? STATUS_OK
					  : evaluate_tiles(model, values, tensors, work, err);
}

/* ---- launches ---- */
enum {
	REGS_LEAST = 16,
	REGS_UNKNOWN = 32, /* so few that no kernel is pruned for its registers */
	REGS_MOST = 255
};

enum status launch_work_evaluate(const struct bound_family *bound, size_t index,
	struct value *values, const bool *changed, struct launch_work *work, struct error *err)
{
	const struct bound_model *model = &bound->model;
	const struct launch *launch = &model->launches[index];

	if (!shape_stays(launch, changed))
		TRY(launch_shape_evaluate(launch, values, bound->device, &work->shape, err));
	if (!stays(launch->regs_estimate, changed)) {
		int64_t regs = REGS_UNKNOWN;

		if (launch->regs_estimate)
			TRY(expression_int(launch->regs_estimate, values, &regs, err));
		/* an estimate is a guess: outside of what there is it means "the least" or "the
		 * most" */
		work->regs_estimate = regs < REGS_LEAST  ? REGS_LEAST
				      : regs > REGS_MOST ? REGS_MOST
							 : (int32_t)regs;
	}
	work->has_model = launch->has_model;
	return model_evaluate(&launch->model, values,
		scope_extra_index(&bound->family->scope, EXTRA_LANE), model->tensors, changed, work,
		err);
}
