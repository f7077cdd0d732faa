/* SPDX-License-Identifier: MIT */
#include "tune/shortlist.h"

#include <math.h>

#include "search/order.h"
#include "tune/search.h"

size_t shortlist_first(const struct search *search, size_t first, size_t count, size_t wanted,
	size_t launches, size_t *candidates)
{
	const struct candidates *pool = &search->pool;
	CLEANUP(memory_free) size_t *list = memory_zeroed(count + 1, sizeof(*list));
	size_t found = 0;

	for (size_t i = first; i < first + count; i++)
		if (!search->asked[i] && isfinite(pool->predicted_us[i]))
			list[found++] = i;
	found = order_smallest(list, found, pool->predicted_us, wanted * launches);
	found = shortlist_choose(&pool->view, list, found, wanted);
	memcpy(candidates, list, found * sizeof(*candidates));
	return found;
}

void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed)
{
	size_t *candidates = memory_zeroed(evaluated->count + 1, sizeof(*candidates));
	size_t count = 0, listed;

	for (size_t i = 0; i < evaluated->count; i++)
		if (evaluated->items[i].result.outcome == OUTCOME_OK)
			candidates[count++] = evaluated->items[i].candidate;
	order_smallest(candidates, count, pool->predicted_us, count);
	listed = shortlist_choose(&pool->view, candidates, count, SHORTLIST_COUNT);
	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];
		size_t k = 0;

		while (k < listed && candidates[k] != item->candidate)
			k++;
		is_listed[i] = k < listed && item->result.outcome == OUTCOME_OK;
	}
	free(candidates);
}

size_t shortlisted_fastest(const struct candidates *pool, const struct evaluated_list *evaluated)
{
	CLEANUP(memory_free)
	bool *is_listed = memory_zeroed(evaluated->count + 1, sizeof(*is_listed));
	size_t fastest = SIZE_MAX;

	shortlisted_mark(pool, evaluated, is_listed);
	for (size_t i = 0; i < evaluated->count; i++)
		if (is_listed[i] && (fastest == SIZE_MAX ||
					    evaluated->items[i].result.time.median <
						    evaluated->items[fastest].result.time.median))
			fastest = i;
	return fastest;
}

struct tuned_model model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct tuned_model quality = {.rank_of_best = 1};
	CLEANUP(memory_free)
	double *predicted = memory_zeroed(evaluated->count + 1, sizeof(double));
	CLEANUP(memory_free) double *measured = memory_zeroed(evaluated->count + 1, sizeof(double));
	size_t best = 0, count = 0;

	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];

		if (item->result.outcome != OUTCOME_OK)
			continue;
		predicted[count] = pool->predicted_us[item->candidate];
		measured[count] = evaluated_search_us(item);
		if (measured[count] < measured[best])
			best = count;
		count++;
	}
	for (size_t i = 0; i < count; i++)
		quality.rank_of_best += predicted[i] < predicted[best];
	quality.measured = count;
	quality.rank_correlation = statistics_rank_correlation(predicted, measured, count);
	return quality;
}

enum {
	LAUNCHES_PER_KERNEL = 8 /* assumed; one of them is selected */
};

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
	const struct effort *effort = search->options->effort;
	const size_t least = effort->of_each_family;
	double left_s = budget_search_left_seconds(&search->budget);
	size_t count = 0, kept = 0;

	*candidates = memory_zeroed(pool->family_count * least + 1, sizeof(**candidates));
	if (!effort->measures || search->options->strategy || pool->family_count < 2 || !least)
		return 0; /* only the user's strategy proposes candidates */
	for (size_t f = 0; f < pool->family_count; f++) {
		size_t tried = tried_of(search, f);

		if (tried < least)
			count += shortlist_first(search, pool->families[f].first,
				pool->families[f].count, least - tried, LAUNCHES_PER_KERNEL,
				*candidates + count);
	}
	for (; kept < count; kept++) {
		left_s -= 1e-6 * pool->predicted_us[(*candidates)[kept]] *
			  (effort->rounds + 2); /* including warm-up and verification */
		if (left_s < 0)
			break;
	}
	return kept;
}
