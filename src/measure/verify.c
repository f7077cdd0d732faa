/* SPDX-License-Identifier: MIT */
#include "measure/verify.h"

#include <math.h>

#include "measure/expected.h"

/* Scratch counters: guard zones of tensors (tensors+1) and workspaces (workspaces+1), input
 * checksums (one per tensor), then these for each output: */
enum {
	COUNTER_FIRST,
	COUNTER_SECOND,
	COUNTER_PITCH_BEFORE, /* checksum of bytes between rows */
	COUNTER_PITCH_AFTER,
	COUNTER_COUNT
};

struct layout {
	size_t tensors, workspaces, outputs;
	size_t tensor_zones, workspace_zones; /* indices of the first counters */
	/* first checksum; first output counter; number of counters */
	size_t inputs, rest, total;
};

static struct layout layout_of(const struct loaded *loaded)
{
	struct layout layout = {
		.tensors = loaded->plan.tensor_count,
		.workspaces = loaded->plan.buffer_count - loaded->plan.tensor_count,
		.outputs = loaded->problem->reference->output_count,
	};

	layout.workspace_zones = layout.tensors + 1;
	layout.inputs = layout.workspace_zones + layout.workspaces + 1;
	layout.rest = layout.inputs + layout.tensors;
	layout.total = layout.rest + layout.outputs * COUNTER_COUNT;
	return layout;
}

static size_t counter_of(const struct layout *layout, size_t output, size_t counter)
{
	return layout->rest + output * COUNTER_COUNT + counter;
}

static bool checksum_output(
	struct gpu_session *gpu, const struct loaded *loaded, size_t output, size_t counter)
{
	const struct plan_buffer *tensor = problem_output(loaded->problem, output);
	uint64_t size = dtype_size(tensor->dtype);

	return helper_checksum(gpu, problem_output_of(loaded->problem, 0, output), tensor->rows,
		tensor->columns * size, tensor->ld * size, counter);
}

static bool checksum_pitch(
	struct gpu_session *gpu, const struct loaded *loaded, size_t output, size_t counter)
{
	const struct plan_buffer *tensor = problem_output(loaded->problem, output);
	uint64_t size = dtype_size(tensor->dtype);

	return tensor->ld == tensor->columns ||
	       helper_checksum(gpu,
		       problem_output_of(loaded->problem, 0, output) + tensor->columns * size,
		       tensor->rows - 1, (tensor->ld - tensor->columns) * size, tensor->ld * size,
		       counter);
}

static bool outputs_clear(struct gpu_session *gpu, const struct loaded *loaded, size_t set)
{
	return problem_data_poison(gpu, loaded->problem, set, 1) &&
	       problem_data_restore_inputs(gpu, loaded->problem, set) &&
	       loaded_fill_symbols(gpu, loaded, set);
}

static bool compare_all(
	struct gpu_session *gpu, const struct loaded *loaded, size_t set, enum inputs inputs)
{
	bool done = expected_cipher(gpu, loaded->problem, inputs);

	for (size_t i = 0; done && i < loaded->problem->reference->output_count; i++)
		done = helper_compare(gpu, problem_output_of(loaded->problem, set, i),
			&loaded->problem->expected[inputs][i], i);
	return done && expected_cipher(gpu, loaded->problem, inputs);
}

static bool check_memory(
	struct gpu_session *gpu, const struct loaded *loaded, const struct layout *layout)
{
	return arena_check(gpu, &loaded->problem->arena, layout->tensor_zones) &&
	       arena_check(gpu, &loaded->workspaces, layout->workspace_zones) &&
	       problem_data_checksum(gpu, loaded->problem, layout->inputs);
}

static bool check_everything(
	struct gpu_session *gpu, const struct loaded *loaded, const struct layout *layout)
{
	if (!check_memory(gpu, loaded, layout))
		return false;
	for (size_t i = 0; i < layout->outputs; i++)
		if (!checksum_pitch(gpu, loaded, i, counter_of(layout, i, COUNTER_PITCH_AFTER)) ||
			!checksum_output(gpu, loaded, i, counter_of(layout, i, COUNTER_FIRST)))
			return false;
	return compare_all(gpu, loaded, 0, INPUTS_FIRST);
}

