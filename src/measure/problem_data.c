/* SPDX-License-Identifier: MIT */
#include "measure/problem_data.h"

#include "base/random.h"
#include "candidate/array_file.h"
#include "measure/expected.h"

/* the set number that seeds the second inputs */
static const uint64_t second_inputs = 1 << 20;

struct points {
	int64_t *units;
	size_t count, capacity;
	struct random_state random;
};

static void point_add(struct points *points, uint64_t unit)
{
	ARRAY_GROW(points->units, points->count, points->capacity);
	points->units[points->count++] = (int64_t)unit;
}

static size_t add_all(uint64_t count, int64_t **units)
{
	*units = memory_zeroed((size_t)count, sizeof(**units));
	for (uint64_t i = 0; i < count; i++)
		(*units)[i] = (int64_t)i;
	return (size_t)count;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* Picks a random number from one of `strata` equal parts of 0..count-1; the first part gives 0, the
 * last count-1. */
static uint64_t stratum_pick(
	struct points *points, uint64_t count, uint64_t strata, uint64_t stratum)
{
	/* no overflow, because count < 2^62 and strata <= 2^22 */
	uint64_t low = count / strata * stratum + count % strata * stratum / strata;
	uint64_t high = count / strata * (stratum + 1) + count % strata * (stratum + 1) / strata;

	if (stratum == 0)
		return 0;
	if (stratum == strata - 1)
		return count - 1;
	return low + random_below(&points->random, high - low);
}

/* Adds up to `budget` points of a row or column with `count` elements. */
static void add_line(
	struct points *points, uint64_t first, uint64_t stride, uint64_t count, uint64_t budget)
{
	uint64_t strata = count < budget ? count : budget;

	for (uint64_t i = 0; i < strata; i++)
		point_add(points, first + stride * stratum_pick(points, count, strata, i));
}

static uint64_t line_pick(struct points *points, uint64_t count, unsigned index)
{
	if (index == 0)
		return 0;
	if (index == 1)
		return count - 1;
	return random_below(&points->random, count);
}

static void add_patches(struct points *points, uint64_t rows, uint64_t columns)
{
	uint64_t height = POINTS_PATCH, width = POINTS_PATCH;

	while (ceil_div(rows, height) * ceil_div(columns, width) * POINTS_PER_PATCH >
		POINTS_FULL_MAX) {
		height *= 2;
		width *= 2;
	}
	for (uint64_t top = 0; top < rows; top += height)
		for (uint64_t left = 0; left < columns; left += width) {
			uint64_t tall = rows - top < height ? rows - top : height;
			uint64_t wide = columns - left < width ? columns - left : width;

			for (unsigned i = 0; i < POINTS_PER_PATCH; i++) {
				const uint64_t column = left + random_below(&points->random, wide);
				const uint64_t row = top + random_below(&points->random, tall);

				point_add(points, row * columns + column);
			}
		}
}

size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units)
{
	const uint64_t budget = POINTS_FULL_MAX / (2 * POINTS_LINES);
	struct points points = {0};

	if (rows <= POINTS_FULL_MAX && columns <= POINTS_FULL_MAX &&
		rows * columns <= POINTS_FULL_MAX)
		return add_all(rows * columns, units);
	random_seed(&points.random, seed);
	for (unsigned i = 0; i < POINTS_LINES; i++) {
		add_line(&points, line_pick(&points, rows, i) * columns, 1, columns, budget);
		add_line(&points, line_pick(&points, columns, i), columns, rows, budget);
	}
	add_patches(&points, rows, columns);
	*units = points.units;
	return points.count;
}

size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units)
{
	struct points points = {0};
	uint64_t most = POINTS_FULL_MAX / columns;

	if (most < 1)
		most = 1;
	if (rows <= most)
		return add_all(rows, units);
	random_seed(&points.random, seed);
	/* add both ends, where tiles may be partial */
	for (uint64_t i = 0; most >= 4 * POINTS_PATCH && i < POINTS_PATCH; i++) {
		point_add(&points, i);
		point_add(&points, rows - 1 - i);
		most -= 2;
	}
	for (uint64_t i = 0; i < most; i++)
		point_add(&points, stratum_pick(&points, rows, most, i));
	*units = points.units;
	return points.count;
}

size_t problem_set_count(uint64_t set_bytes, uint64_t l2_bytes, uint64_t memory_bytes)
{
	size_t sets = 2;

	/* workspaces and other problems need the rest */
	while (sets < PROBLEM_SETS_MAX && sets * set_bytes < 2 * l2_bytes)
		sets *= 2;
	while (sets > 1 && sets * set_bytes > memory_bytes / 4)
		sets /= 2;
	return sets;
}

