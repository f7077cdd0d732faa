/* SPDX-License-Identifier: MIT */
#include "bench/versus/loaded_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/problem_reference.h"
#include "candidate/candidate.h"
#include "row_json.h"

enum {
	FEW_ROUNDS = 5,
	FEWEST_ROUNDS = 3,
};
static const double few_seconds = 0.1;

static bool run_entrant(const void *context, struct gpu_session *gpu, size_t set)
{
	return loaded_run(gpu, context, set);
}

enum status loaded_row_data(struct setup *setup, const struct problem *problem,
	struct problem_data *data, struct error *err)
{
	struct build build = {0};
	enum status status;

	*data = (struct problem_data){0};
	status = problem_reference(problem, NULL, setup->spec, &build, &data->told.reference, err);
	build_release(&build);
	return status;
}

/* Takes the plan. */
static enum status load(struct setup *setup, struct problem_data *data,
	struct loaded_row *loaded_row, const struct build *build, struct plan *plan,
	struct error *err)
{
	struct text *cubins = memory_zeroed(build->unit_count + 1, sizeof(*cubins));
	enum status status = STATUS_OK;

	for (size_t i = 0; i < build->unit_count && status == STATUS_OK; i++) {
		const struct compile_result *kernel;

		status = kernel_store_wait(setup->store, &build->units[i], &kernel, err);
		if (status == STATUS_OK)
			cubins[i] = kernel->cubin; /* borrowed */
	}
	if (status == STATUS_OK) {
		loaded_init(
			&setup->gpu, &loaded_row->loaded, data, plan, cubins, build->unit_count);
		setup->gpu.failure = loaded_row->loaded.failure;
		loaded_row->timed_run = (struct timed_run){.run = run_entrant,
			.context = &loaded_row->loaded,
			.set_count = loaded_row->loaded.set_count};
	}
	free(cubins);
	return status;
}

static void leave_out(const struct setup *setup, struct loaded_row *loaded_row)
{
	const struct failure *failure = &setup->gpu.failure;

	loaded_row->left_out =
		string_format("%s: %s", outcome_name(failure->outcome), failure->detail);
}

enum status loaded_row_load(struct setup *setup, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct loaded_row *loaded_row,
	struct error *err)
{
	struct build build = {0};
	struct plan plan = {0};
	struct text text = {0};
	struct value *slots = NULL;
	const struct bound_family *bound;
	struct error reason = {0};
	enum status status;

	*loaded_row = (struct loaded_row){.us = INFINITY};
	setup->gpu.failure = (struct failure){.outcome = OUTCOME_OK};
	status = row_candidate_from_json(
		&setup->catalogue, problem, setup->spec, row, &loaded_row->candidate, err);
	if (status != STATUS_OK)
		return status;
	bound = loaded_row->candidate.bound;
	loaded_row->family = bound->family->name;
	configuration_format(bound, loaded_row->candidate.choices, &text);
	loaded_row->configuration = text_detach(&text);
	slots = candidate_values(&loaded_row->candidate, err);
	status = slots ? candidate_plan(bound, slots, &plan, err) : STATUS_BAD_INPUT;
	if (status == STATUS_OK)
		status = candidate_build(bound, slots, &build, err);
	if (status == STATUS_OK &&
		load(setup, data, loaded_row, &build, &plan, &reason) != STATUS_OK)
		loaded_row->left_out = string_copy(reason.message);
	else if (status == STATUS_OK && setup->gpu.failure.outcome != OUTCOME_OK)
		leave_out(setup, loaded_row);
	plan_release(&plan);
	build_release(&build);
	free(slots);
	return status;
}

enum status loaded_row_open(struct setup *setup, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct loaded_row *loaded_row,
	struct error *err)
{
	enum status status = loaded_row_load(setup, problem, data, row, loaded_row, err);

	if (status != STATUS_OK || loaded_row->left_out)
		return status;
	if (interleaved_prepare(&setup->gpu, &loaded_row->timed_run))
		loaded_row->us = loaded_row->timed_run.estimate_us;
	else
		leave_out(setup, loaded_row);
	return STATUS_OK;
}

void loaded_row_release(struct setup *setup, struct loaded_row *loaded_row)
{
	timed_run_release(&setup->gpu, &loaded_row->timed_run);
	if (loaded_row->loaded.problem)
		loaded_release(&setup->gpu, &loaded_row->loaded);
	candidate_release(&loaded_row->candidate);
	free(loaded_row->configuration);
	free(loaded_row->left_out);
	*loaded_row = (struct loaded_row){0};
}

struct loaded_row *loaded_rows_best(
	struct loaded_row *loaded_rows, size_t count, const char *family)
{
	struct loaded_row *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (isfinite(loaded_rows[i].us) &&
			(!family || strcmp(loaded_rows[i].family, family) == 0) &&
			(!best || loaded_rows[i].us < best->us))
			best = &loaded_rows[i];
	return best;
}

bool loaded_rows_interleave(
	struct setup *setup, struct loaded_row *loaded_rows, size_t count, double far)
{
	struct timed_run *running[ROWS_AT_ONCE_MAX] = {NULL};
	const struct loaded_row *first = loaded_rows_best(loaded_rows, count, NULL);
	double limit_us = first ? far * first->us : 0;
	size_t timed = 0;

	for (size_t i = 0; i < count && timed < ROWS_AT_ONCE_MAX; i++)
		if (loaded_rows[i].us <= limit_us)
			running[timed++] = &loaded_rows[i].timed_run;
	if (!interleaved_rounds(
		    &setup->gpu, running, timed, FEWEST_ROUNDS, FEW_ROUNDS, few_seconds))
		return false;
	for (size_t i = 0; i < count; i++)
		if (loaded_rows[i].timed_run.sample_count)
			loaded_rows[i].us = interleaved_median_us(&loaded_rows[i].timed_run);
	return true;
}

struct json *loaded_row_json(const struct loaded_row *loaded_row)
{
	struct json *json = json_new_object();

	json_put_string(json, "family", loaded_row->family);
	json_put_string(json, "configuration", loaded_row->configuration);
	json_put_double(json, "us", loaded_row->us);
	if (loaded_row->left_out)
		json_put_string(json, "left_out", loaded_row->left_out);
	return json;
}
