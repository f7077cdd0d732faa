/* SPDX-License-Identifier: MIT */
#include "tune/family_quota.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "search/shortlist.h"

enum {
	LAUNCHES_PER_KERNEL = 8 /* some launch arguments each, of which one is wanted */
};

struct ranked {
	size_t candidate;
	double predicted_us;
};

/* Puts a candidate into a rising list of at most `most`. */
static size_t insert(struct ranked *list, size_t count, size_t most, struct ranked item)
{
	size_t at = count < most ? count : most;

	while (at > 0 && list[at - 1].predicted_us > item.predicted_us) {
		if (at < most)
			list[at] = list[at - 1];
		at--;
	}
	if (at < most)
		list[at] = item;
	return count < most ? count + 1 : most;
}

/* The `wanted` first kernels of a family that were not asked for yet. */
static size_t first_kernels(
	const struct search *search, size_t family, size_t wanted, size_t *candidates)
{
	const struct candidates *pool = &search->pool;
	const size_t first = pool->families[family].first,
		     end = first + pool->families[family].count;
	const size_t most = wanted * LAUNCHES_PER_KERNEL;
	struct ranked *list = memory_zeroed(most, sizeof(*list));
	size_t *order = memory_zeroed(most + 1, sizeof(*order));
	size_t count = 0, chosen;

	for (size_t i = first; i < end; i++)
		if (!search->asked[i] && isfinite(pool->predicted_us[i]))
			count = insert(list, count, most,
				(struct ranked){
					.candidate = i, .predicted_us = pool->predicted_us[i]});
	for (size_t i = 0; i < count; i++)
		order[i] = list[i].candidate;
	chosen = shortlist_choose(&pool->view, order, count, wanted);
	for (size_t i = 0; i < chosen; i++)
		candidates[i] = order[i];
	free(order);
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
