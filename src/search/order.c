/* SPDX-License-Identifier: MIT */
#include "search/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool comes_before(const double *keys, size_t a, size_t b)
{
	return keys[a] < keys[b] || (keys[a] <= keys[b] && a < b);
}

static int order_compare(const void *a, const void *b, void *context)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return comes_before(context, x, y) ? -1 : x != y;
}

/* Quickselect; no two candidates compare equal. */
static void bring_to_front(size_t *candidates, size_t count, const double *keys, size_t wanted)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1;

	while (low < high) {
		const size_t pivot = candidates[low + (high - low) / 2];
		ptrdiff_t i = low, j = high;

		while (i <= j) {
			while (comes_before(keys, candidates[i], pivot))
				i++;
			while (comes_before(keys, pivot, candidates[j]))
				j--;
			if (i <= j) {
				const size_t kept = candidates[i];

				candidates[i++] = candidates[j];
				candidates[j--] = kept;
			}
		}
		if ((ptrdiff_t)wanted <= j)
			high = j;
		else
			low = (ptrdiff_t)wanted >= i ? i : high;
	}
}

size_t order_smallest(size_t *candidates, size_t count, const double *keys, size_t wanted)
{
	if (wanted < count)
		bring_to_front(candidates, count, keys, wanted);
	else
		wanted = count;
	if (wanted > 0) /* an empty list may have no array */
		qsort_r(candidates, wanted, sizeof(*candidates), order_compare,
			(void *)(uintptr_t)keys);
	return wanted;
}

bool shortlist_same_kernel(const struct search_view *view, size_t a, size_t b)
{
	const struct search_family *family = &view->families[view->family[a]];
	const choice *x, *y;

	if (view->family[a] != view->family[b])
		return false;
	if (family->parameter_count == 0)
		return a == b;
	x = search_view_configuration(view, a);
	y = search_view_configuration(view, b);
	for (size_t i = 0; i < family->parameter_count; i++)
		if (x[i] != y[i] && !family->parameters[i].is_argument)
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
