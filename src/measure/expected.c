/* SPDX-License-Identifier: MIT */
#include "measure/expected.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "candidate/array_file.h"
#include "measure/loaded.h"

static bool upload(struct gpu_session *gpu, CUdeviceptr to, const void *from, uint64_t bytes)
{
	static const char uploading[] = "uploading what is expected";

	return GPU_CALL(gpu, uploading, cuMemcpyHtoDAsync, to, from, bytes, gpu->stream) &&
	       gpu_synchronize(gpu, uploading);
}

static bool units_upload(struct gpu_session *gpu, struct expected *expected, uint64_t seed)
{
	const uint64_t rows = expected->tensor->rows, columns = expected->tensor->columns;
	const bool is_row = expected->output->unit_is_row;
	CLEANUP(memory_free) int64_t *units = NULL;

	expected->unit_size = is_row ? columns : 1;
	expected->unit_count = is_row ? points_choose_rows(rows, columns, seed, &units)
				      : points_choose(rows, columns, seed, &units);
	return gpu_allocate(gpu, expected->unit_count * 8, &expected->units) &&
	       upload(gpu, expected->units, units, expected->unit_count * 8);
}

static bool values_allocate(struct gpu_session *gpu, struct expected *expected, uint64_t bytes)
{
	expected->bytes = (bytes + 7) / 8 * 8; /* the cipher needs whole words */
	return gpu_allocate(gpu, expected->bytes, &expected->values);
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Merges groups from `high` down until two consecutive groups are empty. *low is the last merged
 * group. */
static struct helper_magnitude_group run_of(
	const struct helper_magnitude_group *groups, int high, int *low)
{
	struct helper_magnitude_group run = {0};
	int group = high, empty = 0;

	for (*low = high; group >= 0 && empty < 2; group--) {
		if (!groups[group].count) {
			empty++;
			continue;
		}
		empty = 0;
		*low = group;
		run.count += groups[group].count;
		if (run.largest_bits < groups[group].largest_bits)
			run.largest_bits = groups[group].largest_bits;
		run.smallest_inverted_bits = groups[group].smallest_inverted_bits;
	}
	return run;
}

/* Mask values are at least 256 times as large as all values below them (two empty groups of 4
 * binades), and either almost equal or rare. */
static bool is_mask(const struct helper_magnitude_group *run, uint64_t below)
{
	const double mask_least = 1000, alike_ratio = 2;
	const uint64_t rare_part = 64;
	const double largest = double_of(run->largest_bits);
	const double smallest = double_of(~run->smallest_inverted_bits);

	return below && largest >= mask_least &&
	       (largest <= alike_ratio * smallest || run->count <= below / rare_part);
}

double expected_scale(const struct helper_magnitude_group *groups)
{
	uint64_t below = 0;

	for (int i = 0; i < MAGNITUDE_GROUPS; i++)
		below += groups[i].count;
	for (int high = MAGNITUDE_GROUPS - 1, low; high >= 0; high = low - 1) {
		struct helper_magnitude_group run;

		if (!groups[high].count) {
			low = high;
			continue;
		}
		run = run_of(groups, high, &low);
		below -= run.count;
		if (!is_mask(&run, below))
			return double_of(run.largest_bits);
	}
	return 0;
}

/* Returns whether the trusted configuration computes the output. It may have a bug, so it must not
 * produce NaN. */
static bool is_trusted(const struct reference_output *output)
{
	return !output->launch && !output->file;
}

const char expected_finite_hint[] = "; if these inputs have no finite result, set their values in "
				    "the JSON: \"fill\": [LOW, HIGH] of the tensor";

/* Computes the scale. Fails if the reference left elements unwritten. */
static bool values_check(struct gpu_session *gpu, struct expected *expected)
{
	const bool trusted = is_trusted(expected->output);
	const enum outcome outcome = trusted ? OUTCOME_WRONG_RESULT : OUTCOME_LAUNCH_FAILED;
	const char *tensor = expected->tensor->name;
	const unsigned long long points = expected->unit_count * expected->unit_size;
	struct helper_magnitudes found;

	if (!scratch_clear(gpu) || !helper_magnitudes(gpu, expected) ||
		!scratch_read(gpu, NULL, 0, (uint64_t *)&found, sizeof(found) / 8))
		return false;
	expected->scale = expected_scale(found.groups);
	if (found.unset)
		return gpu_fail(gpu, outcome,
			"%s: the reference left %llu of %llu points unwritten", tensor,
			(unsigned long long)found.unset, points);
	return !(trusted && found.nans) ||
	       gpu_fail(gpu, outcome, "%s: the reference computed NaN at %llu of %llu points%s",
		       tensor, (unsigned long long)found.nans, points, expected_finite_hint);
}

static bool kernel_run(
	struct gpu_session *gpu, const struct problem_data *problem, struct expected *expected)
{
	const struct reference_output *output = expected->output;
	struct plan_launch launch = *output->launch;
	struct kernel_library library = {0};
	struct kernel_arguments arguments = {
		.units = expected->units,
		.unit_count = expected->unit_count,
		.expected = expected->values,
		.buffers = problem->arena.buffers,
	};
	struct text *code = NULL;
	bool done;

	launch.shape.grid[0] = (uint32_t)((expected->unit_count + output->units_per_block - 1) /
					  output->units_per_block);
	launch.unit = 0;
	/* these bytes are a NaN, which reveals unwritten elements */
	done = GPU_CALL(gpu, "clearing the expected values", cuMemsetD8Async, expected->values,
		       0xff, expected->bytes, gpu->stream) &&
	       kernel_files_read(
		       gpu, &problem->description.cubins[output->launch->unit], 1, &code) &&
	       kernel_library_load(gpu, code, 1, &launch, 1, &library) &&
	       kernel_launch(gpu, &library, &launch, 0, &arguments) &&
	       gpu_synchronize(gpu, "running the reference kernel") && values_check(gpu, expected);
	kernel_files_release(code, 1);
	if (done || !gpu->failure.fatal)
		kernel_library_unload(gpu, &library);
	return done;
}

static bool file_take(struct gpu_session *gpu, struct expected *expected)
{
	CLEANUP(text_release) struct text content = {0};
	struct error err = {0};

	if (array_file_read(expected->output->file, expected->tensor, &content, &err) != STATUS_OK)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "%s", err.message);
	expected->ld = expected->tensor->columns;
	return values_allocate(gpu, expected, content.length) &&
	       upload(gpu, expected->values, content.data, content.length) &&
	       values_check(gpu, expected);
}

