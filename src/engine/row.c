/* SPDX-License-Identifier: MIT */
#include "engine/row.h"

#include <math.h>

#include "record/record_write.h"
#include "score/prediction.h"

/* ---- retuning launch arguments ---- */
/* Smaller gains are below the model's accuracy. */
static const double worth_it_ratio = 0.97;

struct argument_retune {
	const struct bound_family *bound;
	struct predictor predictor;
	choice now[SPACE_PARAMETERS_MAX], best[SPACE_PARAMETERS_MAX];
	double best_us;
};

/* Predicts infinity if the choices are illegal. */
static enum status predict_now(
	struct argument_retune *retune, double *predicted_us, struct error *err)
{
	struct prediction prediction = {.time_us = INFINITY};
	int violated = -1;

	TRY(space_examine(
		retune->bound->space, retune->now, retune->predictor.values, &violated, err));
	if (violated < 0)
		TRY(predict(&retune->predictor, retune->predictor.values, NULL, &prediction, err));
	*predicted_us = prediction.time_us;
	return STATUS_OK;
}

/* Tries all values of the launch arguments from parameter `from` on. */
static enum status walk_arguments(struct argument_retune *retune, size_t from, struct error *err)
{
	const struct space *space = retune->bound->space;
	const size_t count = space->parameter_count;
	double predicted_us;

	while (from < count && !retune->bound->family->parameters[from].is_argument)
		from++;
	if (from < count) {
		for (size_t i = 0; i < space->parameters[from].values.count; i++) {
			retune->now[from] = (choice)i;
			TRY(walk_arguments(retune, from + 1, err));
		}
		return STATUS_OK;
	}
	TRY(predict_now(retune, &predicted_us, err));
	if (predicted_us < retune->best_us) {
		retune->best_us = predicted_us;
		memcpy(retune->best, retune->now, sizeof(retune->best));
	}
	return STATUS_OK;
}

static void argument_retune_release(struct argument_retune *retune)
{
	predictor_close(&retune->predictor);
}

static enum status retune_arguments(struct candidate *candidate, struct error *err)
{
	CLEANUP(argument_retune_release)
	struct argument_retune retune = {.bound = candidate->bound, .best_us = INFINITY};
	double tuned_us;

	predictor_open(&retune.predictor, candidate->bound);
	memcpy(retune.now, candidate->choices, sizeof(retune.now));
	TRY(predict_now(&retune, &tuned_us, err));
	TRY(walk_arguments(&retune, 0, err));
	/* report the violated constraint, or that no block fits */
	if (!isfinite(retune.best_us))
		return configuration_expect_legal(candidate->bound, candidate->choices, err);
	if (!(isfinite(tuned_us) && retune.best_us >= tuned_us * worth_it_ratio))
		memcpy(candidate->choices, retune.best, sizeof(retune.best));
	return STATUS_OK;
}

static enum status take_row(const struct tuned_row *row, struct candidate *candidate,
	bool *retuned_arguments, struct error *err)
{
	choice tuned[SPACE_PARAMETERS_MAX];

	if (retuned_arguments)
		*retuned_arguments = false;
	TRY(configuration_from_named_values(
		candidate->bound, &row->configuration, candidate->choices, err));
	if (!retuned_arguments) {
		TRY(configuration_expect_legal(candidate->bound, candidate->choices, err));
	} else {
		memcpy(tuned, candidate->choices, sizeof(tuned));
		TRY(retune_arguments(candidate, err));
		*retuned_arguments = memcmp(tuned, candidate->choices, sizeof(tuned)) != 0;
	}
	return predict_candidate(candidate, err);
}

enum status row_candidate_bound(struct bound_family *bound, const struct tuned_row *row,
	struct candidate *candidate, bool *retuned_arguments, struct error *err)
{
	*candidate = (struct candidate){.bound = bound};
	return take_row(row, candidate, retuned_arguments, err);
}

enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct tuned_row *row, struct candidate *candidate,
	bool *retuned_arguments, struct error *err)
{
	const struct family *family;
	enum status status;

	*candidate = (struct candidate){0};
	TRY(catalogue_family(catalogue, problem->operation, row->result.family, &family, err));
	status = family_bind_applicable(family, problem, device, &candidate->bound, err);
	if (status == STATUS_OK)
		status = take_row(row, candidate, retuned_arguments, err);
	if (status != STATUS_OK)
		candidate_release(candidate);
	return status;
}

enum status candidate_describe(
	const struct candidate *candidate, struct result *result, struct error *err)
{
	const struct bound_family *bound = candidate->bound;
	struct text configuration = {0};
	CLEANUP(predictor_close) struct predictor predictor = {0};
	struct prediction prediction;
	CLEANUP(build_release) struct build build = {0};

	*result = (struct result){.predicted = true};
	predictor_open(&predictor, bound);
	TRY(predict_choices(&predictor, candidate->choices, &prediction, err));
	TRY(candidate_build(bound, predictor.values, &build, err));
	configuration_format(bound, candidate->choices, &configuration);
	result->family = string_copy(bound->family->name);
	result->configuration = text_detach(&configuration);
	string_put(result->kernel_hash, sizeof(result->kernel_hash), build.kernel_hash);
	result->score = predictor_take_score(&predictor);
	result->launch_count = result->score.launch_count;
	result_add_samples(result, &candidate->prediction.time_us, 1);
	return STATUS_OK;
}

