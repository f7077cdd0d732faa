/* SPDX-License-Identifier: MIT */
#include "candidate/composite.h"
#include "bench/versus/chain_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/candidates.h"
#include "score/prediction.h"
#include "row_json.h"
#include "family/catalogue.h"

enum {
	CHAIN_PER_FAMILY = 4,
	GEMM_PER_FAMILY = 2,
	CHOSEN_MAX = 16,
	LOOKED_AT_MAX = 5000, /* of the model's best */
};

enum status chain_problem(const struct catalogue *catalogue, const char *operation,
	const char *text, struct problem **problem, struct error *err)
{
	const struct operation *found;
	struct problem_list list = {0};
	enum status status = catalogue_operation(catalogue, operation, &found, err);

	if (status == STATUS_OK)
		status = problem_parse(found, text, &list, err);
	if (status == STATUS_OK && list.count != 1)
		status = error_set(err, STATUS_BAD_INPUT, "%s: expected one problem, found %zu",
			text, list.count);
	if (status == STATUS_OK) {
		*problem = list.items[0];
		list.count = 0;
	}
	problem_list_release(&list);
	return status;
}

static bool is_default(const struct candidate *candidate)
{
	const struct bound_family *bound = candidate->bound;
	choice choices[SPACE_PARAMETERS_MAX];
	bool found = false;

	return configuration_default(bound, choices, &found, NULL) == STATUS_OK && found &&
	       memcmp(choices, candidate->choices,
		       bound->space->parameter_count * sizeof(*choices)) == 0;
}

static struct json *row_json(const struct candidate *candidate)
{
	struct json *row = json_new_object();
	struct named_values values;

	json_put_string(row, "family", candidate->bound->family->name);
	values = configuration_named_values(candidate->bound, candidate->choices);
	json_put(row, "configuration", named_values_to_json(&values));
	named_values_release(&values);
	return row;
}

/* By the model's time; the pool borrows the array. */
static int compare_times(const void *a, const void *b, void *predicted_us)
{
	const double x = ((const double *)predicted_us)[*(const size_t *)a];
	const double y = ((const double *)predicted_us)[*(const size_t *)b];

	return (x > y) - (x < y);
}

/* The fastest by the model: of each family the default and others of unlike numbers of tiles. */
static enum status take(
	const struct candidates *pool, size_t per_family, struct json *rows, struct error *err)
{
	CLEANUP(memory_free) size_t *order = memory_zeroed(pool->count + 1, sizeof(*order));
	struct candidate taken[CHOSEN_MAX];
	size_t count = 0;

	for (size_t i = 0; i < pool->count; i++)
		order[i] = i;
	qsort_r(order, pool->count, sizeof(*order), compare_times, pool->predicted_us);
	for (size_t i = 0; i < pool->count && i < LOOKED_AT_MAX && count < CHOSEN_MAX; i++) {
		struct candidate candidate = candidates_at(pool, order[i]);
		bool wanted = true;
		size_t alike = 0;

		if (predict_candidate(&candidate, err) != STATUS_OK)
			return STATUS_FAILED;
		for (size_t k = 0; k < count; k++) {
			if (taken[k].bound != candidate.bound)
				continue;
			alike++;
			wanted = wanted && fabs(taken[k].prediction.units -
						   candidate.prediction.units) >= 0.5;
		}
		if (!is_default(&candidate) && (!wanted || alike >= per_family))
			continue;
		taken[count++] = candidate;
		json_push(rows, row_json(&candidate));
	}
	return STATUS_OK;
}

static enum status choose_rows(const struct context *context, const struct problem *problem,
	size_t per_family, struct json **rows, struct error *err)
{
	const struct candidates_options options = {.score = true};
	CLEANUP(candidates_release) struct candidates pool = {0};

	*rows = json_new_array();
	if (candidates_open(&context->catalogue, problem, context->device->spec, &options, &pool,
		    err) == STATUS_OK &&
		take(&pool, per_family, *rows, err) == STATUS_OK)
		return STATUS_OK;
	json_free(*rows);
	*rows = NULL;
	return STATUS_FAILED;
}