static bool run_twice(struct gpu_session *gpu, struct loaded *loaded, const struct layout *layout,
	struct helper_compare_result *compared, uint64_t *counters)
{
	bool done = scratch_clear(gpu) && outputs_clear(gpu, loaded, 0);

	for (size_t i = 0; done && i < layout->outputs; i++)
		done = checksum_pitch(gpu, loaded, i, counter_of(layout, i, COUNTER_PITCH_BEFORE));
	if (!done || !gpu_synchronize(gpu, "preparing the output") || !loaded_run(gpu, loaded, 0) ||
		!gpu_synchronize(gpu, "running the kernel"))
		return false;
	gpu_progress(gpu, 0, false);
	done = check_everything(gpu, loaded, layout) && outputs_clear(gpu, loaded, 0) &&
	       loaded_run(gpu, loaded, 0);
	for (size_t i = 0; done && i < layout->outputs; i++)
		done = checksum_output(gpu, loaded, i, counter_of(layout, i, COUNTER_SECOND));
	return done && scratch_read(gpu, compared, layout->outputs, counters, layout->total);
}

static void describe_zone(const struct plan_buffer *buffers, size_t count, size_t zone,
	uint64_t bytes, struct text *text)
{
	text_appendf(text, "%s%llu bytes were written ", text->length ? "; " : "",
		(unsigned long long)bytes);
	if (zone == 0)
		text_appendf(text, "before %s", count ? buffers[0].name : "the workspaces");
	else if (zone == count)
		text_appendf(text, "after %s", buffers[count - 1].name);
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
		if (loaded->problem->reference->tensors[i].role == BUFFER_INPUT &&
			counters[layout->inputs + i] != loaded->problem->input_checksums[i])
			text_appendf(text, "%sthe input %s was overwritten",
				text->length ? "; " : "", buffers[i].name);
	for (size_t i = 0; i < layout->outputs; i++)
		if (counters[counter_of(layout, i, COUNTER_PITCH_BEFORE)] !=
			counters[counter_of(layout, i, COUNTER_PITCH_AFTER)])
			text_appendf(text, "%sbytes between the rows of %s were written",
				text->length ? "; " : "", problem_output(loaded->problem, i)->name);
}

static uint64_t points_of(const struct expected *expected)
{
	return expected->unit_count * expected->unit_size;
}

static bool is_wrong(const struct expected *expected, const struct helper_compare_result *compared)
{
	return (double)compared->violations >
	       expected->output->differ_ratio * (double)points_of(expected);
}

static void describe_differences(
	const struct loaded *loaded, const struct helper_compare_result *results, struct text *text)
{
	for (size_t i = 0; i < loaded->problem->reference->output_count; i++) {
		const struct helper_compare_result *compared = &results[i];
		const struct expected *expected = &loaded->problem->expected[INPUTS_FIRST][i];
		const struct plan_buffer *output = expected->tensor;

		if (!is_wrong(expected, compared))
			continue;
		text_appendf(text, "%s%s: %llu of %llu points differ from %s",
			text->length ? "; " : "", output->name,
			(unsigned long long)compared->violations,
			(unsigned long long)points_of(expected),
			verified_texts[expected->output->verified]);
		if (expected->output->differ_ratio > 0)
			text_appendf(text, ", more than %g", expected->output->differ_ratio);
		if (compared->nan_count)
			text_appendf(text, " (%llu are NaN or not written)",
				(unsigned long long)compared->nan_count);
		text_appendf(text,
			"; the first is at row %llu, column %llu: expected %.9g, found %.9g",
			(unsigned long long)(compared->first_bad / output->columns),
			(unsigned long long)(compared->first_bad % output->columns),
			compared->first_expected, compared->first_out);
		if (!isfinite(compared->first_expected))
			text_append(text, expected_finite_hint);
	}
}