static struct value argument_value(const struct plan *plan, const struct plan_argument *argument)
{
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
		return value_string(string_copy(plan->buffers[argument->index].name));
	case ARGUMENT_TENSOR_MAP:
		return value_string(string_copy(plan->tensor_maps[argument->index].name));
	default:
		return dtype_is_float(argument_dtype(argument->kind))
			       ? value_real(argument->real)
			       : value_int(argument->integer);
	}
}

static struct tuned_launch launch_of(const struct plan *plan, const struct build *build,
	size_t index, const struct kernel_resources *resources)
{
	const struct plan_launch *from = &plan->launches[index];
	struct tuned_launch launch = {.source = string_copy(build->units[from->unit].name),
		.entry = string_copy(from->entry),
		.arguments = memory_zeroed(from->argument_count + 1, sizeof(struct value)),
		.argument_count = from->argument_count,
		.shape = from->shape,
		.smem_static_bytes = -1,
		.regs_per_thread = -1,
		.spill_bytes = -1,
		.blocks_per_sm = -1};

	for (size_t i = 0; i < from->argument_count; i++)
		launch.arguments[i] = argument_value(plan, &from->arguments[i]);
	if (!resources)
		return launch;
	launch.smem_static_bytes = resources[index].smem_static_bytes;
	launch.regs_per_thread = resources[index].regs_per_thread;
	launch.spill_bytes = resources[index].spill_store_bytes;
	launch.blocks_per_sm = resources[index].blocks_per_sm;
	return launch;
}

static int64_t largest_spill(const struct result *result)
{
	int64_t bytes = result->score.launch_count ? 0 : -1;

	for (size_t i = 0; result->resources && i < result->launch_count; i++)
		if (result->resources[i].spill_store_bytes > bytes)
			bytes = result->resources[i].spill_store_bytes;
	return bytes;
}

enum status row_describe(const struct candidate *candidate, const struct result *result,
	struct tuned_row *row, struct error *err)
{
	const struct bound_family *bound = candidate->bound;
	CLEANUP(memory_free) struct value *values = candidate_values(candidate, err);
	CLEANUP(plan_release) struct plan plan = {0};
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(name_set_release) struct name_set options = {0};
	const struct score *score = &result->score;
	const struct launch_score *longest =
		score->launch_count ? &score->launches[score->longest] : NULL;
	const double seconds = result->time.median * 1e-6;
	double flop = 0, bytes = 0;
	struct tuned_row borrowed;

	*row = (struct tuned_row){0};
	if (!values)
		return STATUS_FAILED;
	TRY(candidate_plan(bound, values, &plan, err));
	TRY(candidate_build(bound, values, &build, err));
	TRY(candidate_options(bound, values, &options, err));
	TRY(problem_flop(bound->problem, &flop, err));
	TRY(problem_min_bytes(bound->problem, &bytes, err));
	borrowed = (struct tuned_row){.result = *result,
		.options = options.items,
		.regs_per_thread = longest ? longest->regs_per_thread : -1,
		.smem_bytes = longest ? longest->smem_bytes : -1,
		.spill_bytes = largest_spill(result),
		.tflops = flop > 0 ? flop / seconds * 1e-12 : NAN,
		.gb_per_s = bytes > 0 ? bytes / seconds * 1e-9 : NAN,
		.workspace_bytes = (int64_t)plan.workspace_bytes,
		.workspaces = plan.buffers + plan.tensor_count,
		.workspace_count = plan.buffer_count - plan.tensor_count,
		.tensor_maps = plan.tensor_maps,
		.tensor_map_count = plan.tensor_map_count};
	record_copy(&tuned_row_record, &borrowed, row);
	row->defines = candidate_defines(bound, values);
	row->configuration = configuration_named_values(bound, candidate->choices);
	row->launches = memory_zeroed(plan.launch_count + 1, sizeof(*row->launches));
	row->launch_count = plan.launch_count;
	for (size_t i = 0; i < plan.launch_count; i++)
		row->launches[i] = launch_of(&plan, &build, i, result->resources);
	return STATUS_OK;
}

enum status row_predict(const struct candidate *candidate, struct tuned_row *row, struct error *err)
{
	CLEANUP(result_release) struct result result = {0};

	TRY(candidate_describe(candidate, &result, err));
	return row_describe(candidate, &result, row, err);
}

#define SWAP(a, b)                                                                                 \
	do {                                                                                       \
		__typeof__(a) kept_ = (a);                                                         \
		(a) = (b);                                                                         \
		(b) = kept_;                                                                       \
	} while (0)

enum status row_rebuild(const struct candidate *candidate, struct tuned_row *row, bool *is_rebuilt,
	struct error *err)
{
	CLEANUP(tuned_row_release) struct tuned_row now = {0};

	TRY(row_predict(candidate, &now, err));
	*is_rebuilt = *row->result.kernel_hash &&
		      strcmp(now.result.kernel_hash, row->result.kernel_hash) != 0;
	if (!*is_rebuilt && row->launch_count)
		return STATUS_OK;
	SWAP(row->defines, now.defines);
	SWAP(row->options, now.options);
	SWAP(row->launches, now.launches);
	SWAP(row->launch_count, now.launch_count);
	SWAP(row->workspaces, now.workspaces);
	SWAP(row->workspace_count, now.workspace_count);
	SWAP(row->workspace_bytes, now.workspace_bytes);
	SWAP(row->tensor_maps, now.tensor_maps);
	SWAP(row->tensor_map_count, now.tensor_map_count);
	memcpy(row->result.kernel_hash, now.result.kernel_hash, sizeof(row->result.kernel_hash));
	return STATUS_OK;
}
