/* SPDX-License-Identifier: MIT */
#include "tune/settle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "search/neighbours.h"
#include "search/order.h"
#include "tune/conclude.h"
#include "tune/remeasure.h"

enum {
	ROUGHLY_MAX = 30, /* in one load each */
	BEST_MAX = 10,    /* in LOADS of each: two loads of one binary are not equally fast */
	LOADS = 4,
	NEAR_MAX = 64,
	TRIALS_MAX = BEST_MAX * LOADS
};

static bool settles(const struct search *search)
{
	const struct session *session = search->session;

	return device_measures(session->context->device) && session->effort->measures &&
	       session->objective == OBJECTIVE_TIME;
}

static const double rough_seconds = 0.025, best_seconds_per_load = 0.05;
/* Runs of short kernels are sampled together; with what comes before the first sample. */
static const double sample_least_us = 500;
/* Of the budget. */
static const double rough_part_of_left = 0.3, best_part_of_left = 0.7;
/* Beyond what is tied: a measurement may have put it there by chance. */
static const double settle_ratio = 2 * SELECT_TIE_RATIO;
/* At the power limit two first looks at one kernel were 8% apart, as the clock wanders. */
static const double near_reach_ratio = 1.12;
/* What a measurement in one load may be off by. */
static const double surely_slower_ratio = 0.003;

/* A candidate to be timed again, in one load or several. */
struct remeasurement {
	struct evaluated *evaluated;
	struct comparable comparable;
	struct trial *loads[LOADS];
	bool is_sampled;
};

static int compare_preference(const void *a, const void *b)
{
	const struct remeasurement *x = a, *y = b;

	return select_prefers(&x->comparable, &y->comparable) ? -1 : 1;
}

static int compare_times(const void *a, const void *b)
{
	const struct remeasurement *x = a, *y = b;

	return (x->comparable.median_us > y->comparable.median_us) -
	       (x->comparable.median_us < y->comparable.median_us);
}

/* The other is faster, preferred and, unless both are of one kernel, tied. */
static bool excludes(
	const struct comparable *other, const struct comparable *comparable, double fastest_us)
{
	return other->median_us * (1 + surely_slower_ratio) <= comparable->median_us &&
	       select_prefers(other, comparable) &&
	       (select_same_kernel(other, comparable) ||
		       other->median_us <= fastest_us * (1 + SELECT_TIE_RATIO));
}

/* Sorted by time. Who is slower than one that is preferred does not win, whatever is tied; the
 * fastest stays, it says what is. Then the most preferred come first. */
static size_t keep_possible(struct remeasurement *remeasurements, size_t count)
{
	size_t kept = 1;

	for (size_t i = 1; i < count; i++) {
		const struct comparable *comparable = &remeasurements[i].comparable;
		bool is_possible = true;

		for (size_t k = 0; k < kept && is_possible; k++)
			is_possible = !excludes(&remeasurements[k].comparable, comparable,
				remeasurements[0].comparable.median_us);
		if (is_possible)
			remeasurements[kept++] = remeasurements[i];
	}
	if (count > 1)
		qsort(remeasurements + 1, kept - 1, sizeof(*remeasurements), compare_preference);
	return count ? kept : 0;
}

/* Those whose times may be compared and that are within reach of the fastest, by time; returns how
 * many. */
static size_t choose_measured(struct search *search, const struct selection *selection,
	struct remeasurement *remeasurements)
{
	double fastest_us = INFINITY;
	size_t count = 0;

	for (size_t i = 0; i < selection->count; i++)
		fastest_us = fmin(fastest_us, selection->comparables[i].median_us);
	for (size_t i = 0; i < selection->count; i++)
		if (selection->tied[i] ||
			selection->comparables[i].median_us <= fastest_us * (1 + settle_ratio))
			remeasurements[count++] = (struct remeasurement){
				&search->evaluated.items[selection->indices[i]],
				selection->comparables[i], {NULL}, false};
	qsort(remeasurements, count, sizeof(*remeasurements), compare_times);
	return count;
}

/* What the search found since that index, the winner's kernel in all its launches, and what differs
 * from it in one parameter: a first look may have been unlucky with one of them. */
static size_t choose_neighbours(struct search *search, size_t winner_index, size_t since,
	struct remeasurement *remeasurements)
{
	const struct search_view *view = &search->pool.view;
	const struct evaluated *winner = &search->evaluated.items[winner_index];
	const double search_us = evaluated_search_us(winner);
	size_t near[NEAR_MAX], count = 0;
	const size_t near_count = neighbours_list(view, winner->candidate, false, near, NEAR_MAX);

	for (size_t i = 0; i < search->evaluated.count; i++) {
		struct evaluated *item = &search->evaluated.items[i];
		const struct comparable comparable = comparable_of(search, item);
		double reach_ratio = REMEASURE_REACH_RATIO;
		bool is_near = false;

		for (size_t k = 0; k < near_count && !is_near; k++)
			is_near = near[k] == item->candidate;
		if (is_near)
			reach_ratio = near_reach_ratio;
		else if (i < since &&
			 !shortlist_same_kernel(view, item->candidate, winner->candidate))
			continue;
		if (item->evaluation.outcome == OUTCOME_OK && !item->remeasured &&
			comparable.median_us <= search_us * reach_ratio)
			remeasurements[count++] =
				(struct remeasurement){item, comparable, {NULL}, false};
	}
	qsort(remeasurements, count, sizeof(*remeasurements), compare_times);
	return count;
}

