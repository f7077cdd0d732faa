/* SPDX-License-Identifier: MIT */
#include "engine/refit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"
#include "learn/prediction.h"

/* Less than the model can tell apart is no reason to leave what was measured. */
static const double worth_it_ratio = 0.97;

struct refit {
	const struct bound_family *bound;
	const choice *choices;
	bool is_argument[SPACE_PARAMETERS_MAX];
	struct predictor predictor;
	choice now[SPACE_PARAMETERS_MAX], *best;
	double tuned_us, best_us;
};

/* Infinite where it is not legal. */
static enum status predict_now(struct refit *refit, double *predicted_us, struct error *err)
{
	int violated = -1;
	enum status status = space_examine_choices(
		refit->bound->space, refit->now, refit->predictor.slots, &violated, err);

	*predicted_us = INFINITY;
	if (status != STATUS_OK || violated >= 0)
		return status;
	return predict(&refit->predictor, refit->predictor.slots, NULL, predicted_us, err);
}

/* All values of the arguments from parameter `from` on. */
static enum status walk(struct refit *refit, size_t from, struct error *err)
{
	const struct space *space = refit->bound->space;
	size_t count = space_parameter_count(space);
	double predicted_us;
	enum status status = STATUS_OK;

	while (from < count && !refit->is_argument[from])
		from++;
	if (from == count) {
		status = predict_now(refit, &predicted_us, err);
		if (status == STATUS_OK && predicted_us < refit->best_us) {
			refit->best_us = predicted_us;
			memcpy(refit->best, refit->now, count * sizeof(*refit->now));
		}
		return status;
	}
	for (size_t i = 0; i < space_parameter_values(space, from)->count; i++) {
		refit->now[from] = (choice)i;
		status = walk(refit, from + 1, err);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status refit_arguments(const struct bound_family *bound, const choice *choices, choice *fitted,
	bool *found, struct error *err)
{
	size_t count = space_parameter_count(bound->space);
	struct refit refit = {
		.bound = bound, .choices = choices, .best = fitted, .best_us = INFINITY};
	enum status status;

	for (size_t i = 0; i < count; i++)
		refit.is_argument[i] = bound->family->parameters[i].is_argument;
	predictor_open(&refit.predictor, bound, NULL);
	memcpy(refit.now, choices, count * sizeof(*choices));
	status = predict_now(&refit, &refit.tuned_us, err);
	if (status == STATUS_OK)
		status = walk(&refit, 0, err);
	if (status == STATUS_OK && isfinite(refit.tuned_us) &&
		refit.best_us >= refit.tuned_us * worth_it_ratio)
		memcpy(fitted, choices, count * sizeof(*choices));
	*found = isfinite(refit.best_us);
	predictor_close(&refit.predictor);
	return status;
}
