/* SPDX-License-Identifier: MIT */
#include "tune/remeasure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "base/statistics.h"
#include "search/order.h"
#include "tune/conclude.h"
#include "tune/conclude.h"
#include "tune/picks.h"
#include "tune/search.h"

static const double close_ratio = 1.04, preferred_ratio = 1.02;
static const double seconds_per_candidate = 0.25;
static const double part_of_left = 0.4; /* of the budget */
/* An H200 moves its energy counter every 100 ms, and tells so some 15 ms later: enough to say what
 * the winner takes, and to choose by it. */
static const double energy_seconds_said = 0.2, energy_seconds_chosen = 1;

enum {
	/* Launches of one kernel differ little, cold or warm; other kernels may do better on a card
	 * that the re-measurement has warmed up. */
	LAUNCHES_OF_A_KERNEL = 3,
	/* The fastest kernels that the search saw: who is among the first few is chance. */
	KERNELS_MAX = 16,
	PREFERRED_MAX = 8
};

static int compare_medians(const void *a, const void *b)
{
	const struct evaluated *x = *(struct evaluated *const *)a;
	const struct evaluated *y = *(struct evaluated *const *)b;
	double difference = x->evaluation.time.median - y->evaluation.time.median;

	if (difference < 0 || difference > 0)
		return difference < 0 ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* How many launches of its kernel are among the chosen already. */
static unsigned launches_of_kernel(const struct search *search, struct evaluated *const *chosen,
	size_t count, const struct evaluated *evaluated)
{
	unsigned launches = 0;

	for (size_t i = 0; i < count; i++)
		launches += shortlist_same_kernel(
			&search->pool.view, chosen[i]->candidate, evaluated->candidate);
	return launches;
}

/* Of those that look about as fast, more than are re-measured, the most preferred: one of them wins
 * if it is tied. */
static void mark_preferred(
	const struct search *search, struct evaluated *const *order, size_t count, bool *is_marked)
{
	for (size_t turn = 0; turn < PREFERRED_MAX; turn++) {
		struct comparable best = {0};
		size_t found = SIZE_MAX;

		for (size_t i = 0; i < count; i++) {
			const size_t index = (size_t)(order[i] - search->evaluated.items);
			const struct comparable comparable = comparable_of(search, order[i]);

			if (order[i]->evaluation.time.median >
				order[0]->evaluation.time.median * preferred_ratio)
				break;
			if (is_marked[index] ||
				(found != SIZE_MAX && !select_prefers(&comparable, &best)))
				continue;
			found = index;
			best = comparable;
		}
		if (found != SIZE_MAX)
			is_marked[found] = true;
	}
}

/* The top k and what stands beside them; caller frees. */
static struct evaluated **choose(struct search *search, size_t *count)
{
	struct evaluated_list *list = &search->evaluated;
	const struct effort *effort = search->session->effort;
	CLEANUP(memory_free)
	struct evaluated **order = memory_zeroed(list->count, sizeof(struct evaluated *));
	CLEANUP(memory_free)
	bool *family_seen = memory_zeroed(search->pool.family_count, sizeof(*family_seen));
	CLEANUP(memory_free) bool *is_listed = memory_zeroed(list->count, sizeof(*is_listed));
	const struct shortlisted listed = shortlisted_fastest(&search->pool, list);
	struct evaluated **chosen;
	size_t ok = 0, near_count = 0, kernels = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].evaluation.outcome == OUTCOME_OK && !list->items[i].taken_up)
			order[ok++] = &list->items[i];
	qsort(order, ok, sizeof(*order), compare_medians);
	if (effort->remeasures_shortlist)
		shortlisted_mark(&search->pool, list, is_listed);
	else if (listed.index != SIZE_MAX)
		is_listed[listed.index] = true;
	if (search->session->objective == OBJECTIVE_TIME)
		mark_preferred(search, order, ok, is_listed);
	chosen = memory_zeroed(ok + 1, sizeof(struct evaluated *));
	*count = 0;
	for (size_t i = 0; i < ok; i++) {
		uint32_t family = search->pool.family_of[order[i]->candidate];
		const double over_first =
			order[i]->evaluation.time.median / order[0]->evaluation.time.median;
		const unsigned launches = launches_of_kernel(search, chosen, *count, order[i]);
		bool near = near_count < effort->remeasured &&
			    over_first <= REMEASURE_REACH_RATIO && launches < LAUNCHES_OF_A_KERNEL;
		bool first = !family_seen[family];
		bool close = !launches && kernels < KERNELS_MAX && over_first <= close_ratio;

		family_seen[family] = true;
		near_count += near;
		kernels += !launches;
		if (near || close || first || is_listed[order[i] - list->items] ||
			(ptrdiff_t)order[i]->candidate == search->incumbent)
			chosen[(*count)++] = order[i];
	}
	return chosen;
}

void remeasure_take(struct evaluated *evaluated, const struct evaluation *again)
{
	struct evaluation *evaluation = &evaluated->evaluation;

	evaluation->flags |= again->flags;
	if (again->outcome != OUTCOME_OK) {
		evaluation->outcome = again->outcome;
		free(evaluation->detail);
		evaluation->detail = string_copy(again->detail);
		return;
	}
	evaluation->measured = again->measured;
	if (!evaluated->remeasured)
		evaluated->search_us = evaluation->time.median;
	evaluation->sample_count = 0;
	evaluation_add_samples(evaluation, again->samples_us, again->sample_count);
	evaluated->remeasured = true;
}

