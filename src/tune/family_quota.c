/* SPDX-License-Identifier: MIT */
#include "tune/family_quota.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "search/order.h"

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
	order_smallest(list, count, pool->predicted_us, most);
	chosen = shortlist_choose(&pool->view, list, count < most ? count : most, wanted);
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
	double left_s = search->budget.seconds - (clock_seconds() - search->budget.started);
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
