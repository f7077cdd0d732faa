/* SPDX-License-Identifier: MIT */
#include "tune/picks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "candidate/rule_pick.h"
#include "search/order.h"
#include "tune/search.h"

/* Before anything is compiled: the model's longest launch, with its estimate of registers. */
static void estimate_resources(const struct bound_family *bound, const struct value *slots,
	void *context, int64_t *smem_bytes, int64_t *blocks_per_sm)
{
	const struct launch_score *longest;
	struct predictor predictor;
	struct prediction prediction;

	(void)context;
	predictor_open(&predictor, bound);
	/* a tile outside of the lists need not have a model */
	if (predict(&predictor, slots, NULL, &prediction, NULL) == STATUS_OK &&
		(longest = predictor_longest(&predictor)) != NULL) {
		*smem_bytes = longest->smem_bytes;
		*blocks_per_sm = longest->blocks_per_sm;
	}
	predictor_close(&predictor);
}

static enum status find_of_family(
	const struct candidates *pool, size_t index, struct picks *picks, struct error *err)
{
	const struct family_candidates *family = &pool->families[index];
	const struct bound_family *bound = family->bound;

	for (size_t i = 0; i < bound->family->rule_count; i++) {
		const struct rule *rule = &bound->family->rules[i];
		choice choices[SPACE_PARAMETERS_MAX];
		ptrdiff_t candidate;
		bool found;

		TRY(rule_pick(bound, rule, estimate_resources, NULL, choices, &found, err));
		if (!found)
			continue;
		/* --where and recordings know only a part of the space */
		candidate = search_view_find(&pool->view, index, choices);
		if (candidate < 0)
			continue;
		ARRAY_GROW(picks->items, picks->count, picks->capacity);
		picks->items[picks->count++] =
			(struct search_pick){.rule = rule->name, .candidate = (size_t)candidate};
	}
	return STATUS_OK;
}

enum status picks_find(const struct candidates *pool, struct picks *picks, struct error *err)
{
	*picks = (struct picks){0};
	for (size_t f = 0; f < pool->family_count; f++)
		TRY(find_of_family(pool, f, picks, err));
	return STATUS_OK;
}

void picks_release(struct picks *picks)
{
	free(picks->items);
	*picks = (struct picks){0};
}

enum status picks_check_name(const struct operation *operation, const char *rule, struct error *err)
{
	CLEANUP(text_release) struct text names = {0};

	for (size_t i = 0; i < operation->rule_count; i++) {
		const char *name = operation->rules[i].name;

		if (strcmp(name, rule) == 0)
			return STATUS_OK;
		text_appendf(&names, "%s%s", names.length ? ", " : "", name);
	}
	return error_set(err, STATUS_BAD_INPUT, "strategy rule:%s: expected a rule of %s (%s)",
		rule, operation->name, names.length ? names.data : "it has none");
}

static double time_of(const struct evaluated *evaluated)
{
	return evaluated->evaluation.outcome == OUTCOME_OK ? evaluated_search_us(evaluated)
							   : INFINITY;
}

struct pick_distance pick_distance(const struct candidates *pool,
	const struct evaluated_list *evaluated, const struct search_pick *pick, double best_us)
{
	uint32_t family = pool->family_of[pick->candidate];
	struct pick_distance distance = {
		.pick = pick, .evaluated = -1, .time_us = pool->predicted_us[pick->candidate]};
	double best_in_family = INFINITY;

	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];

		if (item->candidate == pick->candidate) {
			distance.evaluated = (ptrdiff_t)i;
			distance.time_us = time_of(item);
		}
		if (pool->family_of[item->candidate] == family && time_of(item) < best_in_family)
			best_in_family = time_of(item);
	}
	distance.regret_ratio = distance.time_us / best_us - 1;
	distance.regret_in_family_ratio =
		isfinite(best_in_family) ? distance.time_us / best_in_family - 1 : INFINITY;
	return distance;
}

void picks_describe(const struct candidates *pool, const struct evaluated_list *evaluated,
	const struct picks *picks, double best_us, struct tuned_entry *entry)
{
	entry->rules = memory_zeroed(picks->count + 1, sizeof(*entry->rules));
	entry->rule_count = picks->count;
	for (size_t i = 0; i < picks->count; i++) {
		const struct search_pick *pick = &picks->items[i];
		const struct bound_family *bound =
			candidates_family_of(pool, pick->candidate)->bound;
		const struct pick_distance distance = pick_distance(pool, evaluated, pick, best_us);
		const struct evaluation *evaluation =
			distance.evaluated >= 0 ? &evaluated->items[distance.evaluated].evaluation
						: NULL;

		entry->rules[i] = (struct tuned_pick){.name = string_copy(pick->rule),
			.family = string_copy(bound->family->name),
			.configuration = configuration_named_values(
				bound, candidates_configuration(pool, pick->candidate)),
			.predicted = !evaluation || evaluation->predicted,
			.outcome =
				string_copy(evaluation ? outcome_name(evaluation->outcome) : NULL),
			.time_us = distance.time_us,
			.predicted_time_us = pool->predicted_us[pick->candidate],
			.regret_ratio = distance.regret_ratio,
			.regret_in_family_ratio = distance.regret_in_family_ratio};
	}
}

/* ---- model quality ---- */
struct pair {
	double predicted, measured;
};

static int compare_predicted(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->predicted, y = ((const struct pair *)b)->predicted;

	return (x > y) - (x < y);
}

