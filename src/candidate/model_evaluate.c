/* SPDX-License-Identifier: MIT
 *
 * A launch's `model` as numbers.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_model.h"
#include "family/model.h"
#include "family/schedule_name.h"

/* A number that is finite and not negative; NULL leaves *result as it is. */
static enum status evaluate_amount(const struct expression *expression, const struct value *values,
	double *result, struct error *err)
{
	enum status status;

	if (!expression)
		return STATUS_OK;
	status = expression_real(expression, values, result, err);
	if (status != STATUS_OK)
		return status;
	if (!isfinite(*result) || *result < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an amount of at least 0, found %g",
			expression_where(expression), *result);
	return STATUS_OK;
}

static enum status evaluate_pipes(const struct model_amounts *amounts, const struct value *values,
	double result[PIPE_COUNT], struct error *err)
{
	for (int pipe = 0; pipe < PIPE_COUNT; pipe++) {
		enum status status =
			evaluate_amount(amounts->pipe[pipe], values, &result[pipe], err);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status evaluate_schedule(const struct model *model, const struct value *values,
	enum schedule *schedule, struct error *err)
{
	const char *name;
	enum status status;

	*schedule = model->schedule;
	if (!model->schedule_text)
		return STATUS_OK;
	status = expression_string(model->schedule_text, values, &name, err);
	if (status != STATUS_OK)
		return status;
	if (!schedule_find(name, schedule))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected 'grid', 'persistent' or 'stream_k', found \"%s\"",
			expression_where(model->schedule_text), name);
	return STATUS_OK;
}

static enum status evaluate_count(const struct expression *expression, const struct value *values,
	int64_t least, int64_t most, int64_t *result, struct error *err)
{
	enum status status = expression_int(expression, values, result, err);

	if (status != STATUS_OK)
		return status;
	if (*result < least || *result > most)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number from %" PRId64 " to %" PRId64 ", found %" PRId64,
			expression_where(expression), least, most, *result);
	return STATUS_OK;
}

static enum status evaluate_addresses(const struct model_access *access, struct value *values,
	size_t lane_slot, struct access_memo *memo, uint32_t *address, struct error *err)
{
	struct memo_entry *entry = access_memo_find(memo, values);
	enum status status = STATUS_OK;

	for (int i = 0; i < WORK_LANES && !(entry && entry->used); i++) {
		int64_t number;

		values[lane_slot] = value_int(i);
		status = evaluate_count(access->address, values, 0, UINT32_MAX, &number, err);
		if (status != STATUS_OK)
			return status;
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
	enum status status = evaluate_count(access->width_bytes, values, 1, 16, &number, err);

	if (status != STATUS_OK)
		return status;
	string_put(result->name, sizeof(result->name), access->name);
	result->pipe = access->pipe;
	result->width_bytes = (uint32_t)number;
	status = evaluate_amount(access->bytes, values, &result->bytes_per_step, err);
	if (status != STATUS_OK)
		return status;
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
	work->smem_accesses = memory_zeroed(model->access_count, sizeof(*work->smem_accesses));
	for (size_t i = 0; i < model->access_count; i++) {
		bool holds;
		enum status status = test_when(model->accesses[i].when, values, &holds, err);

		if (status == STATUS_OK && holds)
			status = evaluate_access(&model->accesses[i], values, lane_slot, &memos[i],
				&work->smem_accesses[work->smem_access_count++], err);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status evaluate_tile(const struct model_tile *tile, const struct value *values,
	const struct plan_buffer *tensor, struct work_tile *result, struct error *err)
{
	int64_t element = (int64_t)dtype_size(tensor->dtype);
	int64_t rows, columns, offset = 0;
	enum status status = evaluate_count(tile->rows, values, 0, UINT32_MAX, &rows, err);

	if (status == STATUS_OK)
		status = evaluate_count(
			tile->columns, values, 0, UINT32_MAX / element, &columns, err);
	if (status == STATUS_OK && tile->row_offset)
		status = evaluate_count(
			tile->row_offset, values, 0, UINT32_MAX / element, &offset, err);
	if (status != STATUS_OK)
		return status;
	string_put(result->tensor, sizeof(result->tensor), tensor->name);
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
	work->tiles = memory_zeroed(model->tile_count, sizeof(*work->tiles));
	for (size_t i = 0; i < model->tile_count; i++) {
		const struct model_tile *tile = &model->tiles[i];
		bool holds;
		enum status status = test_when(tile->when, values, &holds, err);

		if (status == STATUS_OK && holds)
			status = evaluate_tile(tile, values, &tensors[tile->tensor],
				&work->tiles[work->tile_count++], err);
		if (status != STATUS_OK)
			return status;
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
		{model->units, &work->units, 1},
		{model->useful_fraction, &work->useful_ratio, 1},
		{model->steps_mean, &work->steps_mean, 1},
		{model->stages, &work->stages, 1},
		{model->epilogue_overlap, &work->epilogue_overlap_ratio, 0},
		{model->dram_read_bytes, &work->dram_read_bytes, 0},
		{model->dram_write_bytes, &work->dram_write_bytes, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
		enum status status;

		*numbers[i].result = numbers[i].otherwise;
		status = evaluate_amount(numbers[i].expression, values, numbers[i].result, err);
		if (status != STATUS_OK)
			return status;
	}
	work->steps_max = work->steps_mean;
	return evaluate_amount(model->steps_max, values, &work->steps_max, err);
}

enum status model_evaluate(const struct model *model, struct value *values, size_t lane_slot,
	const struct plan_buffer *tensors, struct access_memo *memos, struct launch_work *work,
	struct error *err)
{
	enum status status = evaluate_numbers(model, values, work, err);

	if (status == STATUS_OK)
		status = evaluate_schedule(model, values, &work->schedule, err);
	work->dtype = model->dtype;
	if (status == STATUS_OK && model->dtype_text)
		status = dtype_evaluate(model->dtype_text, values, &work->dtype, err);
	if (status == STATUS_OK)
		status = evaluate_pipes(&model->per_step, values, work->per_step, err);
	if (status == STATUS_OK)
		status = evaluate_pipes(&model->prologue, values, work->prologue, err);
	if (status == STATUS_OK)
		status = evaluate_pipes(&model->epilogue, values, work->epilogue, err);
	if (status == STATUS_OK)
		status = evaluate_accesses(model, values, lane_slot, memos, work, err);
	if (status == STATUS_OK)
		status = evaluate_tiles(model, values, tensors, work, err);
	return status;
}
