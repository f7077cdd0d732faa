/* SPDX-License-Identifier: MIT */
#include "measure/problem_data.h"

#include <math.h>

#include "base/clock.h"
#include "base/random.h"
#include "measure/candidate_kernels.h"

/* ---- which units are compared ---- */
struct points {
	int64_t *units;
	size_t count, capacity;
	uint64_t columns;
	struct random_state random;
};

static void point_add(struct points *points, uint64_t row, uint64_t column)
{
	ARRAY_GROW(points->units, points->count, points->capacity);
	points->units[points->count++] = (int64_t)(row * points->columns + column);
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

/* One number of each of `strata` equal parts of 0..count-1, the first and the last included. */
static uint64_t stratum_pick(
	struct points *points, uint64_t count, uint64_t strata, uint64_t stratum)
{
	/* count < 2^62 and strata <= 2^22: split so that the product cannot overflow */
	uint64_t low = count / strata * stratum + count % strata * stratum / strata;
	uint64_t high = count / strata * (stratum + 1) + count % strata * (stratum + 1) / strata;

	if (stratum == 0)
		return 0;
	if (stratum == strata - 1)
		return count - 1;
	return low + random_below(&points->random, high - low);
}

static void add_row(struct points *points, uint64_t row, uint64_t budget)
{
	uint64_t strata = points->columns < budget ? points->columns : budget;

	for (uint64_t i = 0; i < strata; i++)
		point_add(points, row, stratum_pick(points, points->columns, strata, i));
}

static void add_column(struct points *points, uint64_t rows, uint64_t column, uint64_t budget)
{
	uint64_t strata = rows < budget ? rows : budget;

	for (uint64_t i = 0; i < strata; i++)
		point_add(points, stratum_pick(points, rows, strata, i), column);
}

/* First, last, and others at random. */
static uint64_t line_pick(struct points *points, uint64_t count, unsigned index)
{
	if (index == 0)
		return 0;
	if (index == 1)
		return count - 1;
	return random_below(&points->random, count);
}

static void add_patches(struct points *points, uint64_t rows)
{
	uint64_t height = POINTS_PATCH, width = POINTS_PATCH;

	/* Patches grow where 16x16 ones would be too many. */
	while (ceil_div(rows, height) * ceil_div(points->columns, width) * POINTS_PER_PATCH >
		POINTS_FULL_MAX) {
		height *= 2;
		width *= 2;
	}
	for (uint64_t top = 0; top < rows; top += height)
		for (uint64_t left = 0; left < points->columns; left += width) {
			uint64_t tall = rows - top < height ? rows - top : height;
			uint64_t wide =
				points->columns - left < width ? points->columns - left : width;

			for (unsigned i = 0; i < POINTS_PER_PATCH; i++)
				point_add(points, top + random_below(&points->random, tall),
					left + random_below(&points->random, wide));
		}
}

size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units)
{
	const uint64_t budget = POINTS_FULL_MAX / (2 * POINTS_LINES);
	struct points points = {.columns = columns};

	if (rows <= POINTS_FULL_MAX && columns <= POINTS_FULL_MAX &&
		rows * columns <= POINTS_FULL_MAX)
		return add_all(rows * columns, units);
	random_seed(&points.random, seed);
	for (unsigned i = 0; i < POINTS_LINES; i++) {
		add_row(&points, line_pick(&points, rows, i), budget);
		add_column(&points, rows, line_pick(&points, columns, i), budget);
	}
	add_patches(&points, rows);
	*units = points.units;
	return points.count;
}

size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units)
{
	struct points points = {.columns = 1};
	uint64_t most = POINTS_FULL_MAX / columns;

	if (most < 1)
		most = 1;
	if (rows <= most)
		return add_all(rows, units);
	random_seed(&points.random, seed);
	/* Rows at both ends, where remainders of tiles lie. */
	for (uint64_t i = 0; most >= 4 * POINTS_PATCH && i < POINTS_PATCH; i++) {
		point_add(&points, i, 0);
		point_add(&points, rows - 1 - i, 0);
		most -= 2;
	}
	for (uint64_t i = 0; i < most; i++)
		point_add(&points, stratum_pick(&points, rows, most, i), 0);
	*units = points.units;
	return points.count;
}

