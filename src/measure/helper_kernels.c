/* SPDX-License-Identifier: MIT
 *
 * The kernels are correct with any grid; grids here fill the GPU. Arguments have the order and
 * types that helpers.cu declares.
 */
#include "measure/helper_kernels.h"

static bool launch_blocks(struct gpu_session *gpu, CUfunction function, uint32_t blocks,
	uint32_t block_size, void **values, const char *what)
{
	const struct launch_shape shape = {.grid = {blocks, 1, 1},
		.block = {block_size, 1, 1},
		.cluster = {1, 1, 1},
		.repeat = 1};
	const CUlaunchConfig config = gpu_launch_config(gpu, &shape, NULL);

	return GPU_CALL(gpu, what, cuLaunchKernelEx, &config, function, values, NULL);
}

static bool launch(struct gpu_session *gpu, CUfunction function, uint64_t work, void **values,
	const char *what)
{
	uint64_t blocks = (work + HELPER_BLOCK - 1) / HELPER_BLOCK;
	uint64_t most = (uint64_t)gpu->gpu.facts.sm_count * 16;

	return work == 0 || launch_blocks(gpu, function, (uint32_t)(blocks < most ? blocks : most),
				    HELPER_BLOCK, values, what);
}

bool helper_fill(
	struct gpu_session *gpu, CUdeviceptr data, const struct plan_buffer *tensor, uint64_t seed)
{
	int32_t dtype = (int32_t)tensor->dtype;
	int64_t rows = (int64_t)tensor->rows, columns = (int64_t)tensor->columns;
	int64_t ld = (int64_t)tensor->ld;
	int32_t contents = (int32_t)tensor->contents;
	double low = tensor->fill_low, high = tensor->fill_high;
	uint32_t pitch = helper_output_poison[tensor->dtype];
	void *values[] = {
		&data, &dtype, &rows, &columns, &ld, &contents, &low, &high, &seed, &pitch};

	int64_t total = (int64_t)tensor->fill_low;
	int32_t sizes = tensor->contents == CONTENTS_COUNTS;
	void *offsets[] = {&data, &columns, &total, &high, &seed, &sizes};
	const bool is_offsets = contents_are_groups(tensor->contents);

	return launch(gpu, is_offsets ? gpu->helpers.offsets : gpu->helpers.fill,
		tensor->bytes ? tensor->rows * tensor->ld : 0, is_offsets ? offsets : values,
		"filling an input");
}

bool helper_poison_pieces(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, uint64_t stride, uint64_t count)
{
	void *values[] = {&data, &bytes, &pattern, &stride, &count};

	return launch(gpu, gpu->helpers.poison, (bytes / 4 + (bytes > 0)) * count, values,
		"poisoning a buffer");
}

bool helper_poison(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern)
{
	return helper_poison_pieces(gpu, data, bytes, pattern, 0, 1);
}

static CUdeviceptr counter_address(const struct gpu_session *gpu, size_t counter)
{
	if (counter >= SCRATCH_COUNTERS)
		BUG("counter %zu of %d", counter, (int)SCRATCH_COUNTERS);
	return gpu->scratch + SCRATCH_COUNTERS_OFFSET + 8 * counter;
}

bool helper_count_written(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, uint64_t stride, uint64_t count, size_t counter)
{
	CUdeviceptr bad_count = counter_address(gpu, counter);
	void *values[] = {&data, &bytes, &pattern, &stride, &count, &bad_count};

	return launch(gpu, gpu->helpers.guard_check, (bytes / 4 + (bytes > 0)) * count, values,
		"checking guard bytes");
}