static void rank(struct tuned_model *quality, const struct pair *pairs, size_t count)
{
	double best = INFINITY, best_so_far = INFINITY;

	for (size_t i = 0; i < count; i++)
		best = pairs[i].measured < best ? pairs[i].measured : best;
	for (size_t i = 0, top = 0; i < count; i++) {
		if (pairs[i].measured < best_so_far)
			best_so_far = pairs[i].measured;
		if (pairs[i].measured <= best && !quality->rank_of_best)
			quality->rank_of_best = i + 1;
		while (top < TUNED_TOPS && (i + 1 == tuned_tops[top] || i + 1 == count))
			quality->regret[top++] = best_so_far / best - 1;
	}
}

void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed)
{
	size_t *candidates = memory_zeroed(evaluated->count + 1, sizeof(*candidates));
	size_t count = 0, listed;

	for (size_t i = 0; i < evaluated->count; i++)
		if (evaluated->items[i].evaluation.outcome == OUTCOME_OK)
			candidates[count++] = evaluated->items[i].candidate;
	order_smallest(candidates, count, pool->predicted_us, count);
	listed = shortlist_choose(&pool->view, candidates, count, SHORTLIST_COUNT);
	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];
		size_t k = 0;

		while (k < listed && candidates[k] != item->candidate)
			k++;
		is_listed[i] = k < listed && item->evaluation.outcome == OUTCOME_OK;
	}
	free(candidates);
}

struct shortlisted shortlisted_fastest(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	bool *is_listed = memory_zeroed(evaluated->count + 1, sizeof(*is_listed));
	struct shortlisted result = {SIZE_MAX, INFINITY, INFINITY};
	bool remeasured = false;

	for (size_t i = 0; i < evaluated->count; i++)
		remeasured |= evaluated->items[i].remeasured &&
			      evaluated->items[i].evaluation.outcome == OUTCOME_OK;
	shortlisted_mark(pool, evaluated, is_listed);
	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];
		const double time_us = item->evaluation.time.median;

		if (item->evaluation.outcome != OUTCOME_OK || item->remeasured != remeasured)
			continue;
		result.best_us = fmin(result.best_us, time_us);
		if (is_listed[i] && time_us < result.time_us) {
			result.index = i;
			result.time_us = time_us;
		}
	}
	free(is_listed);
	return result;
}

struct tuned_model model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct tuned_model quality = {0};
	struct shortlisted listed;
	struct pair *pairs = memory_zeroed(evaluated->count, sizeof(*pairs));
	double *predicted = memory_zeroed(evaluated->count, sizeof(*predicted));
	double *measured = memory_zeroed(evaluated->count, sizeof(*measured));

	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];

		if (item->evaluation.outcome != OUTCOME_OK)
			continue;
		predicted[quality.measured] = pool->predicted_us[item->candidate];
		measured[quality.measured] = evaluated_search_us(item);
		pairs[quality.measured] =
			(struct pair){predicted[quality.measured], measured[quality.measured]};
		quality.measured++;
	}
	quality.rank_correlation =
		statistics_rank_correlation(predicted, measured, quality.measured);
	qsort(pairs, quality.measured, sizeof(*pairs), compare_predicted);
	rank(&quality, pairs, quality.measured);
	listed = shortlisted_fastest(pool, evaluated);
	if (listed.index != SIZE_MAX)
		quality.shortlist_regret = listed.time_us / listed.best_us - 1;
	free(pairs);
	free(predicted);
	free(measured);
	return quality;
}

/* ---- family quota ---- */
enum {
	LAUNCHES_PER_KERNEL = 8 /* some launch arguments each, of which one is wanted */
};

/* The `wanted` first kernels of a family that were not asked for yet. */
static size_t first_kernels(
	const struct search *search, size_t family, size_t wanted, size_t *candidates)
{
	const struct candidates *pool = &search->pool;
	const size_t first = pool->families[family].first,
		     end = first + pool->families[family].count;
	const size_t most = wanted * LAUNCHES_PER_KERNEL;
	size_t *list = memory_zeroed(pool->families[family].count + 1, sizeof(*list));
	size_t count = 0, chosen;

	for (size_t i = first; i < end; i++)
		if (!search->asked[i] && isfinite(pool->predicted_us[i]))
			list[count++] = i;
	count = order_smallest(list, count, pool->predicted_us, most);
	chosen = shortlist_choose(&pool->view, list, count, wanted);
	for (size_t i = 0; i < chosen; i++)
		candidates[i] = list[i];
	free(list);
	return chosen;
}

static size_t tried_of(const struct search *search, size_t family)
{
	size_t tried = 0;

	for (size_t i = 0; i < search->evaluated.count; i++)
		tried += search->pool.family_of[search->evaluated.items[i].candidate] == family;
	return tried;
}

size_t family_quota_candidates(const struct search *search, size_t **candidates)
{
	const struct candidates *pool = &search->pool;
	const struct effort *effort = search->session->effort;
	const size_t least = effort->of_each_family;
	double left_s = budget_search_left_seconds(&search->budget);
	size_t count = 0, kept = 0;

	*candidates = memory_zeroed(pool->family_count * least + 1, sizeof(**candidates));
	if (!effort->measures || !device_measures(search->session->context->device) ||
		search->session->strategy || pool->family_count < 2 || !least)
		return 0; /* a strategy that was asked for has the only say */
	for (size_t f = 0; f < pool->family_count; f++) {
		size_t tried = tried_of(search, f);

		if (tried < least)
			count += first_kernels(search, f, least - tried, *candidates + count);
	}
	for (; kept < count; kept++) {
		left_s -= 1e-6 * pool->predicted_us[(*candidates)[kept]] *
			  (effort->rounds_min + 2); /* warming up, verifying */
		if (left_s < 0)
			break;
	}
	return kept;
}
