/* SPDX-License-Identifier: MIT */
#include "tune/outlook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	TRIES_MAX = 12,     /* compilations for one problem, where times are predicted */
	TRIES_WITHOUT = 40, /* as long as none of them has worked */
	MEASURED_MODEL = 4, /* of the model's choice, where they are measured */
};
/* Prospects are ranked with estimated registers: one this much behind may still be better. */
static const double prediction_slack_ratio = 0.01;

/* Estimates of registers are capped by what a thread may have: where two candidates of a family
 * with the same estimate spilled, the next one will. */
struct refusal {
	size_t bound;
	int regs_per_thread;
	unsigned count;
};
static const unsigned refusals_enough = 2;

static struct refusal *find_refusal(const struct outlook *outlook, const struct prospect *prospect)
{
	for (size_t i = 0; i < outlook->refusal_count; i++)
		if (outlook->refusals[i].bound == prospect->bound &&
			outlook->refusals[i].regs_per_thread == prospect->regs_per_thread)
			return &outlook->refusals[i];
	return NULL;
}

static void note_refusal(struct outlook *outlook, const struct prospect *prospect)
{
	struct refusal *known = find_refusal(outlook, prospect);

	if (!known) {
		ARRAY_GROW(outlook->refusals, outlook->refusal_count, outlook->refusal_capacity);
		known = &outlook->refusals[outlook->refusal_count++];
		*known = (struct refusal){
			.bound = prospect->bound, .regs_per_thread = prospect->regs_per_thread};
	}
	known->count++;
}

static void skip_hopeless(struct outlook *outlook)
{
	for (; outlook->next < outlook->prospects.count; outlook->next++) {
		const struct refusal *refusal =
			find_refusal(outlook, &outlook->prospects.items[outlook->next]);

		if (!refusal || refusal->count < refusals_enough)
			break;
	}
}

static enum status try_prospect(struct comparison *comparison, const struct outlook *outlook,
	size_t index, struct error *err)
{
	const struct prospect *prospect = &outlook->prospects.items[index];
	const struct bound_family *bound = outlook->prospects.bounds[prospect->bound];
	struct bound_family *again;
	struct compared *added;
	enum status status =
		family_bind(bound->family, outlook->problem, bound->device, NULL, &again, err);

	if (status != STATUS_OK)
		return status;
	return comparison_add(comparison, again, prospect->choices, &added, err);
}

static void take_best(const struct comparison *comparison, struct outlook **outlooks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct outlook *outlook = outlooks[i];

		outlook->best = NULL;
		outlook->time_us = INFINITY;
		for (size_t k = 0; k < comparison->count; k++) {
			const struct compared *compared = comparison->items[k];

			if (compared->problem == outlook->problem &&
				compared_time_us(compared) < outlook->time_us) {
				outlook->best = compared;
				outlook->time_us = compared_time_us(compared);
			}
		}
	}
}

static bool is_settled(const struct outlook *outlook)
{
	const struct prospects *prospects = &outlook->prospects;

	return outlook->next >= prospects->count ||
	       outlook->tried >= (outlook->best ? TRIES_MAX : TRIES_WITHOUT) ||
	       prospects->items[outlook->next].predicted_us >=
		       outlook->time_us * (1 - prediction_slack_ratio);
}

/* Of the candidates that were tried last, one for each outlook at most. */
static void take_refusals(
	const struct comparison *comparison, size_t first, struct outlook **outlooks, size_t count)
{
	for (size_t k = first; k < comparison->count; k++)
		for (size_t i = 0; i < count; i++)
			if (comparison->items[k]->problem == outlooks[i]->problem &&
				comparison->items[k]->flight.evaluation.outcome != OUTCOME_OK)
				note_refusal(outlooks[i],
					&outlooks[i]->prospects.items[outlooks[i]->next - 1]);
}

static enum status settle_predicted(
	struct comparison *comparison, struct outlook **outlooks, size_t count, struct error *err)
{
	const struct comparison_rounds rounds = {.least = 1, .most = 1};
	enum status status = STATUS_OK;
	bool any = true;

	while (any && status == STATUS_OK) {
		size_t first = comparison->count;

		any = false;
		for (size_t i = 0; i < count && status == STATUS_OK; i++) {
			skip_hopeless(outlooks[i]);
			if (is_settled(outlooks[i]))
				continue;
			outlooks[i]->tried++;
			status = try_prospect(comparison, outlooks[i], outlooks[i]->next++, err);
			any = true;
		}
		if (status == STATUS_OK && any)
			status = comparison_run(comparison, &rounds, err);
		take_best(comparison, outlooks, count);
		take_refusals(comparison, first, outlooks, count);
	}
	for (size_t i = 0; i < count; i++) {
		free(outlooks[i]->refusals);
		outlooks[i]->refusals = NULL;
		outlooks[i]->refusal_count = outlooks[i]->refusal_capacity = 0;
	}
	return status;
}

static enum status settle_measured(
	struct comparison *comparison, struct outlook **outlooks, size_t count, struct error *err)
{
	const double seconds_each = 0.2;
	struct comparison_rounds rounds = {.least = 8, .most = 60, .target_ratio = 0.003};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count; i++) {
		const struct prospects *prospects = &outlooks[i]->prospects;

		for (size_t k = 0; k < prospects->count && status == STATUS_OK; k++)
			if (k < MEASURED_MODEL || prospects->items[k].is_winner)
				status = try_prospect(comparison, outlooks[i], k, err);
	}
	rounds.seconds_max = seconds_each * (double)comparison->count;
	if (status == STATUS_OK)
		status = comparison_run(comparison, &rounds, err);
	take_best(comparison, outlooks, count);
	return status;
}

enum status outlooks_settle(
	struct comparison *comparison, struct outlook **outlooks, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		outlooks[i]->time_us = INFINITY;
		outlooks[i]->next = outlooks[i]->tried = 0;
	}
	return device_measures(comparison->bench->device)
		       ? settle_measured(comparison, outlooks, count, err)
		       : settle_predicted(comparison, outlooks, count, err);
}
