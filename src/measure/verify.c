/* SPDX-License-Identifier: MIT */
#include "measure/verify.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "measure/helper_kernels.h"

/* Scratch counters of one verification, in this order: guard zones of the tensors (count+1), of
 * the workspaces (count+1), checksums of the inputs (one per tensor), then these. */
enum {
	COUNTER_OUTPUT_FIRST, /* checksum of the output after the first run */
	COUNTER_OUTPUT_SECOND,
	COUNTER_PITCH_BEFORE, /* of the bytes between the output's rows */
	COUNTER_PITCH_AFTER,
	COUNTER_COUNT
};

struct layout {
	size_t tensors, workspaces;           /* how many */
	size_t tensor_zones, workspace_zones; /* where their counters start */
	size_t inputs, rest, total;
};

static struct layout layout_of(const struct loaded *loaded)
{
	struct layout layout = {
		.tensors = loaded->plan.tensor_count,
		.workspaces = loaded->plan.buffer_count - loaded->plan.tensor_count,
	};

	layout.workspace_zones = layout.tensors + 1;
	layout.inputs = layout.workspace_zones + layout.workspaces + 1;
	layout.rest = layout.inputs + layout.tensors;
	layout.total = layout.rest + COUNTER_COUNT;
	return layout;
}

static const struct plan_buffer *output_of(const struct loaded *loaded)
{
	return &loaded->problem->reference.tensors[loaded->problem->reference.output];
}

static CUdeviceptr output_data(const struct loaded *loaded)
{
	return problem_tensor(loaded->problem, 0, loaded->problem->reference.output);
}

static bool poison_output(
	struct gpu_session *gpu, const struct loaded *loaded, struct failure *failure)
{
	const struct plan_buffer *output = output_of(loaded);

	return helper_poison(gpu, output_data(loaded), output->bytes,
		helper_output_poison[output->dtype], failure);
}

static bool checksum_output(struct gpu_session *gpu, const struct loaded *loaded, size_t counter,
	struct failure *failure)
{
	const struct plan_buffer *output = output_of(loaded);
	uint64_t size = dtype_size(output->dtype);

	return helper_checksum(gpu, output_data(loaded), output->rows, output->columns * size,
		output->ld * size, counter, failure);
}

/* The bytes between one row's end and the next row's start: nobody may write there. */
static bool checksum_pitch(struct gpu_session *gpu, const struct loaded *loaded, size_t counter,
	struct failure *failure)
{
	const struct plan_buffer *output = output_of(loaded);
	uint64_t size = dtype_size(output->dtype);

	return output->ld == output->columns ||
	       helper_checksum(gpu, output_data(loaded) + output->columns * size, output->rows - 1,
		       (output->ld - output->columns) * size, output->ld * size, counter, failure);
}

static bool check_everything(struct gpu_session *gpu, struct loaded *loaded,
	const struct layout *layout, struct failure *failure)
{
	const struct problem_data *problem = loaded->problem;
	const struct reference_plan *reference = &problem->reference;

	if (!arena_check(gpu, &problem->arena, 0, layout->tensors, layout->tensor_zones, failure) ||
		!arena_check(gpu, &loaded->workspaces, 0, layout->workspaces,
			layout->workspace_zones, failure))
		return false;
	for (size_t i = 0; i < layout->tensors; i++) {
		const struct plan_buffer *tensor = &reference->tensors[i];

		if (tensor->role == BUFFER_INPUT &&
			!helper_checksum(gpu, problem_tensor(problem, 0, i), 1, tensor->bytes,
				tensor->bytes, layout->inputs + i, failure))
			return false;
	}
	return checksum_pitch(gpu, loaded, layout->rest + COUNTER_PITCH_AFTER, failure) &&
	       checksum_output(gpu, loaded, layout->rest + COUNTER_OUTPUT_FIRST, failure) &&
	       helper_compare(gpu, output_data(loaded), output_of(loaded), problem->units,
		       problem->unit_count, problem->unit_size, problem->expected,
		       reference->tolerance_abs, reference->tolerance_rel, failure);
}

static bool run_twice(struct gpu_session *gpu, struct loaded *loaded, const struct layout *layout,
	struct helper_compare_result *compared, uint64_t *counters, struct failure *failure)
{
	if (!scratch_clear(gpu, failure) || !poison_output(gpu, loaded, failure) ||
		!checksum_pitch(gpu, loaded, layout->rest + COUNTER_PITCH_BEFORE, failure) ||
		!gpu_synchronize(gpu, "preparing the output", failure) ||
		!loaded_run(gpu, loaded, 0, failure) ||
		!gpu_synchronize(gpu, "running the kernel", failure))
		return false;
	gpu_progress(gpu, loaded->handle, 0);
	return check_everything(gpu, loaded, layout, failure) &&
	       poison_output(gpu, loaded, failure) && loaded_run(gpu, loaded, 0, failure) &&
	       checksum_output(gpu, loaded, layout->rest + COUNTER_OUTPUT_SECOND, failure) &&
	       scratch_read(gpu, compared, counters, layout->total, failure);
}

