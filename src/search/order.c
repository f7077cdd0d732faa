/* SPDX-License-Identifier: MIT */
#include "search/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool comes_before(const double *keys, size_t a, size_t b)
{
	return keys[a] < keys[b] || (keys[a] <= keys[b] && a < b);
}

static int compare(const void *a, const void *b, void *context)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return comes_before(context, x, y) ? -1 : x != y;
}

void order_sort(size_t *candidates, size_t count, const double *keys)
{
	if (count == 0)
		return; /* there may be no array */
	qsort_r(candidates, count, sizeof(*candidates), compare, (void *)(uintptr_t)keys);
}

static void swap(size_t *a, size_t *b)
{
	const size_t kept = *a;

	*a = *b;
	*b = kept;
}

/* Restores a heap with the largest on top after its top changed. */
static void heap_sift(size_t *heap, size_t count, const double *keys, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			return;
		if (child + 1 < count && comes_before(keys, heap[child], heap[child + 1]))
			child++;
		if (!comes_before(keys, heap[at], heap[child]))
			return;
		swap(&heap[at], &heap[child]);
		at = child;
	}
}

void order_smallest(size_t *candidates, size_t count, const double *keys, size_t wanted)
{
	if (wanted >= count) {
		order_sort(candidates, count, keys);
		return;
	}
	if (wanted == 0)
		return;
	for (size_t i = wanted / 2; i-- > 0;)
		heap_sift(candidates, wanted, keys, i);
	for (size_t i = wanted; i < count; i++)
		if (comes_before(keys, candidates[i], candidates[0])) {
			swap(&candidates[i], &candidates[0]);
			heap_sift(candidates, wanted, keys, 0);
		}
	order_sort(candidates, wanted, keys);
}

size_t *order_by_prediction(const struct search_view *view, size_t wanted, size_t *count)
{
	size_t *candidates = memory_zeroed(view->count + 1, sizeof(*candidates));

	*count = 0;
	for (size_t i = 0; i < view->count; i++)
		if (isfinite(view->predicted_us[i]))
			candidates[(*count)++] = i;
	order_smallest(candidates, *count, view->predicted_us, wanted);
	if (*count > wanted)
		*count = wanted;
	return candidates;
}

/* ---- the model's shortlist ---- */
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