/* The re-measurement of an interrupted run, if it was complete: it is not repeated. */
static bool take_recorded(struct search *search, struct evaluated **chosen, size_t count)
{
	CLEANUP(memory_free)
	const struct evaluation **recorded = memory_zeroed(count + 1, sizeof(struct evaluation *));
	bool complete = count && resume_remeasurements(search, chosen, count, recorded);

	for (size_t i = 0; complete && i < count; i++)
		remeasure_take(chosen[i], recorded[i]);
	return complete;
}

enum status remeasure_record(
	struct search *search, const struct evaluated *evaluated, struct error *err)
{
	struct json *line;

	if (!search->session->journal)
		return STATUS_OK;
	line = record_to_json(&evaluation_record, &evaluated->evaluation);
	json_put_int(line, "problem", (int64_t)search->number);
	return journal_write(search->session->journal, "final", line, err);
}

enum status remeasure_run(struct search *search, struct error *err)
{
	enum status status = evaluator_run(&search->evaluator, err);

	return status == STATUS_INTERRUPTED ? session_interrupted(err) : status;
}

enum status remeasure_sample(struct search *search, struct trial **trials, size_t count,
	const struct sampling *sampling, struct error *err)
{
	TRY(evaluator_sample(&search->evaluator, trials, count, sampling, err));
	return remeasure_run(search, err);
}

enum status remeasure_energy(struct search *search, struct evaluated *evaluated, struct error *err)
{
	const struct sampling sampling = {.energy_s = search->session->objective == OBJECTIVE_ENERGY
							      ? energy_seconds_chosen
							      : energy_seconds_said};
	struct evaluator *evaluator = &search->evaluator;
	struct trial *trial = NULL;

	for (size_t i = 0; i < evaluator->count && !trial; i++)
		if (evaluator->trials[i]->number == evaluated->candidate &&
			evaluator->trials[i]->handle)
			trial = evaluator->trials[i];
	if (!trial && !evaluator->count && device_measures(search->session->context->device)) {
		TRY(search_add_trial(search, evaluated->candidate, TRIAL_LOADED, &trial, err));
		TRY(remeasure_run(search, err));
	}
	if (!trial || trial->evaluation.outcome != OUTCOME_OK)
		return STATUS_OK;
	trial->stage = TRIAL_LOADED;
	TRY(remeasure_sample(search, &trial, 1, &sampling, err));
	if (trial->evaluation.outcome == OUTCOME_OK)
		evaluated->evaluation.measured = trial->evaluation.measured;
	return STATUS_OK;
}

/* They verified in the search, and are verified again: what went wrong since does not win. What
 * does not load again keeps what the search measured. */
static enum status measure(
	struct search *search, struct evaluated **chosen, size_t count, struct error *err)
{
	const unsigned rounds = search->session->effort->remeasure_rounds;
	const size_t most = search->session->effort->remeasured + 4;
	const struct sampling sampling = {.rounds_min = rounds / 4 + 1,
		.rounds_max = rounds,
		.seconds_max = fmin(seconds_per_candidate * (double)(count < most ? count : most),
			part_of_left * budget_left_seconds(&search->budget)),
		.target_ratio = REMEASURE_TARGET_RATIO,
		.rest_ratio = REMEASURE_REST_RATIO};
	CLEANUP(memory_free)
	struct trial **trials = memory_zeroed(count + 1, sizeof(struct trial *));
	CLEANUP(memory_free) bool *sampled = memory_zeroed(count + 1, sizeof(*sampled));

	search->evaluator.on_device_max = 0; /* all at once */
	for (size_t i = 0; i < count; i++)
		TRY(search_add_trial(search, chosen[i]->candidate, TRIAL_LOADED, &trials[i], err));
	TRY(remeasure_run(search, err));
	for (size_t i = 0; i < count; i++) {
		sampled[i] = trials[i]->stage == TRIAL_LOADED;
		trials[i]->evaluation.flags = 0; /* those of the samples are what is new */
	}
	TRY(remeasure_sample(search, trials, count, &sampling, err));
	TRY(evaluator_check(&search->evaluator, trials, count, err));
	TRY(remeasure_run(search, err));
	for (size_t i = 0; i < count; i++) {
		if (!sampled[i])
			continue;
		remeasure_take(chosen[i], &trials[i]->evaluation);
		if (search->session->objective == OBJECTIVE_ENERGY)
			TRY(remeasure_energy(search, chosen[i], err));
		TRY(remeasure_record(search, chosen[i], err));
	}
	return STATUS_OK;
}

/* Where all of them die, the next best follow. */
enum status remeasure(struct search *search, struct error *err)
{
	bool works = !device_measures(search->session->context->device);

	while (!works) {
		size_t count;
		CLEANUP(memory_free) struct evaluated **chosen = choose(search, &count);

		if (!count)
			return STATUS_OK;
		if (!take_recorded(search, chosen, count)) {
			search_show(search, true);
			TRY(measure(search, chosen, count, err));
		}
		for (size_t i = 0; i < count; i++) {
			chosen[i]->taken_up = true;
			works |= chosen[i]->remeasured &&
				 chosen[i]->evaluation.outcome == OUTCOME_OK;
		}
	}
	return STATUS_OK;
}