/* first_* describe the first output with a difference. */
static void take_compared(const struct expected *expected,
	const struct helper_compare_result *compared, struct result *result)
{
	struct verification *all = &result->verification;

	if (compared->violations && !all->violations) {
		all->first_bad = compared->first_bad;
		all->first_out = compared->first_out;
		all->first_expected = compared->first_expected;
	}
	all->points += points_of(expected);
	all->violations += compared->violations;
	all->max_abs_error = fmax(all->max_abs_error, compared->max_abs_error);
	if (expected->scale > 0)
		all->max_rel_error =
			fmax(all->max_rel_error, compared->max_abs_error / expected->scale);
	if (expected->output->verified > result->verified)
		result->verified = expected->output->verified;
}

static enum outcome judge(const struct loaded *loaded, const struct layout *layout,
	const struct helper_compare_result *compared, const uint64_t *counters,
	struct result *result)
{
	CLEANUP(text_release) struct text strays = {0}, wrong = {0};
	enum outcome outcome = OUTCOME_OK;
	bool same = true;

	result->verification =
		(struct verification){.done = true, .first_out = NAN, .first_expected = NAN};
	result->verified = VERIFIED_REFERENCE;
	find_stray_writes(loaded, layout, counters, &strays);
	describe_differences(loaded, compared, &wrong);
	for (size_t i = 0; i < layout->outputs; i++) {
		take_compared(&loaded->problem->expected[INPUTS_FIRST][i], &compared[i], result);
		same &= counters[counter_of(layout, i, COUNTER_FIRST)] ==
			counters[counter_of(layout, i, COUNTER_SECOND)];
	}
	if (strays.length) {
		outcome = OUTCOME_OUT_OF_BOUNDS;
		result->detail = text_detach(&strays);
	} else if (wrong.length) {
		outcome = OUTCOME_WRONG_RESULT;
		result->detail = text_detach(&wrong);
	} else if (!same && !loaded->problem->reference->may_vary) {
		outcome = OUTCOME_NONDETERMINISTIC;
		result->detail = string_copy("two runs on the same inputs gave different bits");
	}
	return outcome;
}

/* Returns the number of row groups that divide every output evenly, or 1. */
static uint64_t rows_in_common(const struct loaded *loaded, size_t outputs)
{
	uint64_t rows = problem_output(loaded->problem, 0)->rows;

	for (size_t i = 1; i < outputs; i++)
		rows = problem_output(loaded->problem, i)->rows < rows
			       ? problem_output(loaded->problem, i)->rows
			       : rows;
	for (size_t i = 0; i < outputs; i++)
		if (problem_output(loaded->problem, i)->rows % rows)
			return 1;
	return rows;
}

/* Computes checksums of parts, which are the rows between two digests. */
static bool parts_checksum(struct gpu_session *gpu, const struct loaded *loaded, size_t set,
	uint64_t rows, size_t parts, size_t first_counter)
{
	for (size_t i = 0; i < loaded->problem->reference->output_count * parts; i++) {
		const struct plan_buffer *tensor = problem_output(loaded->problem, i / parts);
		const size_t part = i % parts;
		const uint64_t size = dtype_size(tensor->dtype), each = tensor->rows / rows;
		const uint64_t first = part ? bits_digest_rows(rows, part - 1) : 0;
		const uint64_t pitch_bytes = tensor->ld * size;

		if (!helper_checksum(gpu,
			    problem_output_of(loaded->problem, set, i / parts) +
				    first * each * pitch_bytes,
			    (bits_digest_rows(rows, part) - first) * each, tensor->columns * size,
			    pitch_bytes, first_counter + i))
			return false;
	}
	return true;
}

/* The digest of more rows includes that of fewer. *result may stay NULL. */
static bool digest(
	struct gpu_session *gpu, const struct loaded *loaded, struct output_digest **result)
{
	const struct problem_data *problem = loaded->problem;
	const size_t outputs = problem->reference->output_count;
	const uint64_t rows = rows_in_common(loaded, outputs);
	const size_t parts = bits_digest_count(rows), count = outputs * parts;
	const size_t total = problem->probe_count * count;
	CLEANUP(memory_free) uint64_t *sums = memory_zeroed(total + 1, sizeof(*sums));
	CLEANUP(memory_free) uint64_t *digests = memory_zeroed(parts, sizeof(*digests));

