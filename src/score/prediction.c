/* SPDX-License-Identifier: MIT */
#include "score/prediction.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "score/features.h"

void predictor_open(struct predictor *predictor, const struct bound_family *bound)
{
	const struct learned_family *learned = learned_find(bound->device->learned, bound->family);

	*predictor = (struct predictor){.bound = bound,
		.trees = learned ? &learned->trees : NULL,
		.features =
			learned ? memory_zeroed(learned->feature_count + 1, sizeof(float)) : NULL,
		.context = work_context_new(bound),
		.values =
			memory_zeroed(bound->space->names->count + 1, sizeof(*predictor->values))};
}

void predictor_close(struct predictor *predictor)
{
	work_context_free(predictor->context);
	score_release(&predictor->score);
	free(predictor->values);
	free(predictor->features);
	*predictor = (struct predictor){0};
}

/* Returns the learned ln(measured time / predicted time). */
static double learned_log(struct predictor *predictor, const struct value *values)
{
	if (!predictor->trees || predictor->is_physics ||
		!isfinite(predictor->score.predicted_time_us))
		return 0;
	features_values(predictor->bound->family, values, &predictor->score, predictor->features);
	return trees_sum(predictor->trees, predictor->features);
}

enum status predict(struct predictor *predictor, const struct value *values,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err)
{
	const struct score *score = &predictor->score;

	TRY(work_context_evaluate(predictor->context, values, &predictor->work, err));
	score_release(&predictor->score);
	score_compute(predictor->bound->device, predictor->work, resources, &predictor->score);
	*prediction =
		(struct prediction){.time_us = fmax(predictor->score.predicted_time_us *
							    exp(learned_log(predictor, values)),
					    predictor->score.floor_us)};
	if (score->launch_count) {
		const struct launch_score *longest = &score->launches[score->longest];

		prediction->units = longest->tiles;
		prediction->useful_ratio = longest->tile_efficiency_ratio;
		prediction->regs_per_thread = longest->regs_per_thread;
	}
	return STATUS_OK;
}

enum status predict_choices(struct predictor *predictor, const choice *choices,
	struct prediction *prediction, struct error *err)
{
	const struct space *space = predictor->bound->space;
	const choice *before = predictor->follows ? predictor->choices : NULL;

	predictor->follows = false;
	TRY(space_values_after(space, before, choices, predictor->values, err));
	predictor->follows = true;
	memcpy(predictor->choices, choices, space->parameter_count * sizeof(*choices));
	return predict(predictor, predictor->values, NULL, prediction, err);
}

struct score predictor_take_score(struct predictor *predictor)
{
	struct score score = predictor->score;

	predictor->score = (struct score){0};
	return score;
}

enum status predict_candidate(struct candidate *candidate, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};

	predictor_open(&predictor, candidate->bound);
	return predict_choices(&predictor, candidate->choices, &candidate->prediction, err);
}

static const char *const source_names[] = {
	"physics", "shipped", "shipped for a like card", "learned", NULL};

static const struct record_member basis_members[] = {
	RECORD_ENUM(struct prediction_basis, source, source_names, "source"),
	RECORD_VALUE(struct prediction_basis, timings, "timings", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct prediction_basis, prediction_basis_record, basis_members, .name = "basis");

struct prediction_basis prediction_basis(const struct bound_family *bound)
{
	const struct learned *learned = bound->device->learned;
	const struct learned_family *family = learned_find(learned, bound->family);

	if (!family)
		return (struct prediction_basis){0};
	return (struct prediction_basis){
		.source = learned->is_named                                   ? PREDICTION_NAMED
			  : strcmp(learned->device, bound->device->name) == 0 ? PREDICTION_SHIPPED
									      : PREDICTION_LENT,
		.timings = family->timings};
}

char *prediction_basis_text(struct prediction_basis basis)
{
	return basis.timings ? string_format("%s: %" PRIu64 " timings", source_names[basis.source],
				       basis.timings)
			     : string_copy(source_names[basis.source]);
}
