/* SPDX-License-Identifier: MIT */
#include "learn/prediction.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void predictor_open(struct predictor *predictor, const struct bound_family *bound,
	const struct corrections *corrections)
{
	*predictor = (struct predictor){.bound = bound,
		.correction = corrections_find(corrections, bound->family),
		.context = work_context_new(bound),
		.slots = memory_zeroed(
			space_slot_count(bound->space) + 1, sizeof(*predictor->slots))};
}

void predictor_close(struct predictor *predictor)
{
	work_context_free(predictor->context);
	score_release(&predictor->score);
	free(predictor->slots);
	*predictor = (struct predictor){0};
}

enum status predict(struct predictor *predictor, const struct value *slots,
	const struct kernel_resources *resources, double *time_us, struct error *err)
{
	double factor = 1;
	enum status status =
		work_context_evaluate(predictor->context, slots, &predictor->work, err);

	if (status != STATUS_OK)
		return status;
	score_release(&predictor->score);
	score_compute(predictor->bound->device, predictor->work, resources, &predictor->score);
	status = correction_factor(predictor->correction, slots, &predictor->score, &factor, err);
	*time_us = predictor->score.predicted_time_us * factor;
	return status;
}

enum status predict_choices(
	struct predictor *predictor, const choice *choices, double *time_us, struct error *err)
{
	const enum status status =
		space_values(predictor->bound->space, choices, predictor->slots, err);

	return status == STATUS_OK ? predict(predictor, predictor->slots, NULL, time_us, err)
				   : status;
}

struct score predictor_take_score(struct predictor *predictor)
{
	struct score score = predictor->score;

	predictor->score = (struct score){0};
	return score;
}

enum status predict_once(const struct bound_family *bound, const choice *choices,
	const struct corrections *corrections, double *time_us, struct error *err)
{
	struct predictor predictor;
	enum status status;

	predictor_open(&predictor, bound, corrections);
	status = predict_choices(&predictor, choices, time_us, err);
	predictor_close(&predictor);
	return status;
}

const struct launch_score *predictor_longest(const struct predictor *predictor)
{
	const struct score *score = &predictor->score;

	return score->launch_count ? &score->launches[score->longest] : NULL;
}
