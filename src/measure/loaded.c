/* SPDX-License-Identifier: MIT */
#include "measure/loaded.h"

#include <math.h>

static bool tensors_match(struct gpu_session *gpu, const struct loaded *loaded)
{
	const struct problem_data *problem = loaded->problem;
	size_t count = problem ? problem->told.reference.tensor_count : 0;

	if (loaded->plan.tensor_count != count || loaded->plan.buffer_count < count)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
			"the plan: expected the problem's %zu tensors, found %zu", count,
			loaded->plan.tensor_count);
	for (size_t i = 0; i < count; i++)
		if (loaded->plan.buffers[i].bytes != problem->told.reference.tensors[i].bytes)
			return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
				"the plan: tensor %s: expected %llu bytes, found %llu",
				loaded->plan.buffers[i].name,
				(unsigned long long)problem->told.reference.tensors[i].bytes,
				(unsigned long long)loaded->plan.buffers[i].bytes);
	return true;
}

static bool gpu_zero(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes)
{
	return gpu_succeeded(
		gpu, gpu->cuda.cuMemsetD8Async(data, 0, bytes, gpu->stream), "zeroing a workspace");
}

static bool workspaces_make(struct gpu_session *gpu, struct loaded *loaded)
{
	size_t first = loaded->plan.tensor_count, count = loaded->plan.buffer_count - first;
	CLEANUP(memory_free) uint64_t *sizes = memory_zeroed(count + 1, sizeof(*sizes));

	for (size_t i = 0; i < count; i++)
		sizes[i] = loaded->plan.buffers[first + i].bytes;
	if (count && !arena_allocate(gpu, sizes, count, 1, &loaded->workspaces))
		return false;
	for (size_t i = 0; i < count; i++) {
		CUdeviceptr data = loaded->workspaces.buffers[i];
		const bool poisoned = loaded->plan.buffers[first + i].init == BUFFER_INIT_NONE;

		if (sizes[i] &&
			!(poisoned ? helper_poison(gpu, data, sizes[i], helper_workspace_poison)
				   : gpu_zero(gpu, data, sizes[i])))
			return false;
	}
	return true;
}

static bool sets_make(struct gpu_session *gpu, struct loaded *loaded)
{
	const struct plan *plan = &loaded->plan;
	size_t maps = plan->tensor_map_count;

	loaded->set_count = loaded->problem ? loaded->problem->set_count : 1;
	loaded->buffers =
		memory_zeroed(loaded->set_count * plan->buffer_count + 1, sizeof(*loaded->buffers));
	/* The driver wants descriptors at multiples of 64 bytes. */
	if (maps) {
		size_t bytes = loaded->set_count * maps * sizeof(CUtensorMap);

		loaded->tensor_maps = aligned_alloc(64, bytes);
		if (!loaded->tensor_maps)
			return gpu_fail(gpu, OUTCOME_OUT_OF_MEMORY, "tensor maps");
	}
	for (size_t set = 0; set < loaded->set_count; set++) {
		CUdeviceptr *buffers = &loaded->buffers[set * plan->buffer_count];

		for (size_t i = 0; i < plan->buffer_count; i++)
			buffers[i] = i < plan->tensor_count
					     ? problem_tensor(loaded->problem, set, i)
					     : loaded->workspaces.buffers[i - plan->tensor_count];
		for (size_t i = 0; i < maps; i++) {
			const struct plan_tensor_map *map = &plan->tensor_maps[i];

			if (map->buffer >= plan->buffer_count)
				return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED,
					"tensor map %s refers to no buffer", map->name);
			if (!tensor_map_encode(gpu, map, buffers[map->buffer],
				    &loaded->tensor_maps[set * maps + i]))
				return false;
		}
	}
	return true;
}

static bool load(struct gpu_session *gpu, struct loaded *loaded, const struct text *cubins,
	size_t cubin_count)
{
	const struct plan *plan = &loaded->plan;

	if (!tensors_match(gpu, loaded) ||
		!kernel_library_load(gpu, cubins, cubin_count, plan->launches, plan->launch_count,
			&loaded->library))
		return false;
	loaded->resources = memory_zeroed(plan->launch_count + 1, sizeof(*loaded->resources));
	for (size_t i = 0; i < plan->launch_count; i++)
		if (!kernel_inspect(
			    gpu, &loaded->library, &plan->launches[i], i, &loaded->resources[i]))
			return false;
	return workspaces_make(gpu, loaded) && sets_make(gpu, loaded) &&
	       gpu_synchronize(gpu, "loading");
}