/* ---- tensors ---- */
size_t problem_set_count(uint64_t set_bytes, uint64_t l2_bytes, uint64_t memory_bytes)
{
	size_t sets = 2;

	/* A quarter of the memory for any one problem: workspaces and other problems want some. */
	while (sets < PROBLEM_SETS_MAX && sets * set_bytes < 2 * l2_bytes)
		sets *= 2;
	while (sets > 1 && sets * set_bytes > memory_bytes / 4)
		sets /= 2;
	return sets;
}

CUdeviceptr problem_tensor(const struct problem_data *problem, size_t set, size_t tensor)
{
	return problem->arena.buffers[set * problem->told.reference.tensor_count + tensor];
}

static bool fill_set(struct gpu_session *gpu, const struct problem_data *problem, size_t set)
{
	for (size_t i = 0; i < problem->told.reference.tensor_count; i++) {
		const struct plan_buffer *tensor = &problem->told.reference.tensors[i];
		uint64_t key[3] = {gpu->options.seed, set, i};
		uint64_t seed = hash_bytes(key, sizeof(key), 0);

		if (tensor->role == BUFFER_INPUT &&
			!helper_fill(gpu, problem_tensor(problem, set, i), tensor, seed))
			return false;
	}
	return true;
}

static bool checksum_inputs(struct gpu_session *gpu, struct problem_data *problem)
{
	size_t count = problem->told.reference.tensor_count;

	problem->input_checksums = memory_zeroed(count + 1, sizeof(*problem->input_checksums));
	if (!scratch_clear(gpu))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = problem->told.reference.tensors[i].bytes;

		if (problem->told.reference.tensors[i].role == BUFFER_INPUT &&
			!helper_checksum(gpu, problem_tensor(problem, 0, i), 1, bytes, bytes, i))
			return false;
	}
	return scratch_read(gpu, NULL, problem->input_checksums, count);
}

bool problem_data_prepare(struct gpu_session *gpu, struct problem_data *problem)
{
	size_t count = problem->told.reference.tensor_count;
	CLEANUP(memory_free) uint64_t *sizes = NULL;
	uint64_t set_bytes = 0;
	bool done;

	problem->last_use_s = clock_seconds();
	if (problem->arena.base)
		return true;
	if (count > SCRATCH_COUNTERS / 4)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "%zu tensors are too many", count);
	sizes = memory_zeroed(count + 1, sizeof(*sizes));
	for (size_t i = 0; i < count; i++) {
		sizes[i] = problem->told.reference.tensors[i].bytes;
		set_bytes += sizes[i];
	}
	problem->set_count = problem_set_count(
		set_bytes, (uint64_t)gpu->gpu.facts.l2_bytes, gpu->memory_limit_bytes);
	done = arena_allocate(gpu, sizes, count, problem->set_count, &problem->arena);
	for (size_t set = 0; done && set < problem->set_count; set++)
		done = fill_set(gpu, problem, set);
	done = done && checksum_inputs(gpu, problem);
	if (!done)
		problem_data_evict(gpu, problem);
	return done;
}

/* ---- the reference ---- */
static bool units_upload(struct gpu_session *gpu, struct problem_data *problem)
{
	static const char uploading[] = "uploading the points to compare";
	const struct reference_plan *reference = &problem->told.reference;
	const struct plan_buffer *output = &reference->tensors[reference->output];
	CLEANUP(memory_free) int64_t *units = NULL;

	problem->unit_size = reference->unit_is_row ? output->columns : 1;
	problem->unit_count =
		reference->unit_is_row
			? points_choose_rows(
				  output->rows, output->columns, gpu->options.seed, &units)
			: points_choose(output->rows, output->columns, gpu->options.seed, &units);
	return gpu_allocate(gpu, problem->unit_count * 8, &problem->units) &&
	       gpu_allocate(
		       gpu, problem->unit_count * problem->unit_size * 8, &problem->expected) &&
	       gpu_succeeded(gpu,
		       gpu->cuda.cuMemcpyHtoDAsync(
			       problem->units, units, problem->unit_count * 8, gpu->stream),
		       uploading) &&
	       /* NaN wherever the reference writes nothing */
	       gpu_succeeded(gpu,
		       gpu->cuda.cuMemsetD8Async(problem->expected, 0xff,
			       problem->unit_count * problem->unit_size * 8, gpu->stream),
		       "clearing the expected values") &&
	       gpu_synchronize(gpu, uploading);
}

