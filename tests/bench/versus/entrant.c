/* SPDX-License-Identifier: MIT */
#include "bench/versus/entrant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/single.h"

enum {
	FEW_ROUNDS = 5,
	FEWEST_ROUNDS = 3,
};
static const double few_seconds = 0.1;

static bool run_entrant(
	const void *context, struct gpu_session *gpu, size_t set, struct failure *failure)
{
	return loaded_run(gpu, context, set, failure);
}

enum status entrant_data(struct stand *stand, const struct problem *problem,
	struct problem_data *data, struct error *err)
{
	struct build build = {0};
	enum status status;

	*data = (struct problem_data){0};
	status = problem_reference(
		&stand->catalogue, problem, stand->spec, &build, &data->reference, err);
	build_release(&build);
	return status;
}

/* Takes the plan. */
static enum status load(struct stand *stand, struct problem_data *data, struct entrant *entrant,
	const struct build *build, struct plan *plan, struct failure *failure, struct error *err)
{
	struct text *cubins = memory_zeroed(build->unit_count + 1, sizeof(*cubins));
	enum status status = STATUS_OK;

	for (size_t i = 0; i < build->unit_count && status == STATUS_OK; i++) {
		const struct stored_kernel *kernel;

		status = kernel_store_wait(stand->store, &build->units[i], &kernel, err);
		if (status == STATUS_OK)
			cubins[i] = kernel->cubin; /* borrowed */
	}
	if (status == STATUS_OK) {
		loaded_init(
			&stand->gpu, &entrant->loaded, 1, data, plan, cubins, build->unit_count);
		*failure = entrant->loaded.failure;
		entrant->contender = (struct contender){.run = run_entrant,
			.context = &entrant->loaded,
			.set_count = entrant->loaded.set_count};
	}
	free(cubins);
	return status;
}

static void leave_out(struct entrant *entrant, const struct failure *failure)
{
	entrant->left_out =
		string_format("%s: %s", outcome_name(failure->outcome), failure->detail);
}

enum status entrant_load(struct stand *stand, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct entrant *entrant,
	struct failure *failure, struct error *err)
{
	struct build build = {0};
	struct plan plan = {0};
	struct text text = {0};
	struct value *slots = NULL;
	const struct bound_family *bound;
	struct error reason = {0};
	enum status status;

	*entrant = (struct entrant){.us = INFINITY};
	*failure = (struct failure){.outcome = OUTCOME_OK};
	status = single_open(&stand->catalogue, problem, stand->spec, row, &entrant->pool, err);
	if (status != STATUS_OK)
		return status;
	bound = entrant->pool.families[0].bound;
	entrant->family = family_name(bound->family);
	configuration_format(bound, candidates_configuration(&entrant->pool, 0), &text);
	entrant->configuration = text_detach(&text);
	slots = candidates_values(&entrant->pool, 0, err);
	status = slots ? candidate_plan(bound, slots, &plan, err) : STATUS_BAD_INPUT;
	if (status == STATUS_OK)
		status = candidate_build(bound, slots, &build, err);
	if (status == STATUS_OK &&
		load(stand, data, entrant, &build, &plan, failure, &reason) != STATUS_OK)
		entrant->left_out = string_copy(reason.message);
	else if (status == STATUS_OK && failure->outcome != OUTCOME_OK)
		leave_out(entrant, failure);
	plan_release(&plan);
	build_release(&build);
	free(slots);
	return status;
}

enum status entrant_open(struct stand *stand, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct entrant *entrant,
	struct failure *failure, struct error *err)
{
	enum status status = entrant_load(stand, problem, data, row, entrant, failure, err);

	if (status != STATUS_OK || entrant->left_out)
		return status;
	if (race_prepare(&stand->gpu, &entrant->contender, failure))
		entrant->us = entrant->contender.estimate_us;
	else
		leave_out(entrant, failure);
	return STATUS_OK;
}

void entrant_release(struct stand *stand, struct entrant *entrant)
{
	contender_release(&stand->gpu, &entrant->contender);
	if (entrant->loaded.problem)
		loaded_release(&stand->gpu, &entrant->loaded);
	candidates_release(&entrant->pool);
	free(entrant->configuration);
	free(entrant->left_out);
	*entrant = (struct entrant){0};
}

struct entrant *entrants_best(struct entrant *entrants, size_t count, const char *family)
{
	struct entrant *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (isfinite(entrants[i].us) &&
			(!family || strcmp(entrants[i].family, family) == 0) &&
			(!best || entrants[i].us < best->us))
			best = &entrants[i];
	return best;
}

bool entrants_race(struct stand *stand, struct entrant *entrants, size_t count, double far,
	struct failure *failure)
{
	struct contender *running[RACE_CONTENDERS_MAX] = {NULL};
	const struct entrant *first = entrants_best(entrants, count, NULL);
	double limit_us = first ? far * first->us : 0;
	size_t racing = 0;

	for (size_t i = 0; i < count && racing < RACE_CONTENDERS_MAX; i++)
		if (entrants[i].us <= limit_us)
			running[racing++] = &entrants[i].contender;
	if (!race_rounds(
		    &stand->gpu, running, racing, FEWEST_ROUNDS, FEW_ROUNDS, few_seconds, failure))
		return false;
	for (size_t i = 0; i < count; i++)
		if (entrants[i].contender.sample_count)
			entrants[i].us = race_median_us(&entrants[i].contender);
	return true;
}

struct json *entrant_json(const struct entrant *entrant)
{
	struct json *json = json_new_object();

	json_put_string(json, "family", entrant->family);
	json_put_string(json, "configuration", entrant->configuration);
	json_put_double(json, "us", entrant->us);
	if (entrant->left_out)
		json_put_string(json, "left_out", entrant->left_out);
	return json;
}