bool helper_checksum(struct gpu_session *gpu, CUdeviceptr data, uint64_t rows, uint64_t row_bytes,
	uint64_t pitch_bytes, size_t counter)
{
	CUdeviceptr sum = counter_address(gpu, counter);
	int64_t signed_rows = (int64_t)rows, signed_row_bytes = (int64_t)row_bytes;
	int64_t signed_pitch_bytes = (int64_t)pitch_bytes;
	void *values[] = {&data, &signed_rows, &signed_row_bytes, &signed_pitch_bytes, &sum};

	return launch(gpu, gpu->helpers.checksum, rows * ((row_bytes + 7) / 8), values,
		"computing a checksum");
}

bool helper_compare(
	struct gpu_session *gpu, CUdeviceptr out, const struct expected *expected, size_t index)
{
	const struct plan_buffer *tensor = expected->tensor;
	double tolerance_rel = expected->output->tolerance_rel,
	       tolerance_abs = expected->output->tolerance_abs *
			       (expected->output->abs_scales ? expected->scale : 1);
	CUdeviceptr result = gpu->scratch + SCRATCH_RESULTS_OFFSET +
			     index * sizeof(struct helper_compare_result);
	int32_t dtype = (int32_t)tensor->dtype;
	int64_t row_length = (int64_t)tensor->columns, ld = (int64_t)tensor->ld;
	int64_t expected_ld = (int64_t)expected->ld;
	int32_t count = (int32_t)expected->unit_count, size = (int32_t)expected->unit_size;
	CUdeviceptr units = expected->units, values_at = expected->values;
	uint32_t poison = helper_output_poison[tensor->dtype];
	void *begin[1] = {&result};
	void *values[] = {&out, &dtype, &row_length, &ld, &units, &count, &size, &values_at,
		&expected_ld, &tolerance_abs, &tolerance_rel, &poison, &result};

	return launch_blocks(
		       gpu, gpu->helpers.compare_begin, 1, 1, begin, "comparing the output") &&
	       launch(gpu, gpu->helpers.compare, expected->unit_count * expected->unit_size, values,
		       "comparing the output");
}

bool helper_magnitudes(struct gpu_session *gpu, const struct expected *expected)
{
	const struct plan_buffer *tensor = expected->tensor;
	CUdeviceptr values_at = expected->values, units = expected->units;
	CUdeviceptr counts = counter_address(gpu, 0);
	int32_t dtype = (int32_t)tensor->dtype;
	int64_t row_length = (int64_t)tensor->columns, ld = (int64_t)expected->ld;
	int32_t count = (int32_t)expected->unit_count, size = (int32_t)expected->unit_size;
	uint32_t poison = helper_output_poison[tensor->dtype];
	void *values[] = {
		&values_at, &dtype, &row_length, &ld, &units, &count, &size, &poison, &counts};

	return launch(gpu, gpu->helpers.magnitudes, expected->unit_count * expected->unit_size,
		values, "looking at expected values");
}

bool helper_cipher(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint64_t key)
{
	uint64_t words = bytes / 8;
	void *values[] = {&data, &words, &key};

	return launch(gpu, gpu->helpers.cipher, words, values, "enciphering expected values");
}

bool helper_copy(struct gpu_session *gpu, CUdeviceptr to, CUdeviceptr from, uint64_t bytes)
{
	return GPU_CALL(gpu, "copying a tensor", cuMemcpyDtoDAsync, to, from, bytes, gpu->stream);
}

bool helper_spacer(struct gpu_session *gpu)
{
	int32_t iterations = ANCHOR_ITERATIONS / 20;
	void *values[] = {&gpu->spacer, &iterations};

	return launch_blocks(gpu, gpu->helpers.anchor,
		(uint32_t)gpu->gpu.facts.sm_count * ANCHOR_BLOCKS_PER_SM, ANCHOR_BLOCK, values,
		"running a helper kernel");
}

bool scratch_clear(struct gpu_session *gpu)
{
	return GPU_CALL(gpu, "clearing counters", cuMemsetD8Async, gpu->scratch, 0, SCRATCH_BYTES,
		gpu->stream);
}

