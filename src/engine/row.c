/* SPDX-License-Identifier: MIT */
#include "engine/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/composite.h"
#include "candidate/configuration.h"
#include "family/family.h"
#include "engine/steps.h"
#include "learn/prediction.h"

static enum status bind(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidate *candidate,
	struct error *err)
{
	const struct family *family;
	const char *name;
	enum status status = json_member_string(row, "family", &name, err);

	*candidate = (struct candidate){0};
	if (status == STATUS_OK)
		status = catalogue_family(catalogue, problem->operation, name, &family, err);
	if (status == STATUS_OK)
		status = family_bind_applicable(family, problem, device, &candidate->bound, err);
	return status;
}

/* The steps as the row has them; for another problem theirs differ, and must be legal there. */
static enum status choose_steps(const struct catalogue *catalogue, struct bound_family *bound,
	const struct json_at *row, struct error *err)
{
	struct json_at steps;
	enum status status = composite_open(catalogue, bound, err);

	if (status == STATUS_OK)
		status = json_member(row, "steps", &steps, err);
	if (status == STATUS_OK && json_count(&steps) != bound->composite->step_count)
		status = json_error(&steps, err, "%zu steps", bound->composite->step_count);
	for (size_t i = 0; status == STATUS_OK && i < bound->composite->step_count; i++) {
		struct json_at step = json_item(&steps, i), configuration;
		const char *family;

		status = json_member_string(&step, "family", &family, err);
		if (status == STATUS_OK)
			status = json_member(&step, "configuration", &configuration, err);
		if (status == STATUS_OK)
			status = composite_choose_json(
				catalogue, bound, i, family, &configuration, err);
	}
	return status;
}

static enum status read_choices(
	const struct json_at *row, struct candidate *candidate, struct error *err)
{
	struct json_at configuration;
	enum status status = json_member(row, "configuration", &configuration, err);

	return status == STATUS_OK ? configuration_from_json(candidate->bound, &configuration,
					     candidate->choices, err)
				   : status;
}

/* The end of both: predicted, or released. */
static enum status finish(enum status status, struct candidate *candidate, struct error *err)
{
	if (status == STATUS_OK)
		status = predict_candidate(candidate, NULL, err);
	if (status != STATUS_OK)
		candidate_release(candidate);
	return status;
}

enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidate *candidate,
	struct error *err)
{
	enum status status = bind(catalogue, problem, device, row, candidate, err);

	if (status == STATUS_OK && family_is_composite(candidate->bound->family))
		status = choose_steps(catalogue, candidate->bound, row, err);
	if (status == STATUS_OK)
		status = read_choices(row, candidate, err);
	if (status == STATUS_OK)
		status = configuration_expect_legal(candidate->bound, candidate->choices, err);
	return finish(status, candidate, err);
}

/* ---- launch arguments chosen anew ---- */
/* Less than the model can tell apart is no reason to leave what was measured. */
static const double worth_it_ratio = 0.97;

struct refit {
	const struct bound_family *bound;
	struct predictor predictor;
	choice now[SPACE_PARAMETERS_MAX], best[SPACE_PARAMETERS_MAX];
	double best_us;
};

/* Infinite where it is not legal. */
static enum status predict_now(struct refit *refit, double *predicted_us, struct error *err)
{
	struct prediction prediction = {.time_us = INFINITY};
	int violated = -1;
	enum status status = space_examine_choices(
		refit->bound->space, refit->now, refit->predictor.slots, &violated, err);

	if (status == STATUS_OK && violated < 0)
		status = predict(&refit->predictor, refit->predictor.slots, NULL, &prediction, err);
	*predicted_us = prediction.time_us;
	return status;
}

/* All values of the arguments from parameter `from` on. */
static enum status walk(struct refit *refit, size_t from, struct error *err)
{
	const struct space *space = refit->bound->space;
	const size_t count = space_parameter_count(space);
	double predicted_us;
	enum status status = STATUS_OK;

	while (from < count && !refit->bound->family->parameters[from].is_argument)
		from++;
	if (from == count) {
		status = predict_now(refit, &predicted_us, err);
		if (status == STATUS_OK && predicted_us < refit->best_us) {
			refit->best_us = predicted_us;
			memcpy(refit->best, refit->now, sizeof(refit->best));
		}
		return status;
	}
	for (size_t i = 0; i < space_parameter_values(space, from)->count && status == STATUS_OK;
		i++) {
		refit->now[from] = (choice)i;
		status = walk(refit, from + 1, err);
	}
	return status;
}

/* Moves choices to those with other values of the launch's arguments, where they are predicted
 * faster by 3% or more, or where choices themselves are not legal. *found false: none is legal. */
