/* SPDX-License-Identifier: MIT */
#include "engine/best_of.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	TRIES_MAX = 12,     /* compilations for one problem, where times are predicted */
	TRIES_WITHOUT = 40, /* as long as none of them has worked */
	MEASURED_MODEL = 4, /* of the model's choice, where they are measured */
};
/* Candidates are ranked with estimated registers: one this much behind may still be better. */
static const double prediction_slack_ratio = 0.01;

/* Estimates of registers are capped by what a thread may have: where two candidates of a family
 * with the same estimate spilled, the next one will. */
struct refusal {
	const struct bound_family *bound;
	int regs_per_thread;
	unsigned count;
};
static const unsigned refusals_enough = 2;

static struct refusal *find_refusal(
	const struct best_of *best_of, const struct candidate *candidate)
{
	for (size_t i = 0; i < best_of->refusal_count; i++)
		if (best_of->refusals[i].bound == candidate->bound &&
			best_of->refusals[i].regs_per_thread ==
				candidate->prediction.regs_per_thread)
			return &best_of->refusals[i];
	return NULL;
}

static void note_refusal(struct best_of *best_of, const struct candidate *candidate)
{
	struct refusal *known = find_refusal(best_of, candidate);

	if (!known) {
		ARRAY_GROW(best_of->refusals, best_of->refusal_count, best_of->refusal_capacity);
		known = &best_of->refusals[best_of->refusal_count++];
		*known = (struct refusal){.bound = candidate->bound,
			.regs_per_thread = candidate->prediction.regs_per_thread};
	}
	known->count++;
}

static void skip_hopeless(struct best_of *best_of)
{
	for (; best_of->next < best_of->candidates.count; best_of->next++) {
		const struct refusal *refusal =
			find_refusal(best_of, &best_of->candidates.items[best_of->next]);

		if (!refusal || refusal->count < refusals_enough)
			break;
	}
}

static enum status try_candidate(
	struct evaluator *evaluator, const struct candidate *candidate, struct error *err)
{
	struct trial *trial;

	return evaluator_add(
		evaluator, candidate->bound, candidate->choices, TRIAL_VERIFIED, &trial, err);
}

static void take_best(const struct evaluator *evaluator, struct best_of **bests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct best_of *best_of = bests[i];

		best_of->best = NULL;
		best_of->time_us = INFINITY;
		for (size_t k = 0; k < evaluator->count; k++) {
			const struct trial *trial = evaluator->trials[k];

			if (trial->problem == best_of->problem &&
				trial_time_us(trial) < best_of->time_us) {
				best_of->best = trial;
				best_of->time_us = trial_time_us(trial);
			}
		}
	}
}

static bool is_settled(const struct best_of *best_of)
{
	const struct candidate_list *list = &best_of->candidates;

	return best_of->next >= list->count ||
	       best_of->tried >= (best_of->best ? TRIES_MAX : TRIES_WITHOUT) ||
	       list->items[best_of->next].prediction.time_us >=
		       best_of->time_us * (1 - prediction_slack_ratio);
}

/* Of the candidates that were tried last, one for each best_of at most. */
static void take_refusals(
	const struct evaluator *evaluator, size_t first, struct best_of **bests, size_t count)
{
	for (size_t k = first; k < evaluator->count; k++)
		for (size_t i = 0; i < count; i++)
			if (evaluator->trials[k]->problem == bests[i]->problem &&
				evaluator->trials[k]->evaluation.outcome != OUTCOME_OK)
				note_refusal(
					bests[i], &bests[i]->candidates.items[bests[i]->next - 1]);
}

static enum status settle_predicted(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err)
{
	const struct sampling sampling = {.rounds_min = 1, .rounds_max = 1};
	enum status status = STATUS_OK;
	bool any = true;

	while (any && status == STATUS_OK) {
		size_t first = evaluator->count;

		any = false;
		for (size_t i = 0; i < count && status == STATUS_OK; i++) {
			skip_hopeless(bests[i]);
			if (is_settled(bests[i]))
				continue;
			bests[i]->tried++;
			status = try_candidate(
				evaluator, &bests[i]->candidates.items[bests[i]->next++], err);
			any = true;
		}
		if (status == STATUS_OK && any)
			status = evaluator_compare(evaluator, &sampling, err);
		take_best(evaluator, bests, count);
		take_refusals(evaluator, first, bests, count);
	}
	for (size_t i = 0; i < count; i++) {
		free(bests[i]->refusals);
		bests[i]->refusals = NULL;
		bests[i]->refusal_count = bests[i]->refusal_capacity = 0;
	}
	return status;
}

static enum status settle_measured(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err)
{
	const double seconds_each = 0.2;
	struct sampling sampling = {.rounds_min = 8, .rounds_max = 60, .target_ratio = 0.003};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count; i++) {
		const struct candidate_list *list = &bests[i]->candidates;

		for (size_t k = 0; k < list->count && status == STATUS_OK; k++)
			if (k < MEASURED_MODEL || list->items[k].is_winner)
				status = try_candidate(evaluator, &list->items[k], err);
	}
	sampling.seconds_max = seconds_each * (double)evaluator->count;
	if (status == STATUS_OK)
		status = evaluator_compare(evaluator, &sampling, err);
	take_best(evaluator, bests, count);
	return status;
}

enum status bests_settle(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		bests[i]->time_us = INFINITY;
		bests[i]->next = bests[i]->tried = 0;
	}
	return device_measures(evaluator->context->device)
		       ? settle_measured(evaluator, bests, count, err)
		       : settle_predicted(evaluator, bests, count, err);
}