bool scratch_read(struct gpu_session *gpu, struct helper_compare_result *results,
	size_t result_count, uint64_t *counters, size_t counter_count)
{
	if (result_count && !GPU_CALL(gpu, "reading results", cuMemcpyDtoHAsync, results,
				    gpu->scratch + SCRATCH_RESULTS_OFFSET,
				    result_count * sizeof(*results), gpu->stream))
		return false;
	if (counter_count && !GPU_CALL(gpu, "reading counters", cuMemcpyDtoHAsync, counters,
				     gpu->scratch + SCRATCH_COUNTERS_OFFSET,
				     counter_count * sizeof(*counters), gpu->stream))
		return false;
	return gpu_synchronize(gpu, "running the kernel");
}

/* a value that kernels are unlikely to write */
static const uint32_t guard_pattern = 0x5ac396e1u;

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

uint64_t arena_size(const uint64_t *sizes, size_t count)
{
	uint64_t bytes = ARENA_GUARD_BYTES;

	for (size_t i = 0; i < count; i++)
		bytes += aligned(sizes[i]) + ARENA_GUARD_BYTES;
	return bytes;
}

bool arena_allocate(struct gpu_session *gpu, const uint64_t *sizes, size_t count, size_t set_count,
	struct arena *arena)
{
	const uint64_t set_bytes = arena_size(sizes, count) - ARENA_GUARD_BYTES;
	CUdeviceptr at;

	*arena = (struct arena){.bytes = set_bytes * set_count + ARENA_GUARD_BYTES,
		.set_count = set_count,
		.set_bytes = set_bytes,
		.count = count};
	if (!gpu_allocate(gpu, arena->bytes, &arena->base))
		return false;
	arena->buffers = memory_zeroed(count * set_count + 1, sizeof(*arena->buffers));
	arena->buffer_bytes = memory_copy(sizes, (count + 1) * sizeof(*sizes));
	at = arena->base + ARENA_GUARD_BYTES;
	for (size_t i = 0; i < count * set_count; i++) {
		arena->buffers[i] = sizes[i % count] ? at : 0;
		at += aligned(sizes[i % count]) + ARENA_GUARD_BYTES;
	}
	return helper_poison(gpu, arena->base, arena->bytes, guard_pattern);
}

void arena_release(struct gpu_session *gpu, struct arena *arena)
{
	gpu_release(gpu, arena->base, arena->bytes);
	free(arena->buffers);
	free(arena->buffer_bytes);
	*arena = (struct arena){0};
}

/* Fills or checks all guard zones. A zone may start within a word, so the pattern is rotated. */
static bool for_zones(
	struct gpu_session *gpu, const struct arena *arena, size_t counter, bool writes)
{
	/* `buffers` has no address for empty buffers */
	CUdeviceptr start = arena->base, end = start + ARENA_GUARD_BYTES;

	for (size_t i = 0; arena->base && i <= arena->count; i++) {
		const uint64_t sets = i ? arena->set_count : 1;
		const unsigned shift = (unsigned)((start - arena->base) & 3) * 8;
		const uint32_t pattern = shift ? guard_pattern >> shift | guard_pattern
										  << (32 - shift)
					       : guard_pattern;

		if (!(writes ? helper_poison_pieces(
				       gpu, start, end - start, pattern, arena->set_bytes, sets)
			     : helper_count_written(gpu, start, end - start, pattern,
				       arena->set_bytes, sets, counter + i)))
			return false;
		start = end + (i < arena->count ? arena->buffer_bytes[i] : 0);
		end += (i < arena->count ? aligned(arena->buffer_bytes[i]) : 0) + ARENA_GUARD_BYTES;
	}
	return true;
}

bool arena_check(struct gpu_session *gpu, const struct arena *arena, size_t counter)
{
	return for_zones(gpu, arena, counter, false);
}

bool arena_repair(struct gpu_session *gpu, const struct arena *arena)
{
	return for_zones(gpu, arena, 0, true);
}