/* Adds sets, because each run of a sample overwrites one. */
static size_t problem_set_count_in_place(size_t sets, uint64_t set_bytes, uint64_t memory_bytes)
{
	while (sets < SETS_IN_PLACE && 2 * sets * set_bytes <= memory_bytes / 4)
		sets *= 2;
	return sets;
}

size_t problem_data_group_size_variants(const struct problem_data *problem)
{
	const struct reference_plan *reference = problem->reference;

	for (size_t i = 0; i < reference->tensor_count; i++) {
		const struct plan_buffer *tensor = &reference->tensors[i];

		if (contents_are_groups(tensor->contents) && tensor->bytes && tensor->fill_high > 0)
			return problem->set_count;
	}
	return 1;
}

CUdeviceptr problem_tensor(const struct problem_data *problem, size_t set, size_t tensor)
{
	return problem->arena.buffers[set * problem->reference->tensor_count + tensor];
}

const struct plan_buffer *problem_output(const struct problem_data *problem, size_t output)
{
	return &problem->reference->tensors[problem->reference->outputs[output].tensor];
}

CUdeviceptr problem_output_of(const struct problem_data *problem, size_t set, size_t output)
{
	return problem_tensor(problem, set, problem->reference->outputs[output].tensor);
}

bool problem_data_restores_inputs(const struct problem_data *problem)
{
	for (size_t i = 0; i < problem->reference->tensor_count; i++)
		if (problem->reference->tensors[i].role == BUFFER_INOUT)
			return true;
	return false;
}

/* Group sizes determine the run time, so fresh inputs keep them, and second inputs have those of
 * set 0. */
static uint64_t contents_seed(const struct gpu_session *gpu, const struct problem_data *problem,
	size_t set, size_t tensor)
{
	const bool is_second = set == problem->second_set;
	const bool is_group = contents_are_groups(problem->reference->tensors[tensor].contents);
	const bool is_fresh = (is_second || problem->generation) && !is_group;
	const uint64_t of = is_second ? (is_group ? 0 : second_inputs) : set;
	const uint64_t key[4] = {is_fresh ? problem->fresh_seed : gpu->options.seed, of, tensor,
		is_fresh && !is_second ? problem->generation : 0};

	return hash_bytes(key, is_fresh && !is_second ? 32 : 24, 0);
}

static bool fill_random(struct gpu_session *gpu, const struct problem_data *problem, size_t set,
	size_t tensor, CUdeviceptr data)
{
	return helper_fill(gpu, data, &problem->reference->tensors[tensor],
		contents_seed(gpu, problem, set, tensor));
}

static bool is_written_by_host(const struct problem_data *problem, size_t tensor)
{
	const enum buffer_contents contents = problem->reference->tensors[tensor].contents;

	return contents == CONTENTS_EXPRESSION || contents == CONTENTS_FILE;
}

static bool copy_original(struct gpu_session *gpu, const struct problem_data *problem,
	size_t tensor, CUdeviceptr data)
{
	return helper_copy(
		gpu, data, problem->originals[tensor], problem->reference->tensors[tensor].bytes);
}

static bool restore_tensor(
	struct gpu_session *gpu, const struct problem_data *problem, size_t set, size_t tensor)
{
	const bool is_first = set != problem->second_set && !problem->generation;
	const CUdeviceptr data = problem_tensor(problem, set, tensor);

	return is_first || is_written_by_host(problem, tensor)
		       ? copy_original(gpu, problem, tensor, data)
		       : fill_random(gpu, problem, set, tensor, data);
}

bool problem_data_restore_inputs(
	struct gpu_session *gpu, const struct problem_data *problem, size_t set)
{
	for (size_t i = 0; i < problem->reference->tensor_count; i++)
		if (problem->reference->tensors[i].role == BUFFER_INOUT && problem->originals[i] &&
			!restore_tensor(gpu, problem, set, i))
			return false;
	return true;
}

bool problem_data_poison(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first, size_t count)
{
	for (size_t i = 0; i < problem->reference->output_count; i++) {
		const struct plan_buffer *tensor = problem_output(problem, i);

		if (tensor->role == BUFFER_OUTPUT &&
			!helper_poison_pieces(gpu, problem_output_of(problem, first, i),
				tensor->bytes, helper_output_poison[tensor->dtype],
				problem->arena.set_bytes, count))
			return false;
	}
	return true;
}

static bool fill(struct gpu_session *gpu, const struct problem_data *problem, size_t set,
	size_t tensor, CUdeviceptr data)
{
	return is_written_by_host(problem, tensor) ? copy_original(gpu, problem, tensor, data)
						   : fill_random(gpu, problem, set, tensor, data);
}

/* Returns whether the operation accepts any numbers in this tensor. */
static bool is_free(const struct plan_buffer *tensor)
{
	return tensor->role == BUFFER_INPUT && tensor->bytes && dtype_is_float(tensor->dtype) &&
	       ((tensor->contents == CONTENTS_UNIFORM &&
			tensor->fill_low + tensor->fill_high == 0) ||
		       (tensor->contents == CONTENTS_NORMAL && tensor->fill_low == 0));
}