	if (!total || total > SCRATCH_COUNTERS)
		return true;
	gpu_progress(gpu, (double)problem->probe_count * gpu->options.kernel_timeout_s, false);
	if (!scratch_clear(gpu))
		return false;
	for (size_t probe = 0; probe < problem->probe_count; probe++) {
		const size_t set = problem->set_count + probe;

		if (!outputs_clear(gpu, loaded, set) || !loaded_run(gpu, loaded, set) ||
			!parts_checksum(gpu, loaded, set, rows, parts, probe * count))
			return false;
	}
	if (!scratch_read(gpu, NULL, 0, sums, total))
		return false;
	for (size_t probe = 0; probe < problem->probe_count; probe++) {
		uint64_t chain = probe;

		for (size_t part = 0; part < parts; part++) {
			for (size_t i = 0; i < outputs; i++)
				chain = hash_bytes(&sums[probe * count + i * parts + part],
					sizeof(*sums), chain);
			digests[part] = hash_bytes(&chain, sizeof(chain), digests[part]);
		}
	}
	*result = memory_zeroed(1, sizeof(**result));
	**result = (struct output_digest){.inputs = (unsigned)problem->probe_count,
		.rows = rows,
		.digests = memory_zeroed(parts + 1, sizeof(char *))};
	for (size_t part = 0; part < parts; part++)
		(*result)->digests[part] =
			string_format("%016llx", (unsigned long long)digests[part]);
	return true;
}

bool verify_prepare(
	struct gpu_session *gpu, struct problem_data *problem, struct device_reply *reply)
{
	double *phase = gpu_phase(gpu, &reply->result.spent.expected_ms);
	const bool first = expected_prepare(gpu, problem);
	const bool done = first && expected_prepare_second(gpu, problem);

	gpu_phase(gpu, phase);
	if (!first)
		reply->reference_failed = problem->reference_failure.outcome != OUTCOME_OK;
	else if (done)
		gpu_progress(gpu, 0, false);
	return done;
}

static bool verify(struct gpu_session *gpu, struct loaded *loaded, struct device_reply *reply)
{
	const struct layout layout = layout_of(loaded);
	struct result *result = &reply->result;
	struct helper_compare_result compared[PLAN_OUTPUTS_MAX] = {0};
	CLEANUP(memory_free) uint64_t *counters = memory_zeroed(layout.total, sizeof(*counters));

	if (layout.total > SCRATCH_COUNTERS || layout.outputs > PLAN_OUTPUTS_MAX)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "the plan has too many buffers (%zu)",
			layout.tensors);
	if (!verify_prepare(gpu, loaded->problem, reply))
		return false;
	if (!problem_data_restore(gpu, loaded->problem) || !loaded_reset(gpu, loaded) ||
		!run_twice(gpu, loaded, &layout, compared, counters))
		return false;
	result->outcome = judge(loaded, &layout, compared, counters, result);
	/* other candidates would be blamed for changes in shared tensors */
	loaded->problem->touched = result->outcome == OUTCOME_OUT_OF_BOUNDS;
	if (result->outcome != OUTCOME_OK || loaded->problem->reference->may_vary)
		return true;
	gpu_phase(gpu, &result->spent.digest_ms);
	return digest(gpu, loaded, &result->bits);
}

enum {
	WRITTEN_SETS_MAX = 8 /* sets that are checked */
};

static bool count_written(struct gpu_session *gpu, const struct loaded *loaded,
	const struct verify_sample *sample, const struct layout *layout)
{
	const size_t step = (sample->count + WRITTEN_SETS_MAX - 1) / WRITTEN_SETS_MAX;

	for (size_t k = 0; k * step < sample->count; k++)
		for (size_t i = 0; i < layout->outputs; i++) {
			const struct plan_buffer *tensor = problem_output(loaded->problem, i);

			if (tensor->role == BUFFER_OUTPUT &&
				!helper_count_written(gpu,
					problem_output_of(
						loaded->problem, sample->first + k * step, i),
					tensor->bytes, helper_output_poison[tensor->dtype], 0, 1,
					layout->total + k))
				return false;
		}
	return true;
}

