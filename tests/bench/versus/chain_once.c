/* SPDX-License-Identifier: MIT */
#include "bench/versus/chain_once.h"

#include <stdlib.h>

#include "base/memory.h"
#include "bench/versus/chain_choice.h"
#include "bench/versus/loaded_row.h"

static struct json *facts_json(
	const struct bound_family *bound, const struct loaded_row *loaded_row, struct error *err)
{
	struct value *slots = candidate_values(&loaded_row->candidate, err);
	const struct plan *plan = &loaded_row->loaded.plan;
	struct json *json = json_new_object();
	struct fact_list facts = {0};

	if (slots)
		candidate_facts(
			bound, slots, plan->launches[0].shape.smem_dynamic_bytes, 1, &facts, err);
	for (size_t i = 0; i < facts.count; i++)
		if (facts.items[i].value.type == VALUE_INT)
			json_put_int(json, facts.items[i].name, facts.items[i].value.integer);
		else if (facts.items[i].value.type == VALUE_REAL)
			json_put_double(json, facts.items[i].name, facts.items[i].value.real);
	fact_list_release(&facts);
	free(slots);
	return json;
}

static enum status run_row(struct setup *setup, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct json *rows, struct error *err)
{
	struct loaded_row loaded_row;
	enum status status = loaded_row_load(setup, problem, data, row, &loaded_row, err);
	const struct plan *plan = &loaded_row.loaded.plan;

	if (status == STATUS_OK &&
		(loaded_row.left_out || !loaded_run(&setup->gpu, &loaded_row.loaded, 0) ||
			!gpu_synchronize(&setup->gpu, "a run")))
		status = error_set(err, STATUS_FAILED, "%s {%s}: %s", loaded_row.family,
			loaded_row.configuration,
			loaded_row.left_out ? loaded_row.left_out : setup->gpu.failure.detail);
	for (size_t i = 0; status == STATUS_OK && i < plan->launch_count; i++) {
		struct json *json = json_new_object();

		json_put_string(json, "problem", problem->text);
		json_put_string(json, "family", loaded_row.family);
		json_put_string(json, "configuration", loaded_row.configuration);
		json_put_string(json, "kernel", plan->launches[i].entry);
		json_put(json, "facts", facts_json(loaded_row.candidate.bound, &loaded_row, err));
		json_push(rows, json);
	}
	if (!setup->gpu.failure.fatal)
		loaded_row_release(setup, &loaded_row);
	return status;
}

static enum status run_rows(struct setup *setup, const char *operation, const struct json_at *at,
	struct json *rows, struct error *err)
{
	struct problem *problem = NULL;
	struct problem_data data = {0};
	struct json_at list;
	const char *text;
	enum status status = json_member_string(at, "problem", &text, err);

	if (status == STATUS_OK)
		status = json_member(at, "candidates", &list, err);
	if (status == STATUS_OK)
		status = chain_problem(&setup->catalogue, operation, text, &problem, err);
	if (status == STATUS_OK)
		status = loaded_row_data(setup, problem, &data, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&list); i++) {
		struct json_at row = json_item(&list, i);

		status = run_row(setup, problem, &data, &row, rows, err);
	}
	if (!setup->gpu.failure.fatal)
		problem_data_release(&setup->gpu, &data);
	problem_free(problem);
	return status;
}

enum status chain_once(struct setup *setup, const struct json_at *chosen, struct json *rows,
	bool *fatal, struct error *err)
{
	struct json_at steps;
	enum status status = run_rows(setup, "gemm_chain", chosen, rows, err);

	if (status == STATUS_OK)
		status = json_member(chosen, "steps", &steps, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&steps); i++) {
		struct json_at step = json_item(&steps, i);

		status = run_rows(setup, "gemm", &step, rows, err);
	}
	*fatal = setup->gpu.failure.fatal;
	return status;
}