/* ---- the verdict ---- */
static void describe_zone(const struct plan_buffer *buffers, size_t count, size_t zone,
	uint64_t bytes, struct text *text)
{
	text_appendf(
		text, "%s%llu bytes written ", text->length ? "; " : "", (unsigned long long)bytes);
	if (zone == 0)
		text_appendf(text, "before %s", count ? buffers[0].name : "the workspaces");
	else if (zone == count)
		text_appendf(text, "behind %s", buffers[count - 1].name);
	else
		text_appendf(text, "between %s and %s", buffers[zone - 1].name, buffers[zone].name);
}

static void find_stray_writes(const struct loaded *loaded, const struct layout *layout,
	const uint64_t *counters, struct text *text)
{
	const struct plan_buffer *buffers = loaded->plan.buffers;

	for (size_t i = 0; i <= layout->tensors; i++)
		if (counters[layout->tensor_zones + i])
			describe_zone(buffers, layout->tensors, i,
				counters[layout->tensor_zones + i], text);
	for (size_t i = 0; layout->workspaces && i <= layout->workspaces; i++)
		if (counters[layout->workspace_zones + i])
			describe_zone(buffers + layout->tensors, layout->workspaces, i,
				counters[layout->workspace_zones + i], text);
	for (size_t i = 0; i < layout->tensors; i++)
		if (loaded->problem->reference.tensors[i].role == BUFFER_INPUT &&
			counters[layout->inputs + i] != loaded->problem->input_checksums[i])
			text_appendf(text, "%sinput %s overwritten", text->length ? "; " : "",
				buffers[i].name);
	if (counters[layout->rest + COUNTER_PITCH_BEFORE] !=
		counters[layout->rest + COUNTER_PITCH_AFTER])
		text_appendf(text, "%sbytes between the rows of %s written",
			text->length ? "; " : "", output_of(loaded)->name);
}

static void describe_difference(const struct loaded *loaded,
	const struct helper_compare_result *compared, uint64_t points, struct text *text)
{
	const struct plan_buffer *output = output_of(loaded);

	text_appendf(text, "%s: %llu of %llu points differ from the reference", output->name,
		(unsigned long long)compared->violations, (unsigned long long)points);
	if (compared->nan_count)
		text_appendf(text, " (%llu are NaN or not written)",
			(unsigned long long)compared->nan_count);
	text_appendf(text, "; the first at row %llu, column %llu: expected %.9g, found %.9g",
		(unsigned long long)(compared->first_bad / output->columns),
		(unsigned long long)(compared->first_bad % output->columns),
		compared->first_expected, compared->first_out);
}

static enum outcome judge(struct gpu_session *gpu, struct loaded *loaded,
	const struct layout *layout, const struct helper_compare_result *compared,
	const uint64_t *counters, struct measure_result *result)
{
	const struct problem_data *problem = loaded->problem;
	struct text text = {0};
	enum outcome outcome = OUTCOME_OK;

	result->verification = (struct verification){
		.done = true,
		.points = problem->unit_count * problem->unit_size,
		.violations = compared->violations,
		.first_bad = compared->violations ? compared->first_bad : 0,
		.first_out = compared->violations ? compared->first_out : NAN,
		.first_expected = compared->violations ? compared->first_expected : NAN,
		.max_abs_error = compared->max_abs_error,
		.max_rel_error = problem->max_expected > 0
					 ? compared->max_abs_error / problem->max_expected
					 : 0,
	};
	find_stray_writes(loaded, layout, counters, &text);
	if (text.length) {
		struct failure ignored;

		outcome = OUTCOME_OUT_OF_BOUNDS;
		/* The next candidate finds everything as it was. */
		problem_data_refill(gpu, loaded->problem, &ignored);
		arena_repair(gpu, &loaded->workspaces, 0, layout->workspaces, &ignored);
		gpu_synchronize(gpu, "restoring the buffers", &ignored);
	} else if (compared->violations) {
		outcome = OUTCOME_WRONG_RESULT;
		describe_difference(loaded, compared, result->verification.points, &text);
	} else if (counters[layout->rest + COUNTER_OUTPUT_FIRST] !=
		   counters[layout->rest + COUNTER_OUTPUT_SECOND]) {
		outcome = OUTCOME_NONDETERMINISTIC;
		text_append(&text, "two runs on the same inputs gave different bits");
	}
	result->detail = text.length ? text_detach(&text) : NULL;
	text_release(&text);
	return outcome;
}

void loaded_verify(struct gpu_session *gpu, struct loaded *loaded, struct measure_result *result)
{
	struct layout layout = layout_of(loaded);
	struct helper_compare_result compared = {0};
	struct failure failure = {.outcome = OUTCOME_OK};
	uint64_t *counters;

	if (layout.total > SCRATCH_COUNTERS) {
		result->outcome = OUTCOME_LAUNCH_FAILED;
		result->detail = string_format("%zu buffers are too many", layout.tensors);
		return;
	}
	counters = memory_zeroed(layout.total, sizeof(*counters));
	if (problem_data_expect(gpu, loaded->problem, loaded->handle, &failure)) {
		gpu_progress(gpu, loaded->handle, 0);
		if (run_twice(gpu, loaded, &layout, &compared, counters, &failure))
			result->outcome = judge(gpu, loaded, &layout, &compared, counters, result);
	}
	if (failure.outcome != OUTCOME_OK) {
		result->outcome = failure.outcome;
		result->detail = string_copy(failure.detail);
		result->fatal = failure.fatal;
	}
	free(counters);
}