static bool trusted_copy(struct gpu_session *gpu, struct expected *expected, CUdeviceptr from)
{
	expected->ld = expected->tensor->ld;
	return values_allocate(gpu, expected, expected->tensor->bytes) &&
	       helper_copy(gpu, expected->values, from, expected->tensor->bytes) &&
	       values_check(gpu, expected);
}

static bool trusted_run(struct gpu_session *gpu, struct problem_data *problem, enum inputs inputs)
{
	struct plan *plan = problem->reference->trusted;
	struct loaded loaded;
	bool done;

	loaded_init(gpu, &loaded, problem, plan, problem->description.cubins,
		problem->description.cubin_count);
	done = loaded.failure.outcome == OUTCOME_OK;
	for (size_t i = 0; done && i < problem->reference->output_count; i++) {
		const struct plan_buffer *tensor = problem_output(problem, i);

		done = tensor->role != BUFFER_OUTPUT ||
		       helper_poison(gpu, problem_output_of(problem, 0, i), tensor->bytes,
			       helper_trusted_poison(tensor->dtype));
	}
	done = done && loaded_run(gpu, &loaded, 0) && gpu_synchronize(gpu, "running the kernel");
	problem->touched = true;
	for (size_t i = 0; done && i < problem->reference->output_count; i++)
		done = !is_trusted(&problem->reference->outputs[i]) ||
		       trusted_copy(gpu, &problem->expected[inputs][i],
			       problem_output_of(problem, 0, i));
	/* remove results, because a candidate may get this memory */
	done = done && loaded_reset(gpu, &loaded) && gpu_synchronize(gpu, "running the kernel");
	*plan = loaded.plan;
	loaded.plan = (struct plan){0};
	if (done || !gpu->failure.fatal)
		loaded_release(gpu, &loaded);
	return done;
}

/* The key is never in device memory. */
bool expected_cipher(
	struct gpu_session *gpu, const struct problem_data *problem, enum inputs inputs)
{
	for (size_t i = 0; i < problem->reference->output_count; i++) {
		const struct expected *expected = &problem->expected[inputs][i];

		if (!helper_cipher(gpu, expected->units, expected->unit_count * 8,
			    problem->cipher[inputs][0]) ||
			!helper_cipher(
				gpu, expected->values, expected->bytes, problem->cipher[inputs][1]))
			return false;
	}
	return true;
}

