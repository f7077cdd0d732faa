/* SPDX-License-Identifier: MIT
 *
 * Each strides over its work with the whole grid, so that any grid is right; enough blocks to fill
 * the GPU are fast.
 */
#include "measure/helper_kernels.h"

static bool launch(struct gpu_session *gpu, CUfunction function, uint64_t work, void **values,
	const char *what, struct failure *failure)
{
	uint64_t blocks = (work + HELPER_BLOCK - 1) / HELPER_BLOCK;
	uint64_t most = (uint64_t)gpu->gpu.facts.sm_count * 16;
	uint32_t grid[3] = {1, 1, 1}, block[3] = {HELPER_BLOCK, 1, 1};

	if (work == 0)
		return true;
	grid[0] = (uint32_t)(blocks < most ? blocks : most);
	return gpu_launch(gpu, function, grid, block, NULL, 0, values, what, failure);
}

bool helper_fill(struct gpu_session *gpu, CUdeviceptr data, const struct plan_buffer *tensor,
	uint64_t seed, struct failure *failure)
{
	int32_t dtype = (int32_t)tensor->dtype;
	int64_t rows = (int64_t)tensor->rows, columns = (int64_t)tensor->columns;
	int64_t ld = (int64_t)tensor->ld;
	float low = (float)tensor->fill_low, high = (float)tensor->fill_high;
	void *values[FILL_ARGUMENTS] = {
		[FILL_DATA] = &data,
		[FILL_DTYPE] = &dtype,
		[FILL_ROWS] = &rows,
		[FILL_COLUMNS] = &columns,
		[FILL_LD] = &ld,
		[FILL_LOW] = &low,
		[FILL_HIGH] = &high,
		[FILL_SEED] = &seed,
	};
	void *permutation[PERMUTATION_ARGUMENTS] = {
		[PERMUTATION_DATA] = &data,
		[PERMUTATION_ROWS] = &rows,
		[PERMUTATION_COLUMNS] = &columns,
		[PERMUTATION_LD] = &ld,
		[PERMUTATION_SEED] = &seed,
	};
	const bool permutes = tensor->contents == CONTENTS_PERMUTATION;

	return launch(gpu, permutes ? gpu->helpers.permutation : gpu->helpers.fill,
		tensor->bytes ? tensor->rows * tensor->ld : 0, permutes ? permutation : values,
		"filling an input", failure);
}

bool helper_poison(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern,
	struct failure *failure)
{
	void *values[POISON_ARGUMENTS] = {
		[POISON_DATA] = &data,
		[POISON_BYTES] = &bytes,
		[POISON_PATTERN] = &pattern,
	};

	return launch(gpu, gpu->helpers.poison, bytes / 4 + (bytes > 0), values,
		"poisoning a buffer", failure);
}

static CUdeviceptr counter_address(const struct gpu_session *gpu, size_t counter)
{
	if (counter >= SCRATCH_COUNTERS)
		BUG("counter %zu of %d", counter, (int)SCRATCH_COUNTERS);
	return gpu->scratch + SCRATCH_COUNTERS_OFFSET + 8 * counter;
}

bool helper_guard_check(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern,
	size_t counter, struct failure *failure)
{
	CUdeviceptr bad_count = counter_address(gpu, counter);
	void *values[GUARD_ARGUMENTS] = {
		[GUARD_DATA] = &data,
		[GUARD_BYTES] = &bytes,
		[GUARD_PATTERN] = &pattern,
		[GUARD_BAD_COUNT] = &bad_count,
	};

	return launch(gpu, gpu->helpers.guard_check, bytes / 4 + (bytes > 0), values,
		"checking guard bytes", failure);
}