static size_t probe_sets(const struct reference_plan *reference)
{
	size_t count = 0;

	for (size_t i = 0; i < reference->tensor_count; i++)
		count += is_free(&reference->tensors[i]);
	return count < 1 ? 1 : count < PROBE_SETS_MAX ? count : PROBE_SETS_MAX;
}

/* Magnitude of large elements; sums of their products keep some bits of small elements. */
static double large_of(enum dtype dtype)
{
	return dtype == DTYPE_FP64 ? 0x1p40 : dtype_size(dtype) > 1 ? 0x1p15 : 0x1p8;
}

static bool fill_probe(struct gpu_session *gpu, const struct problem_data *problem, size_t probe)
{
	const struct reference_plan *reference = problem->reference;
	const size_t set = problem->set_count + probe;
	size_t free_inputs = 0;

	for (size_t i = 0; i < reference->tensor_count; i++) {
		struct plan_buffer tensor = reference->tensors[i];
		const uint64_t key[3] = {probe, i, PROBE_MIXED};
		const CUdeviceptr data = problem_tensor(problem, set, i);
		int contents;

		if (tensor.role != BUFFER_INPUT)
			continue;
		if (!is_free(&tensor)) {
			if (!fill(gpu, problem, 0, i, data))
				return false;
			continue;
		}
		contents = free_inputs < probe    ? (int)CONTENTS_ONE
			   : free_inputs == probe ? (int)PROBE_MIXED
						  : (int)PROBE_SIGNS;
		free_inputs++;
		tensor.contents = (enum buffer_contents)contents;
		tensor.fill_low = large_of(tensor.dtype);
		if (!helper_fill(gpu, data, &tensor, hash_bytes(key, sizeof(key), 0)))
			return false;
	}
	return true;
}

static bool fill_set(struct gpu_session *gpu, const struct problem_data *problem, size_t set)
{
	for (size_t i = 0; i < problem->reference->tensor_count; i++)
		if (problem->reference->tensors[i].role == BUFFER_INPUT &&
			!fill(gpu, problem, set, i, problem_tensor(problem, set, i)))
			return false;
	return problem_data_restore_inputs(gpu, problem, set);
}

static bool contents_make(struct gpu_session *gpu, const struct problem_data *problem,
	size_t tensor, struct text *elements)
{
	const struct reference_plan *reference = problem->reference;
	const struct plan_contents *contents = reference->contents;
	struct error err = {0};
	enum status status;

	while (contents->tensor != tensor)
		contents++;
	status = contents->file ? array_file_read(contents->file, &reference->tensors[tensor],
					  elements, &err)
				: array_compute(contents->expression, &reference->keys,
					  &reference->tensors[tensor], elements, &err);
	return status == STATUS_OK || gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "%s", err.message);
}

/* Uploads the contents, with poison between rows, which no kernel may read. */
static bool contents_upload(
	struct gpu_session *gpu, const struct problem_data *problem, size_t tensor)
{
	static const char uploading[] = "uploading a tensor";
	const struct plan_buffer *buffer = &problem->reference->tensors[tensor];
	const size_t pitch = buffer->ld * dtype_size(buffer->dtype);
	const bool is_dense = buffer->ld == buffer->columns;
	const uint64_t rows = is_dense ? 1 : buffer->rows;
	const size_t row_bytes =
		is_dense ? buffer->bytes : buffer->columns * dtype_size(buffer->dtype);
	CLEANUP(text_release) struct text elements = {0};
	CUdeviceptr to = problem->originals[tensor];

	if (!contents_make(gpu, problem, tensor, &elements) ||
		!helper_poison(gpu, to, buffer->bytes, helper_output_poison[buffer->dtype]))
		return false;
	for (uint64_t row = 0; row < rows; row++)
		if (!GPU_CALL(gpu, uploading, cuMemcpyHtoDAsync, to + row * pitch,
			    elements.data + row * row_bytes, row_bytes, gpu->stream))
			return false;
	return gpu_synchronize(gpu, uploading);
}

static bool fill_originals(struct gpu_session *gpu, struct problem_data *problem)
{
	const size_t count = problem->reference->tensor_count;

	problem->originals = memory_zeroed(count + 1, sizeof(*problem->originals));
	for (size_t i = 0; i < count; i++) {
		const struct plan_buffer *tensor = &problem->reference->tensors[i];

		const bool written = is_written_by_host(problem, i);

		if (!tensor->bytes || (tensor->role != BUFFER_INOUT && !written))
			continue;
		if (!gpu_allocate(gpu, tensor->bytes, &problem->originals[i]) ||
			!(written ? contents_upload(gpu, problem, i)
				  : fill(gpu, problem, 0, i, problem->originals[i])))
			return false;
	}
	return true;
}