static enum status choose_steps(const struct context *context, const struct problem *problem,
	struct json *steps, struct error *err)
{
	const struct family *family;
	struct bound_family *bound = NULL;
	enum status status = catalogue_family(
		&context->catalogue, problem->operation, "gemm_chain/separate", &family, err);

	if (status == STATUS_OK)
		status = family_bind(family, problem, context->device->spec, NULL, &bound, err);
	for (size_t i = 0; status == STATUS_OK && i < family->step_count; i++) {
		const struct problem *step = bound->composite->steps[i].problem;
		struct json *rows = NULL, *json;

		status = choose_rows(context, step, GEMM_PER_FAMILY, &rows, err);
		if (status == STATUS_OK) {
			json = json_new_object();
			json_put_string(json, "problem", step->text);
			json_put(json, "candidates", rows);
			json_push(steps, json);
		}
	}
	bound_family_free(bound);
	return status;
}

enum status chain_choose(const struct context *context, const struct problem *problem,
	struct json **chosen, struct error *err)
{
	struct json *rows = NULL, *steps = json_new_array();
	enum status status = choose_rows(context, problem, CHAIN_PER_FAMILY, &rows, err);

	if (status == STATUS_OK)
		status = choose_steps(context, problem, steps, err);
	if (status != STATUS_OK) {
		json_free(rows);
		json_free(steps);
		return status;
	}
	*chosen = json_new_object();
	json_put_string(*chosen, "problem", problem->text);
	json_put(*chosen, "candidates", rows);
	json_put(*chosen, "steps", steps);
	return STATUS_OK;
}

static enum status request_row(const struct catalogue *catalogue, const struct device_spec *device,
	struct kernel_store *store, const struct problem *problem, const struct json_at *row,
	struct error *err)
{
	struct candidate candidate;
	struct value *slots;
	struct build build = {0};
	enum status status =
		row_candidate_from_json(catalogue, problem, device, row, &candidate, err);

	if (status != STATUS_OK)
		return status;
	slots = candidate_values(&candidate, err);
	status = slots ? candidate_build(candidate.bound, slots, &build, err) : STATUS_BAD_INPUT;
	for (size_t i = 0; status == STATUS_OK && i < build.unit_count; i++) {
		const struct compile_result *kernel;

		status = kernel_store_request(store, &build.units[i], &kernel, err);
	}
	build_release(&build);
	free(slots);
	candidate_release(&candidate);
	return status;
}

static enum status request_rows(const struct catalogue *catalogue, const struct device_spec *device,
	struct kernel_store *store, const char *operation, const struct json_at *at,
	struct error *err)
{
	struct problem *problem = NULL;
	struct json_at rows;
	const char *text;
	enum status status = json_member_string(at, "problem", &text, err);

	if (status == STATUS_OK)
		status = chain_problem(catalogue, operation, text, &problem, err);
	if (status == STATUS_OK)
		status = json_member(at, "candidates", &rows, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&rows); i++) {
		struct json_at row = json_item(&rows, i);

		status = request_row(catalogue, device, store, problem, &row, err);
	}
	problem_free(problem);
	return status;
}

enum status chain_request(const struct catalogue *catalogue, const struct device_spec *device,
	struct kernel_store *store, const struct json_at *chosen, struct error *err)
{
	struct json_at steps;
	enum status status = request_rows(catalogue, device, store, "gemm_chain", chosen, err);

	if (status == STATUS_OK)
		status = json_member(chosen, "steps", &steps, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&steps); i++) {
		struct json_at step = json_item(&steps, i);

		status = request_rows(catalogue, device, store, "gemm", &step, err);
	}
	return status;
}