static bool has_unwritten(
	const struct loaded *loaded, const struct verify_sample *sample, const uint64_t *written)
{
	const size_t step = (sample->count + WRITTEN_SETS_MAX - 1) / WRITTEN_SETS_MAX;

	for (size_t k = 0; k * step < sample->count; k++)
		if (!written[k] && !problem_data_restores_inputs(loaded->problem))
			return true;
	return false;
}

static void take_sample(const struct loaded *loaded, const struct verify_sample *sample,
	const struct layout *layout, const struct helper_compare_result *compared,
	const uint64_t *counters, struct result *result)
{
	CLEANUP(text_release) struct text wrong = {0};

	describe_differences(loaded, compared, &wrong);
	if (!wrong.length && has_unwritten(loaded, sample, counters + layout->total))
		text_append(&wrong, "the kernel wrote nothing in a timed run");
	result->outcome = wrong.length ? OUTCOME_WRONG_RESULT : OUTCOME_OK;
	if (wrong.length)
		result->detail =
			string_format("the kernel is correct only on inputs that it has seen; in a "
				      "timed run on new inputs with cleared outputs: %s",
				wrong.data);
}

static void take_memory(const struct loaded *loaded, const struct layout *layout,
	const uint64_t *counters, struct result *result)
{
	CLEANUP(text_release) struct text strays = {0};

	find_stray_writes(loaded, layout, counters, &strays);
	loaded->problem->touched = strays.length;
	if (strays.length && result->outcome == OUTCOME_OK) {
		result->outcome = OUTCOME_OUT_OF_BOUNDS;
		result->detail = text_detach(&strays);
	}
}

bool verify_sample_queue(
	struct gpu_session *gpu, const struct loaded *loaded, const struct verify_sample *sample)
{
	const struct layout layout = layout_of(loaded);
	const enum inputs inputs = loaded->problem->has_no_second ? INPUTS_FIRST : INPUTS_SECOND;

	return scratch_clear(gpu) && compare_all(gpu, loaded, sample->set, inputs) &&
	       count_written(gpu, loaded, sample, &layout);
}

bool verify_sample(struct gpu_session *gpu, const struct loaded *loaded,
	const struct verify_sample *sample, bool with_memory, struct result *result)
{
	const struct layout layout = layout_of(loaded);
	const size_t total = layout.total + WRITTEN_SETS_MAX;
	struct helper_compare_result compared[PLAN_OUTPUTS_MAX] = {0};
	CLEANUP(memory_free) uint64_t *counters = memory_zeroed(total, sizeof(*counters));

	if ((with_memory && !check_memory(gpu, loaded, &layout)) ||
		!scratch_read(gpu, compared, layout.outputs, counters, total))
		return false;
	take_sample(loaded, sample, &layout, compared, counters, result);
	if (with_memory)
		take_memory(loaded, &layout, counters, result);
	return true;
}

bool verify_memory(struct gpu_session *gpu, const struct loaded *loaded, struct result *result)
{
	const struct layout layout = layout_of(loaded);
	CLEANUP(memory_free) uint64_t *counters = memory_zeroed(layout.total, sizeof(*counters));

	if (!scratch_clear(gpu) || !check_memory(gpu, loaded, &layout) ||
		!scratch_read(gpu, NULL, 0, counters, layout.total))
		return false;
	take_memory(loaded, &layout, counters, result);
	return true;
}

void verify_run(struct gpu_session *gpu, struct loaded *loaded, struct device_reply *reply)
{
	bool done;

	gpu_progress(gpu, 0, false);
	done = loaded->problem
		       ? verify(gpu, loaded, reply)
		       : gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "there is nothing to compare with");
	if (!done)
		gpu_take_failure(&gpu->failure, reply);
}
