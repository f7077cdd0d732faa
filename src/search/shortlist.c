/* SPDX-License-Identifier: MIT */
#include "search/shortlist.h"

#include <string.h>

static const choice *configuration_of(const struct search_family *family, size_t candidate)
{
	return family->configurations + (candidate - family->first) * family->parameter_count;
}

bool shortlist_same_kernel(const struct search_view *view, size_t a, size_t b)
{
	const struct search_family *family = &view->families[view->family[a]];
	const choice *x, *y;

	if (view->family[a] != view->family[b])
		return false;
	if (family->parameter_count == 0)
		return a == b;
	x = configuration_of(family, a);
	y = configuration_of(family, b);
	for (size_t i = 0; i < family->parameter_count; i++)
		if (x[i] != y[i] && !(family->argument && family->argument[i]))
			return false;
	return true;
}

size_t shortlist_choose(
	const struct search_view *view, size_t *candidates, size_t count, size_t wanted)
{
	size_t chosen = 0;

	for (size_t i = 0; i < count && chosen < wanted; i++) {
		const size_t candidate = candidates[i];
		bool known = false;

		for (size_t k = 0; k < chosen && !known; k++)
			known = shortlist_same_kernel(view, candidates[k], candidate);
		if (known)
			continue;
		memmove(&candidates[chosen + 1], &candidates[chosen],
			(i - chosen) * sizeof(*candidates));
		candidates[chosen++] = candidate;
	}
	return chosen;
}
