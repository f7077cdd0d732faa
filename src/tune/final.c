/* SPDX-License-Identifier: MIT */
#include "tune/selection.h"

#include <math.h>

#include "search/neighbours.h"
#include "search/order.h"

static bool is_by_time(const struct search *search)
{
	return search->options->objective != OBJECTIVE_ENERGY;
}

/* ---- timing in turn ---- */
enum {
	CANDIDATES_MAX = 30,
	CANDIDATES_LEAST = 8, /* the limit if no time is left */
	/* noise decides the order of the first few */
	KERNELS_MAX = 16,
	/* launches of one kernel differ little */
	LAUNCHES_OF_A_KERNEL = 3,
	BEST_MAX = 10,
	NEAR_MAX = 64,
	FIRST_LOOK = 8, /* number of rounds */
	/* Only the order of the space decides ties between a program's kernels, so more rounds
	 * sharpen the tie's edge. */
	PROGRAM_ROUNDS_FACTOR = 2
};
/* Candidates beyond this ratio to the best cannot win. The second ratio is for the winner's
 * neighbours: at the power limit, two first looks at one kernel differed by 8%. */
static const double reach_ratio = 1.06, near_reach_ratio = 1.12;
/* Resting as long as the kernel runs at most halves the average power. */
static const double rest_ratio = 1;
/* least duration of a sample batch, including the warm-up */
static const double sample_least_us = 500;
static const double seconds_per_load = 0.25, part_of_left = 0.5;
/* Limits under sustained load, where a sample batch takes longer. */
enum {
	SUSTAINED_FIRST_LOOK = SELECTION_ROUNDS_MIN,
	SUSTAINED_ROUNDS_MAX = 2 * SELECTION_ROUNDS_MIN,
	SUSTAINED_CANDIDATES_LEAST = 4
};

static bool is_sustained(const struct search *search)
{
	return search->options->objective == OBJECTIVE_SUSTAINED_TIME;
}

static double batch_seconds(const struct search *search, double time_us)
{
	return is_sustained(search) ? SUSTAINED_VISIT_S
				    : 1e-6 * fmax(time_us, sample_least_us) * (1 + rest_ratio);
}

struct final_timing {
	struct search *search;
	struct evaluated *const *evaluated;
	struct contender *contenders;
	size_t count;
};

static bool cannot_win(struct round_times times, struct round_times fastest)
{
	const struct interval ratio = round_times_ratio(times, fastest, CONFIDENCE_99);

	return ratio.low >
	       1 + 2 * TUNED_TIE_RATIO + 2 * CODE_PLACEMENT_NOISE_US / round_times_median(fastest);
}

/* Does not stop because an interval is narrow, which would bias its width. */
static bool is_only_one_left(struct contender *contenders, size_t count, void *context)
{
	CLEANUP(memory_free)
	struct round_times *times = memory_zeroed(count + 1, sizeof(*times));
	CLEANUP(memory_free)
	struct contender **going_on = memory_zeroed(count + 1, sizeof(struct contender *));
	size_t left = 0, fastest, slower = 0;

	(void)context;
	for (size_t i = 0; i < count; i++) {
		if (!contenders[i].round_count || contenders[i].is_finished)
			continue;
		times[left] = contender_times(&contenders[i]);
		going_on[left++] = &contenders[i];
	}
	if (!left)
		return true;
	fastest = round_times_fastest(times, left);
	for (size_t i = 0; i < left; i++) {
		going_on[i]->is_finished = cannot_win(times[i], times[fastest]);
		slower += going_on[i]->is_finished;
	}
	return slower + 1 >= left;
}

static const struct contender *fastest_contender(const struct final_timing *timing)
{
	const struct contender *fastest = NULL;

	for (size_t i = 0; i < timing->count; i++) {
		const struct contender *contender = &timing->contenders[i];

		if (contender->outcome == OUTCOME_OK && contender->round_count &&
			(!fastest || round_times_median(contender_times(contender)) <
					     round_times_median(contender_times(fastest))))
			fastest = contender;
	}
	return fastest;
}

/* Repeats until the fastest is verified, as it may turn out slower or wrong. */
static enum status verify_contenders(struct final_timing *timing, struct error *err)
{
	CLEANUP(memory_free) bool *is_verified = memory_zeroed(timing->count + 1, sizeof(bool));
	bool any = true;