static void release(struct gpu_session *gpu, struct problem_data *problem, enum inputs inputs)
{
	struct expected *expected = problem->expected[inputs];

	for (size_t i = 0; expected && i < problem->reference->output_count; i++) {
		gpu_release(gpu, expected[i].units, expected[i].unit_count * 8);
		gpu_release(gpu, expected[i].values, expected[i].bytes);
	}
	free(expected);
	problem->expected[inputs] = NULL;
}

void expected_release(struct gpu_session *gpu, struct problem_data *problem)
{
	for (int inputs = 0; inputs < INPUTS_COUNT; inputs++)
		release(gpu, problem, (enum inputs)inputs);
	problem->has_no_second = false;
}

static bool make(struct gpu_session *gpu, struct problem_data *problem, enum inputs inputs)
{
	const struct reference_plan *reference = problem->reference;
	bool trusts = false, done = true;

	problem->expected[inputs] =
		memory_zeroed(reference->output_count + 1, sizeof(**problem->expected));
	for (size_t i = 0; done && i < reference->output_count; i++) {
		struct expected *expected = &problem->expected[inputs][i];

		expected->output = &reference->outputs[i];
		expected->tensor = problem_output(problem, i);
		done = units_upload(gpu, expected,
			inputs == INPUTS_SECOND ? problem->fresh_seed : gpu->options.seed);
		if (done && expected->output->launch)
			done = values_allocate(gpu, expected,
				       expected->unit_count * expected->unit_size * 8) &&
			       kernel_run(gpu, problem, expected);
		else if (done && expected->output->file)
			done = file_take(gpu, expected);
		trusts |= is_trusted(expected->output);
	}
	if (done && trusts && !reference->trusted)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "the problem has no reference");
	return done && (!trusts || trusted_run(gpu, problem, inputs)) &&
	       expected_cipher(gpu, problem, inputs);
}

/* Allows more time if a reference kernel computes an output. */
static void reference_progress(const struct gpu_session *gpu, const struct problem_data *problem)
{
	double allow_s = gpu->options.kernel_timeout_s;

	for (size_t i = 0; i < problem->reference->output_count; i++)
		if (problem->reference->outputs[i].launch)
			allow_s = gpu->options.reference_timeout_s;
	gpu_progress(gpu, allow_s, true);
}

static void secrets_draw(struct problem_data *problem)
{
	uint64_t seed[2];

	while (getrandom(problem->cipher, sizeof(problem->cipher), 0) != sizeof(problem->cipher))
		;
	while (getrandom(seed, sizeof(seed), 0) != sizeof(seed))
		;
	problem->fresh_seed = seed[0];
	random_seed(&problem->fresh, seed[1]);
}

bool expected_prepare(struct gpu_session *gpu, struct problem_data *problem)
{
	if (problem->expected[INPUTS_FIRST])
		return true;
	if (problem->reference_failure.outcome != OUTCOME_OK) {
		gpu->failure = problem->reference_failure;
		return false;
	}
	secrets_draw(problem);
	reference_progress(gpu, problem);
	if (problem_data_restore(gpu, problem) && problem_data_restore_inputs(gpu, problem, 0) &&
		make(gpu, problem, INPUTS_FIRST))
		return true;
	if (!gpu->failure.fatal)
		release(gpu, problem, INPUTS_FIRST);
	/* if memory or the GPU was missing, a later attempt may succeed */
	if (gpu->failure.outcome != OUTCOME_OUT_OF_MEMORY &&
		gpu->failure.outcome != OUTCOME_DEVICE_LOST)
		problem->reference_failure = gpu->failure;
	return false;
}

bool expected_prepare_second(struct gpu_session *gpu, struct problem_data *problem)
{
	bool done;

	if (problem->expected[INPUTS_SECOND] || problem->has_no_second)
		return true;
	reference_progress(gpu, problem);
	done = problem_data_fill_second(gpu, problem, 0) && make(gpu, problem, INPUTS_SECOND);
	if (!done && gpu->failure.fatal)
		return false;
	if (!done)
		release(gpu, problem, INPUTS_SECOND);
	problem->has_no_second = !done;
	return problem_data_fill_first(gpu, problem);
}
