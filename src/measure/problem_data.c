/* SPDX-License-Identifier: MIT */
#include "measure/problem_data.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "measure/candidate_kernels.h"
#include "measure/points.h"
#include "measure/helper_kernels.h"

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
	return problem->arena.buffers[set * problem->reference.tensor_count + tensor];
}

static bool fill_set(struct gpu_session *gpu, const struct problem_data *problem, size_t set,
	struct failure *failure)
{
	for (size_t i = 0; i < problem->reference.tensor_count; i++) {
		const struct plan_buffer *tensor = &problem->reference.tensors[i];
		uint64_t key[3] = {gpu->options.seed, set, i};
		uint64_t seed = hash_bytes(key, sizeof(key), 0);

		if (tensor->role == BUFFER_INPUT &&
			!helper_fill(gpu, problem_tensor(problem, set, i), tensor, seed, failure))
			return false;
	}
	return true;
}

static bool checksum_inputs(
	struct gpu_session *gpu, struct problem_data *problem, struct failure *failure)
{
	size_t count = problem->reference.tensor_count;

	problem->input_checksums = memory_zeroed(count + 1, sizeof(*problem->input_checksums));
	if (!scratch_clear(gpu, failure))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = problem->reference.tensors[i].bytes;

		if (problem->reference.tensors[i].role == BUFFER_INPUT &&
			!helper_checksum(
				gpu, problem_tensor(problem, 0, i), 1, bytes, bytes, i, failure))
			return false;
	}
	return scratch_read(gpu, NULL, problem->input_checksums, count, failure);
}

bool problem_data_prepare(
	struct gpu_session *gpu, struct problem_data *problem, struct failure *failure)
{
	size_t count = problem->reference.tensor_count;
	uint64_t *sizes, set_bytes = 0;
	bool done;

	problem->last_use_s = clock_seconds();
	if (problem->arena.base)
		return true;
	if (count > SCRATCH_COUNTERS / 4)
		return failure_set(
			failure, OUTCOME_LAUNCH_FAILED, "%zu tensors are too many", count);
	sizes = memory_zeroed(count + 1, sizeof(*sizes));
	for (size_t i = 0; i < count; i++) {
		sizes[i] = problem->reference.tensors[i].bytes;
		set_bytes += sizes[i];
	}
	problem->set_count = problem_set_count(
		set_bytes, (uint64_t)gpu->gpu.facts.l2_bytes, gpu->memory_limit_bytes);
	done = arena_allocate(gpu, sizes, count, problem->set_count, &problem->arena, failure);
	for (size_t set = 0; done && set < problem->set_count; set++)
		done = fill_set(gpu, problem, set, failure);
	if (done)
		done = checksum_inputs(gpu, problem, failure);
	free(sizes);
	if (!done) {
		struct failure inner = *failure;

		problem_data_evict(gpu, problem);
		*failure = inner;
	}
	return done;
}

/* ---- the reference ---- */
static bool units_upload(
	struct gpu_session *gpu, struct problem_data *problem, struct failure *failure)
{
	const struct reference_plan *reference = &problem->reference;
	const struct plan_buffer *output = &reference->tensors[reference->output];
	int64_t *units = NULL;
	bool done;

	problem->unit_size = reference->unit_is_row ? output->columns : 1;
	problem->unit_count =
		reference->unit_is_row
			? points_choose_rows(
				  output->rows, output->columns, gpu->options.seed, &units)
			: points_choose(output->rows, output->columns, gpu->options.seed, &units);
	done = gpu_allocate(gpu, problem->unit_count * 8, &problem->units, failure) &&
	       gpu_allocate(gpu, problem->unit_count * problem->unit_size * 8, &problem->expected,
		       failure) &&
	       gpu_succeeded(gpu,
		       gpu->cuda.cuMemcpyHtoDAsync(
			       problem->units, units, problem->unit_count * 8, gpu->stream),
		       "uploading the points to compare", failure) &&
	       /* NaN wherever the reference writes nothing */
	       gpu_succeeded(gpu,
		       gpu->cuda.cuMemsetD8Async(problem->expected, 0xff,
			       problem->unit_count * problem->unit_size * 8, gpu->stream),
		       "clearing the expected values", failure) &&
	       gpu_synchronize(gpu, "uploading the points to compare", failure);
	free(units);
	return done;
}