	while (any) {
		const struct contender *fastest = fastest_contender(timing);

		any = false;
		for (size_t i = 0; fastest && i < timing->count; i++) {
			struct contender *contender = &timing->contenders[i];

			if (is_verified[i] || !contender->round_count ||
				cannot_win(contender_times(contender), contender_times(fastest)))
				continue;
			is_verified[i] = any = true;
			TRY(contenders_verify(&timing->search->evaluator, contender, 1, err));
		}
	}
	return STATUS_OK;
}

static bool is_loaded(const struct trial *trial)
{
	return trial && trial->stage == TRIAL_LOADED;
}

static enum status load_contenders(struct final_timing *timing, size_t loads, struct error *err)
{
	struct evaluator *evaluator = &timing->search->evaluator;

	evaluator_clear(evaluator);
	evaluator->on_device_max = 0;
	for (size_t i = 0; i < timing->count; i++)
		TRY(search_add_trial(timing->search, timing->evaluated[i]->candidate, TRIAL_LOADED,
			&timing->contenders[i].loads[0], err));
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < timing->count; i++) {
		struct trial **load = timing->contenders[i].loads;

		for (size_t k = 1; k < loads && is_loaded(load[0]); k++)
			TRY(evaluator_add_job(
				evaluator, load[0]->problem, &load[0]->job, &load[k], err));
	}
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < timing->count; i++) {
		struct contender *contender = &timing->contenders[i];

		while (contender->load_count < loads &&
			is_loaded(contender->loads[contender->load_count]))
			contender->load_count++;
	}
	return STATUS_OK;
}

/* Scales other times by the median drift of the candidates timed in this pass. */
static void correct_others(struct search *search, const double *ratios, size_t count)
{
	const double ratio = count ? statistics_quantile(ratios, count, 0.5) : 1;

	for (size_t i = 0; i < search->evaluated.count && count; i++) {
		struct evaluated *evaluated = &search->evaluated.items[i];
		struct result *result = &evaluated->result;

		if (!evaluated->remeasure_pass ||
			evaluated->remeasure_pass == search->remeasure_pass)
			continue;
		for (size_t k = 0; k < result->sample_count; k++)
			result->samples_us[k] *= ratio;
		result_set_samples(result, result->samples_us, result->sample_count);
	}
}

/* A candidate that could not be loaded keeps its times. */
static enum status take_contender(struct search *search, struct evaluated *evaluated,
	const struct contender *contender, unsigned pass, struct error *err)
{
	struct result *result = &evaluated->result;

	if (!contender->load_count)
		return STATUS_OK;
	result->flags |= contender->flags;
	if (contender->outcome != OUTCOME_OK) {
		result->outcome = contender->outcome;
		free(result->detail);
		result->detail = string_copy(contender->detail);
	} else if (contender->round_count) {
		if (!evaluated->remeasure_pass)
			evaluated->search_us = result->time.median;
		result_set_samples(result, contender->round_us, contender->round_count);
		evaluated->remeasure_pass = search->remeasure_pass = pass;
		evaluated->loads = (unsigned)contender->load_count;
		if (!is_by_time(search))
			TRY(conclude_energy(search, evaluated, err));
	}
	return search_journal(search, "final", result, err);
}

static enum status take_all(struct final_timing *timing, struct error *err)
{
	struct search *search = timing->search;
	CLEANUP(memory_free)
	double *ratios = memory_zeroed(timing->count + 1, sizeof(*ratios));
	const unsigned pass = search->remeasure_pass + 1;
	size_t both = 0;

	for (size_t i = 0; i < timing->count; i++) {
		struct evaluated *evaluated = timing->evaluated[i];
		const double before_us =
			evaluated->remeasure_pass ? evaluated->result.time.median : 0;

		TRY(take_contender(search, evaluated, &timing->contenders[i], pass, err));
		if (before_us > 0 && evaluated->remeasure_pass == pass)
			ratios[both++] = evaluated->result.time.median / before_us;
	}
	correct_others(search, ratios, both);
	return STATUS_OK;
}