/* Round by round the mean of its loads. */
static void take_loads(struct remeasurement *remeasurement, size_t loads)
{
	struct evaluation mean = remeasurement->loads[0]->evaluation;
	CLEANUP(memory_free)
	double *samples_us = memory_zeroed(mean.sample_count + 1, sizeof(*samples_us));

	for (size_t k = 0; k < loads; k++) {
		const struct evaluation *load = &remeasurement->loads[k]->evaluation;

		if (load->outcome != OUTCOME_OK)
			remeasure_take(remeasurement->evaluated, load);
		if (load->outcome != OUTCOME_OK || !load->sample_count)
			return;
		mean.flags |= load->flags;
		if (load->sample_count < mean.sample_count)
			mean.sample_count = load->sample_count;
		for (size_t i = 0; i < mean.sample_count; i++)
			samples_us[i] += load->samples_us[i] / (double)loads;
	}
	mean.samples_us = samples_us;
	remeasure_take(remeasurement->evaluated, &mean);
	remeasurement->evaluated->loads = (unsigned)loads;
}

/* What the clock did since: by those that were in both parts. */
static void correct_others(struct search *search, const double *ratios, size_t count)
{
	const double ratio = count ? statistics_summary(ratios, count).median : 1;

	for (size_t i = 0; i < search->evaluated.count && count; i++) {
		struct evaluated *evaluated = &search->evaluated.items[i];
		struct evaluation *evaluation = &evaluated->evaluation;
		struct evaluation corrected;

		if (!evaluated->remeasured || evaluated->loads)
			continue;
		corrected = *evaluation;
		corrected.samples_us = memory_copy(
			evaluation->samples_us, evaluation->sample_count * sizeof(double));
		for (size_t k = 0; k < corrected.sample_count; k++)
			corrected.samples_us[k] *= ratio;
		remeasure_take(evaluated, &corrected);
		free(corrected.samples_us);
	}
}

/* Loads all of them `loads` times and times them side by side. */
static enum status measure_side_by_side(struct search *search, struct remeasurement *remeasurements,
	size_t count, size_t loads, double seconds, struct error *err)
{
	const unsigned rounds = search->session->effort->remeasure_rounds;
	const struct sampling sampling = {.rounds_min = rounds / 4 + 1,
		.rounds_max = rounds,
		.seconds_max = seconds,
		.target_ratio = REMEASURE_TARGET_RATIO,
		.rest_ratio = REMEASURE_REST_RATIO};
	struct trial *trials[TRIALS_MAX];
	size_t loaded = 0;

	evaluator_clear(&search->evaluator);
	search->evaluator.on_device_max = 0;
	for (size_t i = 0; i < count; i++)
		TRY(search_add_trial(search, remeasurements[i].evaluated->candidate, TRIAL_LOADED,
			&remeasurements[i].loads[0], err));
	TRY(remeasure_run(search, err));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 1; k < loads && remeasurements[i].loads[0]->stage == TRIAL_LOADED;
			k++)
			TRY(evaluator_add_load(&search->evaluator, remeasurements[i].loads[0],
				&remeasurements[i].loads[k], err));
	TRY(remeasure_run(search, err));
	for (size_t i = 0; i < count; i++) {
		remeasurements[i].is_sampled = remeasurements[i].loads[0]->stage == TRIAL_LOADED;
		for (size_t k = 0; k < loads && remeasurements[i].is_sampled; k++)
			trials[loaded++] = remeasurements[i].loads[k];
	}
	TRY(remeasure_sample(search, trials, loaded, &sampling, err));
	TRY(evaluator_check(&search->evaluator, trials, loaded, err));
	return remeasure_run(search, err);
}

static enum status settle(struct search *search, struct remeasurement *remeasurements, size_t count,
	size_t loads, double seconds, struct error *err)
{
	double ratios[ROUGHLY_MAX], before_us;
	size_t both = 0;

	TRY(measure_side_by_side(search, remeasurements, count, loads, seconds, err));
	search->is_settled = false;
	for (size_t i = 0; i < search->evaluated.count; i++)
		search->evaluated.items[i].loads = 0;
	for (size_t i = 0; i < count; i++) {
		struct evaluated *evaluated = remeasurements[i].evaluated;

		if (!remeasurements[i].is_sampled)
			continue; /* did not load again: it keeps what is known */
		before_us = evaluated->remeasured ? evaluated->evaluation.time.median : 0;
		take_loads(&remeasurements[i], loads);
		search->is_settled |= evaluated->loads > 0;
		if (evaluated->loads && before_us > 0)
			ratios[both++] = evaluated->evaluation.time.median / before_us;
		TRY(remeasure_record(search, evaluated, err));
	}
	correct_others(search, ratios, both);
	return STATUS_OK;
}