static bool expected_check(
	struct gpu_session *gpu, struct problem_data *problem, struct failure *failure)
{
	uint64_t count = problem->unit_count * problem->unit_size, unset = 0;
	double *expected = memory_zeroed((size_t)count, sizeof(*expected));
	bool done = gpu_succeeded(gpu,
			    gpu->cuda.cuMemcpyDtoHAsync(
				    expected, problem->expected, count * 8, gpu->stream),
			    "reading the expected values", failure) &&
		    gpu_synchronize(gpu, "running the reference kernel", failure);

	problem->max_expected = 0;
	for (uint64_t i = 0; done && i < count; i++) {
		unset += isnan(expected[i]) != 0;
		if (fabs(expected[i]) > problem->max_expected)
			problem->max_expected = fabs(expected[i]);
	}
	free(expected);
	if (done && unset)
		return failure_set(failure, OUTCOME_LAUNCH_FAILED,
			"the reference kernel: expected numbers, found NaN at %llu of %llu points",
			(unsigned long long)unset, (unsigned long long)count);
	return done;
}

static bool reference_run(
	struct gpu_session *gpu, struct problem_data *problem, struct failure *failure)
{
	struct reference_plan *reference = &problem->reference;
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
	done = kernel_library_load(gpu, &problem->reference_cubin, 1, &reference->launch, 1,
		       &library, failure) &&
	       kernel_launch(gpu, &library, &reference->launch, 0, &arguments, failure) &&
	       expected_check(gpu, problem, failure);
	if (done || !failure->fatal)
		kernel_library_unload(gpu, &library);
	return done;
}

bool problem_data_expect(struct gpu_session *gpu, struct problem_data *problem, uint32_t handle,
	struct failure *failure)
{
	/* Large problems are slow in fp64: five minutes before anybody thinks of a hang. */
	const double reference_timeout_s = 300;

	if (problem->expected_ready)
		return true;
	if (problem->reference_cubin.length == 0)
		return failure_set(failure, OUTCOME_LAUNCH_FAILED, "the problem has no reference");
	gpu_progress(gpu, handle, reference_timeout_s);
	problem->expected_ready =
		units_upload(gpu, problem, failure) && reference_run(gpu, problem, failure);
	if (!problem->expected_ready && !failure->fatal) {
		gpu_release(gpu, problem->units, problem->unit_count * 8);
		gpu_release(gpu, problem->expected, problem->unit_count * problem->unit_size * 8);
		problem->units = problem->expected = 0;
	}
	return problem->expected_ready;
}

bool problem_data_refill(
	struct gpu_session *gpu, struct problem_data *problem, struct failure *failure)
{
	return arena_repair(gpu, &problem->arena, 0, problem->reference.tensor_count, failure) &&
	       fill_set(gpu, problem, 0, failure);
}

void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem)
{
	arena_release(gpu, &problem->arena);
	free(problem->input_checksums);
	problem->input_checksums = NULL;
	gpu_release(gpu, problem->units, problem->unit_count * 8);
	gpu_release(gpu, problem->expected, problem->unit_count * problem->unit_size * 8);
	problem->units = problem->expected = 0;
	problem->expected_ready = false;
}

void problem_data_release(struct gpu_session *gpu, struct problem_data *problem)
{
	problem_data_evict(gpu, problem);
	reference_plan_release(&problem->reference);
	text_release(&problem->reference_cubin);
	free(problem->title);
	*problem = (struct problem_data){0};
}