void loaded_init(struct gpu_session *gpu, struct loaded *loaded, uint32_t handle,
	struct problem_data *problem, struct plan *plan, const struct text *cubins,
	size_t cubin_count)
{
	*loaded = (struct loaded){.handle = handle, .problem = problem, .plan = *plan};
	*plan = (struct plan){0};
	if (problem)
		problem->users++;
	if ((problem && !problem_data_prepare(gpu, problem)) ||
		!load(gpu, loaded, cubins, cubin_count))
		loaded->failure = gpu->failure;
}

void loaded_release(struct gpu_session *gpu, struct loaded *loaded)
{
	if (loaded->problem)
		loaded->problem->users--;
	kernel_library_unload(gpu, &loaded->library);
	arena_release(gpu, &loaded->workspaces);
	plan_release(&loaded->plan);
	free(loaded->resources);
	free(loaded->buffers);
	free(loaded->tensor_maps);
	*loaded = (struct loaded){0};
}

bool loaded_run(struct gpu_session *gpu, const struct loaded *loaded, size_t set)
{
	const struct plan *plan = &loaded->plan;
	struct kernel_arguments arguments = {
		.buffers = &loaded->buffers[set * plan->buffer_count],
		.tensor_maps = loaded->tensor_maps
				       ? &loaded->tensor_maps[set * plan->tensor_map_count]
				       : NULL,
	};

	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++)
		if (plan->buffers[i].init == BUFFER_INIT_EACH && plan->buffers[i].bytes &&
			!gpu_zero(gpu, arguments.buffers[i], plan->buffers[i].bytes))
			return false;
	for (size_t i = 0; i < plan->launch_count; i++)
		for (uint32_t j = 0; j < plan->launches[i].repeat; j++)
			if (!kernel_launch(
				    gpu, &loaded->library, &plan->launches[i], i, &arguments))
				return false;
	return true;
}

size_t loaded_operations(const struct loaded *loaded)
{
	size_t count = 0;

	for (size_t i = loaded->plan.tensor_count; i < loaded->plan.buffer_count; i++)
		count += loaded->plan.buffers[i].init == BUFFER_INIT_EACH;
	for (size_t i = 0; i < loaded->plan.launch_count; i++)
		count += loaded->plan.launches[i].repeat;
	return count;
}

/* ---- is its result right? ---- */
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
	return &loaded->problem->told.reference.tensors[loaded->problem->told.reference.output];
}

static CUdeviceptr output_data(const struct loaded *loaded)
{
	return problem_tensor(loaded->problem, 0, loaded->problem->told.reference.output);
}

static bool poison_output(struct gpu_session *gpu, const struct loaded *loaded)
{
	const struct plan_buffer *output = output_of(loaded);

	return helper_poison(
		gpu, output_data(loaded), output->bytes, helper_output_poison[output->dtype]);
}

static bool checksum_output(struct gpu_session *gpu, const struct loaded *loaded, size_t counter)
{
	const struct plan_buffer *output = output_of(loaded);
	uint64_t size = dtype_size(output->dtype);

	return helper_checksum(gpu, output_data(loaded), output->rows, output->columns * size,
		output->ld * size, counter);
}

/* The bytes between one row's end and the next row's start: nobody may write there. */
static bool checksum_pitch(struct gpu_session *gpu, const struct loaded *loaded, size_t counter)
{
	const struct plan_buffer *output = output_of(loaded);
	uint64_t size = dtype_size(output->dtype);

	return output->ld == output->columns ||
	       helper_checksum(gpu, output_data(loaded) + output->columns * size, output->rows - 1,
		       (output->ld - output->columns) * size, output->ld * size, counter);
}

static bool check_everything(
	struct gpu_session *gpu, struct loaded *loaded, const struct layout *layout)
{
	const struct problem_data *problem = loaded->problem;
	const struct reference_plan *reference = &problem->told.reference;

