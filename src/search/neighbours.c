/* SPDX-License-Identifier: MIT */
#include "search/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/order.h"

struct neighbour_search {
	const struct search_view *view;
	size_t family;
	choice configuration[SPACE_PARAMETERS_MAX];
	size_t *found;
	size_t count, capacity;
};

/* Returns whether the configuration is legal with this value, which may be out of range. */
static bool search_visit(struct neighbour_search *search, size_t p, int value)
{
	const struct search_view *view = search->view;
	const choice own = search->configuration[p];
	ptrdiff_t index;

	search->configuration[p] = (choice)value;
	index = search_view_find(view, search->family, search->configuration);
	search->configuration[p] = own;
	if (index >= 0 && isfinite(view->predicted_us[index])) {
		ARRAY_GROW(search->found, search->count, search->capacity);
		search->found[search->count++] = (size_t)index;
	}
	return index >= 0;
}

/* Adds the nearest legal value on either side, or all legal values if they are unordered. */
static void search_single(struct neighbour_search *search, size_t p)
{
	const struct search_family *family = &search->view->families[search->family];
	const int own = search->configuration[p];

	for (int direction = -1; direction <= 1; direction += 2)
		for (int value = own + direction;
			value >= 0 && value < family->parameters[p].levels; value += direction)
			if (search_visit(search, p, value) && family->parameters[p].is_ordered)
				break;
}

static void search_pair(struct neighbour_search *search, size_t p, size_t q)
{
	const choice own = search->configuration[p];

	for (int move = 0; move < 4; move++) {
		search->configuration[p] = (choice)(own + (move & 1 ? 1 : -1));
		search_visit(search, q, search->configuration[q] + (move & 2 ? 1 : -1));
	}
	search->configuration[p] = own;
}

size_t neighbours_list(
	const struct search_view *view, size_t candidate, bool pairs, size_t *found, size_t limit)
{
	struct neighbour_search search = {.view = view, .family = view->family[candidate]};
	const size_t parameters = view->families[search.family].parameter_count;

	memcpy(search.configuration, search_view_configuration(view, candidate),
		parameters * sizeof(choice));
	for (size_t p = 0; p < parameters; p++)
		search_single(&search, p);
	for (size_t p = 0; pairs && p < parameters; p++)
		for (size_t q = p + 1; q < parameters; q++)
			search_pair(&search, p, q);
	limit = order_smallest(search.found, search.count, view->predicted_us, limit);
	if (limit > 0)
		memcpy(found, search.found, limit * sizeof(*found));
	free(search.found);
	return limit;
}
