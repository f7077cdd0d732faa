/* SPDX-License-Identifier: MIT */
#include "learn/prediction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void predictor_open(struct predictor *predictor, const struct bound_family *bound,
	const struct corrections *corrections)
{
	*predictor = (struct predictor){.bound = bound,
		.correction = corrections_find(corrections, bound->family),
		.context = work_context_new(bound),
		.slots = memory_zeroed(bound->space->names.count + 1, sizeof(*predictor->slots))};
}

void predictor_close(struct predictor *predictor)
{
	work_context_free(predictor->context);
	score_release(&predictor->score);
	free(predictor->slots);
	*predictor = (struct predictor){0};
}

enum status predict(struct predictor *predictor, const struct value *slots,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err)
{
	const struct launch_score *longest;
	double factor = 1;

	TRY(work_context_evaluate(predictor->context, slots, &predictor->work, err));
	score_release(&predictor->score);
	score_compute(predictor->bound->device, predictor->work, resources, &predictor->score);
	TRY(correction_factor(predictor->correction, slots, &predictor->score, &factor, err));
	*prediction =
		(struct prediction){.time_us = fmax(predictor->score.predicted_time_us * factor,
					    predictor->score.floor_us)};
	longest = predictor_longest(predictor);
	if (longest) {
		prediction->units = longest->tiles;
		prediction->useful_ratio = longest->tile_efficiency_ratio;
		prediction->regs_per_thread = longest->regs_per_thread;
	}
	return STATUS_OK;
}

enum status predict_choices(struct predictor *predictor, const choice *choices,
	struct prediction *prediction, struct error *err)
{
	TRY(space_values(predictor->bound->space, choices, predictor->slots, err));
	return predict(predictor, predictor->slots, NULL, prediction, err);
}

struct score predictor_take_score(struct predictor *predictor)
{
	struct score score = predictor->score;

	predictor->score = (struct score){0};
	return score;
}

enum status predict_candidate(
	struct candidate *candidate, const struct corrections *corrections, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};

	predictor_open(&predictor, candidate->bound, corrections);
	return predict_choices(&predictor, candidate->choices, &candidate->prediction, err);
}

const struct launch_score *predictor_longest(const struct predictor *predictor)
{
	const struct score *score = &predictor->score;

	return score->launch_count ? &score->launches[score->longest] : NULL;
}