bool helper_checksum(struct gpu_session *gpu, CUdeviceptr data, uint64_t rows, uint64_t row_bytes,
	uint64_t pitch_bytes, size_t counter, struct failure *failure)
{
	CUdeviceptr sum = counter_address(gpu, counter);
	int64_t signed_rows = (int64_t)rows, signed_row_bytes = (int64_t)row_bytes;
	int64_t signed_pitch_bytes = (int64_t)pitch_bytes;
	void *values[CHECKSUM_ARGUMENTS] = {
		[CHECKSUM_DATA] = &data,
		[CHECKSUM_ROWS] = &signed_rows,
		[CHECKSUM_ROW_BYTES] = &signed_row_bytes,
		[CHECKSUM_PITCH_BYTES] = &signed_pitch_bytes,
		[CHECKSUM_SUM] = &sum,
	};

	return launch(gpu, gpu->helpers.checksum, rows * ((row_bytes + 7) / 8), values,
		"computing a checksum", failure);
}

bool helper_compare(struct gpu_session *gpu, CUdeviceptr out, const struct plan_buffer *tensor,
	CUdeviceptr units, uint64_t unit_count, uint64_t unit_size, CUdeviceptr expected,
	double tolerance_abs, double tolerance_rel, struct failure *failure)
{
	const uint32_t one[3] = {1, 1, 1};
	CUdeviceptr result = gpu->scratch + SCRATCH_RESULT_OFFSET;
	int32_t dtype = (int32_t)tensor->dtype;
	int64_t row_length = (int64_t)tensor->columns, ld = (int64_t)tensor->ld;
	int32_t count = (int32_t)unit_count, size = (int32_t)unit_size;
	void *begin[1] = {&result};
	void *values[COMPARE_ARGUMENTS] = {
		[COMPARE_OUT] = &out,
		[COMPARE_DTYPE] = &dtype,
		[COMPARE_ROW_LENGTH] = &row_length,
		[COMPARE_LD] = &ld,
		[COMPARE_UNITS] = &units,
		[COMPARE_UNIT_COUNT] = &count,
		[COMPARE_UNIT_SIZE] = &size,
		[COMPARE_EXPECTED] = &expected,
		[COMPARE_ABS] = &tolerance_abs,
		[COMPARE_REL] = &tolerance_rel,
		[COMPARE_RESULT] = &result,
	};

	return gpu_launch(gpu, gpu->helpers.compare_begin, one, one, NULL, 0, begin,
		       "comparing the output", failure) &&
	       launch(gpu, gpu->helpers.compare, unit_count * unit_size, values,
		       "comparing the output", failure);
}

bool helper_spacer(struct gpu_session *gpu, struct failure *failure)
{
	uint32_t grid[3] = {(uint32_t)gpu->gpu.facts.sm_count * ANCHOR_BLOCKS_PER_SM, 1, 1};
	uint32_t block[3] = {ANCHOR_BLOCK, 1, 1};
	int32_t iterations = ANCHOR_ITERATIONS / 20;
	void *values[ANCHOR_ARGUMENTS] = {
		[ANCHOR_OUT] = &gpu->spacer,
		[ANCHOR_COUNT] = &iterations,
	};

	return gpu_launch(gpu, gpu->helpers.anchor, grid, block, NULL, 0, values,
		"running a helper kernel", failure);
}

bool scratch_clear(struct gpu_session *gpu, struct failure *failure)
{
	return gpu_succeeded(gpu,
		gpu->cuda.cuMemsetD8Async(gpu->scratch, 0, SCRATCH_BYTES, gpu->stream),
		"clearing counters", failure);
}

bool scratch_read(struct gpu_session *gpu, struct helper_compare_result *result, uint64_t *counters,
	size_t counter_count, struct failure *failure)
{
	if (result &&
		!gpu_succeeded(gpu,
			gpu->cuda.cuMemcpyDtoHAsync(result, gpu->scratch + SCRATCH_RESULT_OFFSET,
				sizeof(*result), gpu->stream),
			"reading results", failure))
		return false;
	if (counter_count && !gpu_succeeded(gpu,
				     gpu->cuda.cuMemcpyDtoHAsync(counters,
					     gpu->scratch + SCRATCH_COUNTERS_OFFSET,
					     counter_count * sizeof(*counters), gpu->stream),
				     "reading counters", failure))
		return false;
	return gpu_synchronize(gpu, "running the kernel", failure);
}
