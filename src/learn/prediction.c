/* SPDX-License-Identifier: MIT */
#include "learn/prediction.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learn/features.h"

void predictor_open(struct predictor *predictor, const struct bound_family *bound)
{
	const struct learned *learned = bound->device->learned;

	*predictor = (struct predictor){.bound = bound,
		.context = work_context_new(bound),
		.slots = memory_zeroed(bound->space->names.count + 1, sizeof(*predictor->slots))};
	for (size_t i = 0; learned && i < ARRAY_COUNT(predictor->layers); i++) {
		const struct learned_family *layer =
			learned_find(&learned->layers[i], bound->family);

		if (!layer)
			continue;
		predictor->layers[i] = &layer->trees;
		predictor->features =
			memory_resize(predictor->features, layer->feature_count + 1, sizeof(float));
	}
}

void predictor_close(struct predictor *predictor)
{
	work_context_free(predictor->context);
	score_release(&predictor->score);
	free(predictor->slots);
	free(predictor->features);
	*predictor = (struct predictor){0};
}

/* ln(measured / predicted) that is to be expected. */
static double learned_log(struct predictor *predictor, const struct value *slots)
{
	double sum = 0;

	if (!predictor->features || predictor->is_physics ||
		!isfinite(predictor->score.predicted_time_us))
		return 0;
	features_values(predictor->bound->family, slots, &predictor->score, predictor->features);
	for (size_t i = 0; i < ARRAY_COUNT(predictor->layers); i++)
		if (predictor->layers[i])
			sum += trees_sum(predictor->layers[i], predictor->features);
	return sum;
}

enum status predict(struct predictor *predictor, const struct value *slots,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err)
{
	const struct launch_score *longest;
	const bool has_estimate = predictor->has_estimate && !resources;
	bool differs;

	predictor->has_estimate = false;
	TRY(work_context_evaluate(predictor->context, slots, &predictor->work, &differs, err));
	if (differs || !has_estimate) {
		score_release(&predictor->score);
		score_compute(
			predictor->bound->device, predictor->work, resources, &predictor->score);
	}
	predictor->has_estimate = !resources;
	*prediction =
		(struct prediction){.time_us = fmax(predictor->score.predicted_time_us *
							    exp(learned_log(predictor, slots)),
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
	const struct space *space = predictor->bound->space;
	const bool has_choices = predictor->has_choices;

	predictor->has_choices = false;
	TRY(has_choices ? space_values_after(
				  space, predictor->choices, choices, predictor->slots, err)
			: space_values(space, choices, predictor->slots, err));
	memcpy(predictor->choices, choices, space->parameter_count * sizeof(*choices));
	predictor->has_choices = true;
	return predict(predictor, predictor->slots, NULL, prediction, err);
}

struct score predictor_take_score(struct predictor *predictor)
{
	struct score score = predictor->score;

	predictor->score = (struct score){0};
	predictor->has_estimate = false;
	return score;
}

enum status predict_candidate(struct candidate *candidate, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};

	predictor_open(&predictor, candidate->bound);
	return predict_choices(&predictor, candidate->choices, &candidate->prediction, err);
}

static const char *const source_names[] = {
	"physics", "shipped", "shipped for a like card", "learned here", NULL};

static const struct record_member basis_members[] = {
	RECORD_ENUM(struct prediction_basis, source, source_names, "source",
		"physics alone; corrected by what is shipped, for this card or another of its "
		"compute "
		"capability; by what was learned here, too"),
	RECORD_VALUE(struct prediction_basis, timings, "timings", "that it was learned from",
		.flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct prediction_basis, prediction_basis_record, basis_members, .name = "basis");

struct prediction_basis prediction_basis(const struct bound_family *bound)
{
	const struct learned *learned = bound->device->learned;
	struct prediction_basis basis = {0};

	for (size_t i = 0; learned && i < ARRAY_COUNT(learned->layers); i++) {
		const struct learned_family *layer =
			learned_find(&learned->layers[i], bound->family);

		if (layer)
			basis = (struct prediction_basis){
				i ? PREDICTION_LEARNED
				: strcmp(learned->layers[i].device, bound->device->name) == 0
					? PREDICTION_SHIPPED
					: PREDICTION_LENT,
				layer->timings};
	}
	return basis;
}

char *prediction_basis_text(struct prediction_basis basis)
{
	return basis.timings ? string_format("%s: %" PRIu64 " timings", source_names[basis.source],
				       basis.timings)
			     : string_copy(source_names[basis.source]);
}

const struct launch_score *predictor_longest(const struct predictor *predictor)
{
	const struct score *score = &predictor->score;

	return score->launch_count ? &score->launches[score->longest] : NULL;
}
