/* SPDX-License-Identifier: MIT */
#include "tune/model_quality.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "search/order.h"

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
	order_sort(candidates, count, pool->predicted_us);
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