static enum status refit_arguments(struct candidate *candidate, bool *found, struct error *err)
{
	struct refit refit = {.bound = candidate->bound, .best_us = INFINITY};
	double tuned_us;
	enum status status;

	predictor_open(&refit.predictor, candidate->bound, NULL);
	memcpy(refit.now, candidate->choices, sizeof(refit.now));
	status = predict_now(&refit, &tuned_us, err);
	if (status == STATUS_OK)
		status = walk(&refit, 0, err);
	*found = isfinite(refit.best_us);
	if (status == STATUS_OK && *found &&
		!(isfinite(tuned_us) && refit.best_us >= tuned_us * worth_it_ratio))
		memcpy(candidate->choices, refit.best, sizeof(refit.best));
	predictor_close(&refit.predictor);
	return status;
}

enum status row_candidate_refitted(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidate *candidate,
	bool *refitted, struct error *err)
{
	choice tuned[SPACE_PARAMETERS_MAX];
	bool found = false;
	enum status status = bind(catalogue, problem, device, row, candidate, err);

	*refitted = false;
	if (status == STATUS_OK && family_is_composite(candidate->bound->family)) {
		candidate_release(candidate);
		return row_candidate(catalogue, problem, device, row, candidate, err);
	}
	if (status == STATUS_OK)
		status = read_choices(row, candidate, err);
	memcpy(tuned, candidate->choices, sizeof(tuned));
	if (status == STATUS_OK)
		status = refit_arguments(candidate, &found, err);
	/* says which constraint, or that the model sees no block that fits: an infinite time */
	if (status == STATUS_OK && !found)
		status = configuration_expect_legal(candidate->bound, candidate->choices, err);
	*refitted = memcmp(tuned, candidate->choices, sizeof(tuned)) != 0;
	return finish(status, candidate, err);
}

enum status candidate_describe(
	const struct candidate *candidate, struct evaluation *evaluation, struct error *err)
{
	const struct bound_family *bound = candidate->bound;
	struct text configuration = {0};
	struct predictor predictor;
	struct prediction prediction;
	struct build build = {0};
	enum status status;

	*evaluation = (struct evaluation){.predicted = true};
	predictor_open(&predictor, bound, NULL);
	status = predict_choices(&predictor, candidate->choices, &prediction, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, predictor.slots, &build, err);
	if (status == STATUS_OK) {
		configuration_format(bound, candidate->choices, &configuration);
		evaluation->family = string_copy(family_name(bound->family));
		evaluation->configuration = text_detach(&configuration);
		string_put(evaluation->kernel_hash, sizeof(evaluation->kernel_hash),
			build.kernel_hash);
		evaluation->score = predictor_take_score(&predictor);
		evaluation->launch_count = evaluation->score.launch_count;
		evaluation_add_samples(evaluation, &candidate->prediction.time_us, 1);
	}
	predictor_close(&predictor);
	build_release(&build);
	return status;
}

/* ---- from a candidate to a row ---- */
static struct json *argument_json(const struct plan *plan, const struct plan_argument *argument)
{
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
		return json_new_string(plan->buffers[argument->index].name);
	case ARGUMENT_TENSOR_MAP:
		return json_new_string(plan->tensor_maps[argument->index].name);
	case ARGUMENT_FLOAT32:
		return json_new_double(argument->real);
	default:
		return json_new_int(argument->integer);
	}
}

static struct json *dimensions_json(const uint32_t dimensions[3])
{
	struct json *list = json_new_array();

	for (int i = 0; i < 3; i++)
		json_push(list, json_new_int(dimensions[i]));
	return list;
}

static struct json *launch_json(const struct plan *plan, const struct build *build, size_t index,
	const struct kernel_resources *resources)
{
	const struct plan_launch *launch = &plan->launches[index];
	struct json *json = json_new_object(), *arguments = json_new_array();

	json_put_string(json, "source", build->units[launch->unit].name);
	json_put_string(json, "entry", launch->entry);
	json_put(json, "grid", dimensions_json(launch->grid));
	json_put(json, "block", dimensions_json(launch->block));
	json_put(json, "cluster", dimensions_json(launch->cluster));
	for (size_t i = 0; i < launch->argument_count; i++)
		json_push(arguments, argument_json(plan, &launch->arguments[i]));
	json_put(json, "args", arguments);
	json_put_int(json, "smem_dynamic_bytes", launch->smem_dynamic_bytes);
	if (launch->repeat > 1)
		json_put_int(json, "repeat", launch->repeat);
	if (!resources)
		return json;
	json_put_int(json, "smem_static_bytes", resources[index].smem_static_bytes);
	json_put_int(json, "regs_per_thread", resources[index].regs_per_thread);
	json_put_int(json, "spill_bytes", resources[index].spill_store_bytes);
	json_put_int(json, "blocks_per_sm", resources[index].blocks_per_sm);
	return json;
}