	if (!arena_check(gpu, &problem->arena, layout->tensors, layout->tensor_zones) ||
		!arena_check(gpu, &loaded->workspaces, layout->workspaces, layout->workspace_zones))
		return false;
	for (size_t i = 0; i < layout->tensors; i++) {
		const struct plan_buffer *tensor = &reference->tensors[i];

		if (tensor->role == BUFFER_INPUT &&
			!helper_checksum(gpu, problem_tensor(problem, 0, i), 1, tensor->bytes,
				tensor->bytes, layout->inputs + i))
			return false;
	}
	return checksum_pitch(gpu, loaded, layout->rest + COUNTER_PITCH_AFTER) &&
	       checksum_output(gpu, loaded, layout->rest + COUNTER_OUTPUT_FIRST) &&
	       helper_compare(gpu, output_data(loaded), output_of(loaded), problem->units,
		       problem->unit_count, problem->unit_size, problem->expected,
		       reference->tolerance_abs, reference->tolerance_rel);
}

static bool run_twice(struct gpu_session *gpu, struct loaded *loaded, const struct layout *layout,
	struct helper_compare_result *compared, uint64_t *counters)
{
	if (!scratch_clear(gpu) || !poison_output(gpu, loaded) ||
		!checksum_pitch(gpu, loaded, layout->rest + COUNTER_PITCH_BEFORE) ||
		!gpu_synchronize(gpu, "preparing the output") || !loaded_run(gpu, loaded, 0) ||
		!gpu_synchronize(gpu, "running the kernel"))
		return false;
	gpu_progress(gpu, loaded->handle, 0);
	return check_everything(gpu, loaded, layout) && poison_output(gpu, loaded) &&
	       loaded_run(gpu, loaded, 0) &&
	       checksum_output(gpu, loaded, layout->rest + COUNTER_OUTPUT_SECOND) &&
	       scratch_read(gpu, compared, counters, layout->total);
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
		if (loaded->problem->told.reference.tensors[i].role == BUFFER_INPUT &&
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

static enum outcome judge(const struct loaded *loaded, const struct layout *layout,
	const struct helper_compare_result *compared, const uint64_t *counters,
	struct device_event *result)
{
	const struct problem_data *problem = loaded->problem;
	CLEANUP(text_release) struct text text = {0};
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
		outcome = OUTCOME_OUT_OF_BOUNDS;
	} else if (compared->violations) {
		outcome = OUTCOME_WRONG_RESULT;
		describe_difference(loaded, compared, result->verification.points, &text);
	} else if (counters[layout->rest + COUNTER_OUTPUT_FIRST] !=
		   counters[layout->rest + COUNTER_OUTPUT_SECOND]) {
		outcome = OUTCOME_NONDETERMINISTIC;
		text_append(&text, "two runs on the same inputs gave different bits");
	}
	result->detail = text.length ? text_detach(&text) : NULL;
	return outcome;
}

static bool verify(struct gpu_session *gpu, struct loaded *loaded, struct device_event *result)
{
	const struct layout layout = layout_of(loaded);
	struct helper_compare_result compared = {0};
	CLEANUP(memory_free) uint64_t *counters = memory_zeroed(layout.total, sizeof(*counters));

	if (layout.total > SCRATCH_COUNTERS)
		return gpu_fail(
			gpu, OUTCOME_LAUNCH_FAILED, "%zu buffers are too many", layout.tensors);
	if (!problem_data_expect(gpu, loaded->problem, loaded->handle)) {
		result->reference = loaded->problem->reference_failure.outcome != OUTCOME_OK;
		return false;
	}
	gpu_progress(gpu, loaded->handle, 0);
	if (!problem_data_restore(gpu, loaded->problem) ||
		!run_twice(gpu, loaded, &layout, &compared, counters))
		return false;
	result->outcome = judge(loaded, &layout, &compared, counters, result);
	/* what it left in its workspaces is its own; in the tensors others would be blamed for it
	 */
	loaded->problem->touched = result->outcome == OUTCOME_OUT_OF_BOUNDS;
	return true;
}

void loaded_verify(struct gpu_session *gpu, struct loaded *loaded, struct device_event *result)
{
	if (verify(gpu, loaded, result))
		return;
	result->outcome = gpu->failure.outcome;
	result->detail = string_copy(gpu->failure.detail);
	result->fatal = gpu->failure.fatal;
}