static enum status time_contenders(struct final_timing *timing, size_t loads, struct error *err)
{
	struct search *search = timing->search;
	struct evaluator *evaluator = &search->evaluator;
	struct timing_limits limits = {
		.seconds = fmin(seconds_per_load * (double)(timing->count * loads),
			part_of_left * budget_left_seconds(&search->budget)),
		.first_look = FIRST_LOOK,
		.last_look = search->options->effort->final_rounds *
			     (search->run->context->program ? PROGRAM_ROUNDS_FACTOR : 1),
		.rest_ratio = rest_ratio,
		.is_enough = is_only_one_left};

	if (is_sustained(search)) {
		limits.seconds = part_of_left * budget_left_seconds(&search->budget);
		limits.first_look = SUSTAINED_FIRST_LOOK;
		limits.last_look = SUSTAINED_ROUNDS_MAX;
		limits.rest_ratio = 0;
		limits.sustained_s = SUSTAINED_VISIT_S;
	}
	TRY(load_contenders(timing, loads, err));
	TRY(contenders_time(evaluator, timing->contenders, timing->count, &limits, err));
	TRY(verify_contenders(timing, err));
	return take_all(timing, err);
}

static enum status time_in_turn(struct search *search, struct evaluated *const *chosen,
	size_t count, size_t loads, struct error *err)
{
	CLEANUP(memory_free)
	struct contender *contenders = memory_zeroed(count + 1, sizeof(*contenders));
	struct final_timing timing = {search, chosen, contenders, count};
	const enum status status = time_contenders(&timing, loads, err);

	for (size_t i = 0; i < count; i++)
		contender_release(&contenders[i]);
	return status;
}

/* Returns the least seconds per load. */
static double least_seconds(const struct search *search, const struct evaluated *evaluated)
{
	return batch_seconds(search, evaluated->result.time.median) *
	       (is_sustained(search) ? SUSTAINED_FIRST_LOOK : FIRST_LOOK);
}

static int compare_medians(const void *a, const void *b)
{
	const struct evaluated *x = *(struct evaluated *const *)a;
	const struct evaluated *y = *(struct evaluated *const *)b;
	double difference = evaluated_search_us(x) - evaluated_search_us(y);

	if (difference < 0 || difference > 0)
		return difference < 0 ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static unsigned launches_of_kernel(const struct search *search, struct evaluated *const *chosen,
	size_t count, const struct evaluated *evaluated)
{
	unsigned launches = 0;

	for (size_t i = 0; i < count; i++)
		launches += shortlist_same_kernel(
			&search->pool.view, chosen[i]->candidate, evaluated->candidate);
	return launches;
}

static struct evaluated **choose_contenders(const struct search *search, size_t *count)
{
	const struct evaluated_list *list = &search->evaluated;
	const double left_s = budget_left_seconds(&search->budget);
	CLEANUP(memory_free)
	struct evaluated **order = memory_zeroed(list->count + 1, sizeof(struct evaluated *));
	CLEANUP(memory_free)
	bool *family_seen = memory_zeroed(search->pool.family_count, sizeof(*family_seen));
	CLEANUP(memory_free) bool *is_listed = memory_zeroed(list->count + 1, sizeof(*is_listed));
	const size_t listed = shortlisted_fastest(&search->pool, list);
	struct evaluated **chosen;
	size_t ok = 0, kernels = 0, most = CANDIDATES_MAX;

	*count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].result.outcome == OUTCOME_OK &&
			(list->items[i].remeasure_pass || !list->items[i].was_remeasured))
			order[ok++] = &list->items[i];
	if (!ok)
		return NULL;
	qsort(order, ok, sizeof(*order), compare_medians);
	most = (size_t)fmin(CANDIDATES_MAX,
		fmax(is_sustained(search) ? SUSTAINED_CANDIDATES_LEAST : CANDIDATES_LEAST,
			left_s / least_seconds(search, order[0])));
	if (search->options->effort->remeasures_shortlist)
		shortlisted_mark(&search->pool, list, is_listed);
	else if (listed != SIZE_MAX)
		is_listed[listed] = true;
	chosen = memory_zeroed(ok + 1, sizeof(struct evaluated *));
	for (size_t i = 0; i < ok; i++) {
		const uint32_t family = search->pool.family_of[order[i]->candidate];
		const unsigned launches = launches_of_kernel(search, chosen, *count, order[i]);
		const bool is_near = evaluated_search_us(order[i]) <=
					     evaluated_search_us(order[0]) * reach_ratio &&
				     launches < LAUNCHES_OF_A_KERNEL &&
				     (launches || kernels < KERNELS_MAX) && *count < most;

		if (is_near || !family_seen[family] || is_listed[order[i] - list->items] ||
			(ptrdiff_t)order[i]->candidate == search->incumbent) {
			kernels += !launches;
			chosen[(*count)++] = order[i];
		}
		family_seen[family] = true;
	}
	return chosen;
}