static void put_resources(struct json *json, const struct evaluation *evaluation)
{
	const struct launch_score *longest = &evaluation->score.launches[evaluation->score.longest];
	int64_t spill = 0;
	struct json *flags = json_new_array();

	for (size_t i = 0; evaluation->resources && i < evaluation->launch_count; i++)
		if (evaluation->resources[i].spill_store_bytes > spill)
			spill = evaluation->resources[i].spill_store_bytes;
	json_put_int(json, "regs_per_thread", longest->regs_per_thread);
	json_put_int(json, "smem_bytes", longest->smem_bytes);
	json_put_int(json, "spill_bytes", spill);
	for (int flag = 0; flag < FLAG_COUNT; flag++)
		if (evaluation->flags & 1u << flag)
			json_push(flags, json_new_string(kernel_flag_name((enum kernel_flag)flag)));
	json_put(json, "flags", flags);
}

static struct json *errors_json(const struct verification *verification)
{
	struct json *json = json_new_object();

	json_put_bool(json, "verified", verification->done);
	if (!verification->done)
		return json;
	json_put_int(json, "points", (int64_t)verification->points);
	json_put_int(json, "violations", (int64_t)verification->violations);
	json_put_double(json, "max_abs_error", verification->max_abs_error);
	json_put_double(json, "max_rel_error", verification->max_rel_error);
	return json;
}

static void put_buffers(struct json *json, const struct plan *plan)
{
	struct json *whole = plan_to_json(plan), *workspaces = json_new_array();
	struct json_at at = json_root(whole, "plan"), maps;

	json_put_int(json, "workspace_bytes", (int64_t)plan->workspace_bytes);
	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++) {
		static const char *const inits[] = {"none", "once", "each"};
		struct json *workspace = json_new_object();

		json_put_string(workspace, "name", plan->buffers[i].name);
		json_put_int(workspace, "bytes", (int64_t)plan->buffers[i].bytes);
		json_put_string(workspace, "init", inits[plan->buffers[i].init]);
		json_push(workspaces, workspace);
	}
	json_put(json, "workspaces", workspaces);
	if (plan->tensor_map_count && json_find(&at, "tensor_maps", &maps))
		json_put(json, "tensor_maps", json_copy(maps.node));
	json_free(whole);
}

enum status row_to_json(const struct candidate *candidate, const struct evaluation *evaluation,
	struct json **row, struct error *err)
{
	const struct bound_family *bound = candidate->bound;
	struct value *slots = candidate_values(candidate, err);
	struct plan plan = {0};
	struct build build = {0};
	struct json *json = json_new_object(), *launches = json_new_array(), *steps = NULL;
	double flop = 0, bytes = 0, seconds = evaluation->time.median * 1e-6;
	enum status status = slots ? STATUS_OK : STATUS_FAILED;

	if (status == STATUS_OK)
		status = candidate_plan(bound, slots, &plan, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, slots, &build, err);
	if (status == STATUS_OK)
		status = problem_flop(bound->problem, &flop, err);
	if (status == STATUS_OK)
		status = problem_min_bytes(bound->problem, &bytes, err);
	if (status == STATUS_OK && bound->composite)
		status = steps_to_json(bound, &steps, err);
	if (status != STATUS_OK)
		goto cleanup;
	json_put_string(json, "family", evaluation->family);
	json_put(json, "configuration", configuration_to_json(bound, candidate->choices));
	if (steps)
		json_put(json, "steps", steps);
	else
		json_put(json, "defines", candidate_defines(bound, slots));
	for (size_t i = 0; i < plan.launch_count; i++)
		json_push(launches, launch_json(&plan, &build, i, evaluation->resources));
	json_put(json, "launches", launches);
	launches = NULL;
	json_put(json, "time_us", tuned_time_json(&evaluation->time));
	json_put_double(json, "tflops", flop / seconds * 1e-12);
	json_put_double(json, "gb_per_s", bytes / seconds * 1e-9);
	put_resources(json, evaluation);
	put_buffers(json, &plan);
	json_put(json, "score", score_to_json(&evaluation->score));
	json_put_string(json, "kernel_hash", evaluation->kernel_hash);
	json_put(json, "errors", errors_json(&evaluation->verification));
	*row = json;
	json = NULL;
cleanup:
	json_free(json);
	json_free(launches);
	plan_release(&plan);
	build_release(&build);
	free(slots);
	return status;
}