bool problem_data_checksum(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first_counter)
{
	for (size_t i = 0; i < problem->reference->tensor_count; i++)
		if (problem->reference->tensors[i].role == BUFFER_INPUT &&
			!helper_checksum(gpu, problem_tensor(problem, 0, i),
				problem->arena.set_count, problem->reference->tensors[i].bytes,
				problem->arena.set_bytes, first_counter + i))
			return false;
	return true;
}

static bool checksum_inputs(struct gpu_session *gpu, struct problem_data *problem)
{
	const size_t count = problem->reference->tensor_count;

	problem->input_checksums = memory_zeroed(count + 1, sizeof(*problem->input_checksums));
	return scratch_clear(gpu) && problem_data_checksum(gpu, problem, 0) &&
	       scratch_read(gpu, NULL, 0, problem->input_checksums, count);
}

bool problem_data_fill_second(struct gpu_session *gpu, struct problem_data *problem, size_t set)
{
	problem->second_set = set;
	return fill_set(gpu, problem, set);
}

bool problem_data_fill_fresh(struct gpu_session *gpu, struct problem_data *problem, size_t second)
{
	problem->second_set = second;
	problem->generation++;
	for (size_t set = 0; set < problem->set_count; set++)
		if (!fill_set(gpu, problem, set))
			return false;
	return true;
}

bool problem_data_fill_first(struct gpu_session *gpu, struct problem_data *problem)
{
	const size_t second = problem->second_set, sets = problem->set_count;
	const bool all = problem->generation;

	problem->second_set = (size_t)NO_SET;
	problem->generation = 0;
	for (size_t set = 0; set < sets; set++)
		if ((all || set == second) && !fill_set(gpu, problem, set))
			return false;
	return true;
}

static bool fill_sets(struct gpu_session *gpu, const struct problem_data *problem)
{
	bool done = true;

	for (size_t set = 0; done && set < problem->set_count; set++)
		done = fill_set(gpu, problem, set);
	for (size_t probe = 0; done && probe < problem->probe_count; probe++)
		done = fill_probe(gpu, problem, probe);
	return done;
}

bool problem_data_prepare(struct gpu_session *gpu, struct problem_data *problem)
{
	size_t count = problem->reference->tensor_count;
	CLEANUP(memory_free) uint64_t *sizes = NULL;
	uint64_t set_bytes = 0;
	bool done;

	if (problem->arena.base)
		return true;
	sizes = memory_zeroed(count + 1, sizeof(*sizes));
	for (size_t i = 0; i < count; i++) {
		sizes[i] = problem->reference->tensors[i].bytes;
		set_bytes += sizes[i];
	}
	problem->set_count = gpu->options.l2_warm ? 1
						  : problem_set_count(set_bytes,
							    (uint64_t)gpu->gpu.facts.l2_bytes,
							    gpu->memory_limit_bytes);
	if (problem_data_restores_inputs(problem) && !gpu->options.l2_warm)
		problem->set_count = problem_set_count_in_place(
			problem->set_count, set_bytes, gpu->memory_limit_bytes);
	problem->probe_count = probe_sets(problem->reference);
	if (problem->probe_count * set_bytes > gpu->memory_limit_bytes / 4)
		problem->probe_count = 0;
	problem->second_set = (size_t)NO_SET;
	problem->generation = 0;
	problem->is_warm = problem->set_count * set_bytes < 2 * (uint64_t)gpu->gpu.facts.l2_bytes;
	done = arena_allocate(gpu, sizes, count, problem->set_count + problem->probe_count,
		       &problem->arena) &&
	       fill_originals(gpu, problem) && fill_sets(gpu, problem) &&
	       checksum_inputs(gpu, problem);
	if (!done)
		problem_data_evict(gpu, problem);
	return done;
}

bool problem_data_restore(struct gpu_session *gpu, struct problem_data *problem)
{
	if (!problem->touched)
		return true;
	problem->touched = false;
	problem->second_set = (size_t)NO_SET;
	problem->generation = 0;
	return arena_repair(gpu, &problem->arena) && fill_sets(gpu, problem);
}

void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem)
{
	for (size_t i = 0; problem->originals && i < problem->reference->tensor_count; i++)
		gpu_release(gpu, problem->originals[i], problem->reference->tensors[i].bytes);
	free(problem->originals);
	problem->originals = NULL;
	arena_release(gpu, &problem->arena);
	free(problem->input_checksums);
	problem->input_checksums = NULL;
	expected_release(gpu, problem);
}

void problem_data_release(struct gpu_session *gpu, struct problem_data *problem)
{
	problem_data_evict(gpu, problem);
	record_release(&device_problem_record, &problem->description);
	*problem = (struct problem_data){0};
}
