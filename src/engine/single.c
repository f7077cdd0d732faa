/* SPDX-License-Identifier: MIT */
#include "engine/single.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/composite.h"
#include "engine/refit.h"

enum status single_from_choices(const struct problem *problem, const struct device_spec *device,
	struct bound_family *bound, const choice *choices, struct candidates *pool,
	struct error *err)
{
	size_t parameters = space_parameter_count(bound->space);
	struct family_candidates *family = memory_zeroed(1, sizeof(*family));
	enum status status;

	*family = (struct family_candidates){.bound = bound,
		.configurations = memory_zeroed(parameters + 1, sizeof(choice)),
		.count = 1,
		.parameter_count = parameters,
		.product = space_product(bound->space)};
	memcpy(family->configurations, choices, parameters * sizeof(*choices));
	*pool = (struct candidates){.problem = problem,
		.device = device,
		.families = family,
		.family_count = 1,
		.count = 1,
		.predicted_us = memory_zeroed(1, sizeof(double)),
		.family_of = memory_zeroed(1, sizeof(uint32_t))};
	status = predict_once(bound, choices, NULL, &pool->predicted_us[0], err);
	if (status != STATUS_OK)
		candidates_release(pool);
	return status;
}

static enum status bind(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct bound_family **bound,
	struct error *err)
{
	const struct family *family;
	struct text why = {0};
	const char *name;
	bool applies = true;
	enum status status = json_member_string(row, "family", &name, err);

	if (status == STATUS_OK)
		status = catalogue_family(catalogue, problem->operation, name, &family, err);
	if (status == STATUS_OK)
		status = family_applies(family, problem, device, &applies, &why, err);
	if (status == STATUS_OK && !applies)
		status = error_set(err, STATUS_BAD_INPUT, "%s does not apply: needs %s", name,
			text_string(&why));
	if (status == STATUS_OK)
		status = family_bind(family, problem, device, NULL, bound, err);
	text_release(&why);
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

static enum status read_choices(const struct bound_family *bound, const struct json_at *row,
	choice *choices, struct error *err)
{
	struct value *slots = memory_zeroed(space_slot_count(bound->space), sizeof(*slots));
	struct json_at configuration;
	int violated = -1;
	enum status status = json_member(row, "configuration", &configuration, err);

	if (status == STATUS_OK)
		status = configuration_from_json(bound, &configuration, choices, err);
	if (status == STATUS_OK)
		status = space_examine_choices(bound->space, choices, slots, &violated, err);
	if (status == STATUS_OK && violated >= 0)
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a configuration that is legal here, found one that violates "
			"\"%s\" (%s)",
			family_name(bound->family),
			space_constraint_text(bound->space, (size_t)violated),
			space_constraint_why(bound->space, (size_t)violated));
	free(slots);
	return status;
}

enum status single_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidates *pool,
	struct error *err)
{
	struct bound_family *bound = NULL;
	choice choices[SPACE_PARAMETERS_MAX];
	enum status status = bind(catalogue, problem, device, row, &bound, err);

	*pool = (struct candidates){0};
	if (status == STATUS_OK && family_is_composite(bound->family))
		status = choose_steps(catalogue, bound, row, err);
	if (status == STATUS_OK)
		status = read_choices(bound, row, choices, err);
	if (status != STATUS_OK) {
		bound_family_free(bound);
		return status;
	}
	return single_from_choices(problem, device, bound, choices, pool, err);
}

enum status single_open_refitted(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidates *pool,
	bool *refitted, struct error *err)
{
	struct bound_family *bound = NULL;
	struct json_at configuration;
	choice choices[SPACE_PARAMETERS_MAX], fitted[SPACE_PARAMETERS_MAX];
	bool found = false;
	size_t bytes;
	enum status status = bind(catalogue, problem, device, row, &bound, err);

	*pool = (struct candidates){0};
	if (refitted)
		*refitted = false;
	if (status == STATUS_OK && family_is_composite(bound->family)) {
		bound_family_free(bound);
		return single_open(catalogue, problem, device, row, pool, err);
	}
	if (status == STATUS_OK)
		status = json_member(row, "configuration", &configuration, err);
	if (status == STATUS_OK)
		status = configuration_from_json(bound, &configuration, choices, err);
	if (status == STATUS_OK)
		status = refit_arguments(bound, choices, fitted, &found, err);
	if (status == STATUS_OK && !found) {
		/* says which constraint, or that the model sees no block that fits: an infinite
		 * time */
		status = read_choices(bound, row, choices, err);
		memcpy(fitted, choices, sizeof(fitted));
	}
	if (status != STATUS_OK) {
		bound_family_free(bound);
		return status;
	}
	bytes = space_parameter_count(bound->space) * sizeof(*choices);
	if (refitted)
		*refitted = memcmp(choices, fitted, bytes) != 0;
	return single_from_choices(problem, device, bound, fitted, pool, err);
}

enum status single_evaluate(
	const struct candidates *pool, struct evaluation *evaluation, struct error *err)
{
	const struct bound_family *bound = pool->families[0].bound;
	struct text configuration = {0};
	struct predictor predictor;
	struct build build = {0};
	double model_us;
	enum status status;

	*evaluation = (struct evaluation){.predicted = true};
	predictor_open(&predictor, bound, NULL);
	status = predict_choices(&predictor, candidates_configuration(pool, 0), &model_us, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, predictor.slots, &build, err);
	if (status == STATUS_OK) {
		configuration_format(bound, candidates_configuration(pool, 0), &configuration);
		evaluation->family = string_copy(family_name(bound->family));
		evaluation->configuration = text_detach(&configuration);
		string_put(evaluation->kernel_hash, sizeof(evaluation->kernel_hash),
			build.kernel_hash);
		evaluation->score = predictor_take_score(&predictor);
		evaluation->launch_count = evaluation->score.launch_count;
		evaluation_add_samples(evaluation, &pool->predicted_us[0], 1);
	}
	predictor_close(&predictor);
	build_release(&build);
	return status;
}
