/* SPDX-License-Identifier: MIT */
#include "search/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/order.h"

void neighbourhood_init(struct neighbourhood *neighbourhood, const struct search_view *view)
{
	neighbourhood->view = view;
	neighbourhood->levels =
		memory_zeroed(view->family_count + 1, sizeof(*neighbourhood->levels));
	for (size_t f = 0; f < view->family_count; f++) {
		const struct search_family *family = &view->families[f];
		choice *levels = memory_zeroed(family->parameter_count + 1, sizeof(*levels));

		for (size_t i = 0; i < family->count; i++)
			for (size_t p = 0; p < family->parameter_count; p++) {
				const choice value =
					family->configurations[i * family->parameter_count + p];

				if (value >= levels[p])
					levels[p] = (choice)(value + 1);
			}
		neighbourhood->levels[f] = levels;
	}
}

void neighbourhood_release(struct neighbourhood *neighbourhood)
{
	for (size_t f = 0; neighbourhood->levels && f < neighbourhood->view->family_count; f++)
		free(neighbourhood->levels[f]);
	free(neighbourhood->levels);
	*neighbourhood = (struct neighbourhood){0};
}

struct search {
	const struct neighbourhood *neighbourhood;
	const struct search_family *of;
	size_t family;
	choice configuration[SPACE_PARAMETERS_MAX];
	size_t *found; /* grows */
	size_t count, capacity;
};

/* Whether there is such a configuration. */
static bool search_visit(struct search *search)
{
	const struct search_view *view = search->neighbourhood->view;
	const ptrdiff_t index = search_view_find(view, search->family, search->configuration);

	if (index >= 0 && isfinite(view->predicted_us[index])) {
		ARRAY_GROW(search->found, search->count, search->capacity);
		search->found[search->count++] = (size_t)index;
	}
	return index >= 0;
}

/* Single moves. For numbers: the nearest legal value on either side. */
static void search_single(struct search *search, size_t p)
{
	const int levels = search->neighbourhood->levels[search->family][p];
	const choice own = search->configuration[p];

	for (int direction = -1; direction <= 1; direction += 2)
		for (int value = own + direction; value >= 0 && value < levels;
			value += direction) {
			search->configuration[p] = (choice)value;
			if (search_visit(search) && search->of->ordered[p])
				break;
		}
	search->configuration[p] = own;
}

/* Pairs of moves by one level each. */
static void search_pair(struct search *search, size_t p, size_t q)
{
	const choice *levels = search->neighbourhood->levels[search->family];
	choice *x = search->configuration;
	const choice own_p = x[p], own_q = x[q];

	for (int move = 0; move < 4; move++) {
		const int to_p = own_p + (move & 1 ? 1 : -1), to_q = own_q + (move & 2 ? 1 : -1);

		if (to_p < 0 || to_p >= levels[p] || to_q < 0 || to_q >= levels[q])
			continue;
		x[p] = (choice)to_p;
		x[q] = (choice)to_q;
		search_visit(search);
	}
	x[p] = own_p;
	x[q] = own_q;
}

static size_t list(const struct neighbourhood *neighbourhood, size_t candidate, bool pairs,
	size_t *found, size_t limit)
{
	const struct search_view *view = neighbourhood->view;
	const size_t family = view->family[candidate];
	struct search search = {
		.neighbourhood = neighbourhood, .of = &view->families[family], .family = family};
	const size_t parameters = search.of->parameter_count;

	memcpy(search.configuration, search_view_configuration(view, candidate),
		parameters * sizeof(choice));
	for (size_t p = 0; p < parameters; p++)
		search_single(&search, p);
	for (size_t p = 0; pairs && p < parameters; p++)
		for (size_t q = p + 1; q < parameters; q++)
			search_pair(&search, p, q);
	order_sort(search.found, search.count, view->predicted_us);
	if (search.count > limit)
		search.count = limit;
	if (search.count > 0)
		memcpy(found, search.found, search.count * sizeof(*found));
	free(search.found);
	return search.count;
}

size_t neighbourhood_list(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit)
{
	return list(neighbourhood, candidate, true, found, limit);
}

size_t neighbourhood_nearest(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit)
{
	return list(neighbourhood, candidate, false, found, limit);
}