enum status final_measure(struct search *search, struct error *err)
{
	while (search->run->context->device->kind->measures) {
		size_t count;
		CLEANUP(memory_free) struct evaluated **chosen = choose_contenders(search, &count);

		if (!count || chosen[0]->remeasure_pass)
			return STATUS_OK;
		search_show(search, true);
		for (size_t i = 0; i < count; i++)
			chosen[i]->was_remeasured = true;
		TRY(time_in_turn(search, chosen, count, 1, err));
	}
	return STATUS_OK;
}

static size_t choose_best(
	struct search *search, const struct selection *selection, struct evaluated **best)
{
	size_t count = 0;

	for (size_t i = 0; i < selection->count; i++)
		if (selection_may_win(selection, i))
			best[count++] = &search->evaluated.items[selection->items[i].evaluated];
	qsort(best, count, sizeof(struct evaluated *), compare_medians);
	return count;
}

static bool may_remeasure(const struct search *search)
{
	return search->remeasure_pass && search->options->effort->measures && is_by_time(search);
}

enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err)
{
	const size_t most = loads > 1 ? BEST_MAX : CANDIDATES_MAX;
	const double left_s = budget_left_seconds(&search->budget);
	CLEANUP(memory_free)
	struct evaluated **chosen =
		memory_zeroed(2 * search->evaluated.count + 1, sizeof(struct evaluated *));
	CLEANUP(selection_release) struct selection selection = {0};
	const struct evaluated *winner;
	size_t count;

	if (!may_remeasure(search))
		return STATUS_OK;
	selection = selection_of(search);
	if (!selection.count)
		return STATUS_OK;
	winner = &search->evaluated.items[selection_winner(&selection)];
	count = choose_best(search, &selection, chosen);
	for (size_t i = 0; i < search->evaluated.count; i++) {
		struct evaluated *item = &search->evaluated.items[i];

		if (item->result.outcome == OUTCOME_OK && !item->remeasure_pass &&
			item->result.time.median <=
				evaluated_search_us(winner) * near_reach_ratio &&
			(i >= since || shortlist_same_kernel(&search->pool.view, item->candidate,
					       winner->candidate)))
			chosen[count++] = item;
	}
	count = count < most ? count : most;
	loads = (size_t)fmin(
		(double)loads, left_s / (least_seconds(search, chosen[0]) * (double)count));
	if (count < 2 || !loads)
		return STATUS_OK;
	return time_in_turn(search, chosen, count, loads, err);
}

/* Sorts untried launches by predicted time. They need no compilation. */
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

size_t final_untried(const struct search *search, size_t **candidates)
{
	enum {
		LAUNCHES_TRIED = 16,
		NEIGHBOURS_TRIED = 12,
		TRIED_PER_NEIGHBOUR = 4 /* number of results per neighbour to be tried */
	};
	CLEANUP(selection_release) struct selection selection = {0};
	const size_t most = search->evaluated.count / TRIED_PER_NEIGHBOUR;
	const struct budget *budget = &search->budget;
	size_t count, winner;

	*candidates = memory_zeroed(LAUNCHES_TRIED + NEIGHBOURS_TRIED, sizeof(**candidates));
	/* half of the reserved time is for measuring */
	if (!may_remeasure(search) || search->options->strategy ||
		budget_left_seconds(budget) < 0.5 * (budget->seconds - budget->search_seconds))
		return 0;
	selection = selection_of(search);
	if (!selection.count)
		return 0;
	winner = search->evaluated.items[selection_winner(&selection)].candidate;
	count = untried_launches(
		search, winner, *candidates, most < LAUNCHES_TRIED ? most : LAUNCHES_TRIED);
	return count + untried_neighbours(search, winner, *candidates + count,
			       most < NEIGHBOURS_TRIED ? most : NEIGHBOURS_TRIED);
}