static bool expected_check(struct gpu_session *gpu, struct problem_data *problem)
{
	const uint64_t count = problem->unit_count * problem->unit_size;
	CLEANUP(memory_free) double *expected = memory_zeroed((size_t)count, sizeof(*expected));
	uint64_t unset = 0;

	if (!gpu_succeeded(gpu,
		    gpu->cuda.cuMemcpyDtoHAsync(
			    expected, problem->expected, count * 8, gpu->stream),
		    "reading the expected values") ||
		!gpu_synchronize(gpu, "running the reference kernel"))
		return false;
	problem->max_expected = 0;
	for (uint64_t i = 0; i < count; i++) {
		unset += isnan(expected[i]) != 0;
		if (fabs(expected[i]) > problem->max_expected)
			problem->max_expected = fabs(expected[i]);
	}
	return !unset ||
	       gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
		       "the reference kernel: expected numbers, found NaN at %llu of %llu points",
		       (unsigned long long)unset, (unsigned long long)count);
}

static bool reference_run(struct gpu_session *gpu, struct problem_data *problem)
{
	struct reference_plan *reference = &problem->told.reference;
	struct kernel_library library = {0};
	struct kernel_arguments arguments = {
		.units = problem->units,
		.unit_count = problem->unit_count,
		.expected = problem->expected,
		.buffers = problem->arena.buffers, /* set 0 comes first */
	};
	bool done;

	reference->launch.grid[0] =
		(uint32_t)((problem->unit_count + reference->units_per_block - 1) /
			   reference->units_per_block);
	done = kernel_library_load(gpu, &problem->told.cubin, 1, &reference->launch, 1, &library) &&
	       kernel_launch(gpu, &library, &reference->launch, 0, &arguments) &&
	       expected_check(gpu, problem);
	if (done || !gpu->failure.fatal)
		kernel_library_unload(gpu, &library);
	return done;
}

static void expected_release(struct gpu_session *gpu, struct problem_data *problem)
{
	gpu_release(gpu, problem->units, problem->unit_count * 8);
	gpu_release(gpu, problem->expected, problem->unit_count * problem->unit_size * 8);
	problem->units = problem->expected = 0;
	problem->expected_ready = false;
}

bool problem_data_expect(struct gpu_session *gpu, struct problem_data *problem, uint32_t handle)
{
	if (problem->expected_ready)
		return true;
	if (problem->reference_failure.outcome != OUTCOME_OK) {
		gpu->failure = problem->reference_failure;
		return false;
	}
	gpu_progress_reference(gpu, handle);
	problem->expected_ready =
		problem->told.cubin.length
			? units_upload(gpu, problem) && reference_run(gpu, problem)
			: gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "the problem has no reference");
	if (problem->expected_ready)
		return true;
	if (!gpu->failure.fatal)
		expected_release(gpu, problem);
	/* without memory it may go better another time */
	if (gpu->failure.outcome != OUTCOME_OUT_OF_MEMORY &&
		gpu->failure.outcome != OUTCOME_DEVICE_LOST)
		problem->reference_failure = gpu->failure;
	return false;
}

bool problem_data_restore(struct gpu_session *gpu, struct problem_data *problem)
{
	if (!problem->touched)
		return true;
	problem->touched = false;
	return arena_repair(gpu, &problem->arena, problem->told.reference.tensor_count) &&
	       fill_set(gpu, problem, 0);
}

void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem)
{
	arena_release(gpu, &problem->arena);
	free(problem->input_checksums);
	problem->input_checksums = NULL;
	expected_release(gpu, problem);
}

void problem_data_release(struct gpu_session *gpu, struct problem_data *problem)
{
	problem_data_evict(gpu, problem);
	record_release(&measure_problem_record, &problem->told);
	*problem = (struct problem_data){0};
}