enum status settle_neighbours(struct search *search, size_t neighbours, struct error *err)
{
	CLEANUP(memory_free)
	struct remeasurement *remeasurements =
		memory_zeroed(search->evaluated.count + 1, sizeof(*remeasurements));
	CLEANUP(selection_release) struct selection selection = {0};
	double seconds;
	size_t count;

	if (!settles(search))
		return STATUS_OK;
	selection = selection_of(search);
	if (!selection.count)
		return STATUS_OK;
	count = choose_measured(search, &selection, remeasurements);
	count += choose_neighbours(
		search, selection.indices[selection.winner], neighbours, remeasurements + count);
	count = count < ROUGHLY_MAX ? count : ROUGHLY_MAX;
	seconds = fmin(rough_seconds * (double)count,
		rough_part_of_left * budget_left_seconds(&search->budget));
	return count > 1 ? settle(search, remeasurements, count, 1, seconds, err) : STATUS_OK;
}

enum status settle_best(struct search *search, struct error *err)
{
	CLEANUP(memory_free)
	struct remeasurement *remeasurements =
		memory_zeroed(search->evaluated.count + 1, sizeof(*remeasurements));
	const double left_s = best_part_of_left * budget_left_seconds(&search->budget);
	CLEANUP(selection_release) struct selection selection = {0};
	double loads, load_s;
	size_t count;

	if (!settles(search))
		return STATUS_OK;
	selection = selection_of(search);
	count = keep_possible(remeasurements, choose_measured(search, &selection, remeasurements));
	count = count < BEST_MAX ? count : BEST_MAX;
	if (count < 2)
		return STATUS_OK;
	load_s = 1e-6 * fmax(remeasurements[0].comparable.median_us, sample_least_us) *
		 (1 + REMEASURE_REST_RATIO) * SELECT_ROUNDS_MIN * (double)count;
	loads = fmin(LOADS, left_s / load_s);
	return loads < 1
		       ? STATUS_OK
		       : settle(search, remeasurements, count, (size_t)loads,
				 fmin(best_seconds_per_load * loads * (double)count, left_s), err);
}

/* Launches of the winner's kernel that were not tried, fastest prediction first: they cost no
 * compilation. */
static size_t untried_launches(
	const struct search *search, size_t winner, size_t *found, size_t most)
{
	const struct search_view *view = &search->pool.view;
	const struct search_family *family = &view->families[view->family[winner]];
	CLEANUP(memory_free) size_t *all = memory_zeroed(family->count + 1, sizeof(*all));
	size_t count = 0;

	for (size_t i = family->first; i < family->first + family->count; i++)
		if (!search->asked[i] && isfinite(view->predicted_us[i]) &&
			shortlist_same_kernel(view, i, winner))
			all[count++] = i;
	count = order_smallest(all, count, view->predicted_us, most);
	memcpy(found, all, count * sizeof(*found));
	return count;
}

/* Other kernels that differ in one parameter. */
static size_t untried_neighbours(
	const struct search *search, size_t winner, size_t *found, size_t most)
{
	const double worth_trying_ratio = 1.1;
	const struct search_view *view = &search->pool.view;
	size_t near[NEAR_MAX], count = 0;
	const size_t seen = neighbours_list(view, winner, false, near, NEAR_MAX);

	for (size_t i = 0; i < seen && count < most; i++)
		if (!search->asked[near[i]] && !shortlist_same_kernel(view, near[i], winner) &&
			view->predicted_us[near[i]] <=
				view->predicted_us[winner] * worth_trying_ratio)
			found[count++] = near[i];
	return count;
}

size_t settle_untried(const struct search *search, size_t **candidates)
{
	enum {
		LAUNCHES_TRIED = 16,
		NEIGHBOURS_TRIED = 12,
		TRIED_PER_NEIGHBOUR = 4 /* of a short search, fewer */
	};
	CLEANUP(selection_release) struct selection selection = selection_of(search);
	const size_t most = search->evaluated.count / TRIED_PER_NEIGHBOUR;
	const struct budget *budget = &search->budget;
	/* of the time after the search: the rest is for those that may win */
	const double part_of_best = 0.5;
	size_t count, winner;

	*candidates = memory_zeroed(LAUNCHES_TRIED + NEIGHBOURS_TRIED, sizeof(**candidates));
	if (!settles(search) || !selection.count || search->session->strategy ||
		budget_left_seconds(budget) <
			part_of_best * (budget->seconds - budget->search_seconds))
		return 0; /* a strategy that was asked for has the only say */
	winner = search->evaluated.items[selection.indices[selection.winner]].candidate;
	count = untried_launches(
		search, winner, *candidates, most < LAUNCHES_TRIED ? most : LAUNCHES_TRIED);
	return count + untried_neighbours(search, winner, *candidates + count,
			       most < NEIGHBOURS_TRIED ? most : NEIGHBOURS_TRIED);
}
