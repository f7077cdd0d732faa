/* SPDX-License-Identifier: MIT
 *
 * Table of strategies.
 */
#include "search/strategy.h"

#include <string.h>

/* clang-format off */
#define STRATEGIES(row) \
	row(guided) \
	row(local) \
	row(evolution) \
	row(model_top) \
	row(exhaustive) \
	row(random) \
/* clang-format on */

#define DECLARE(name) extern const struct strategy strategy_##name;
#define ADDRESS(name) &strategy_##name,
STRATEGIES(DECLARE)
const struct strategy *const strategies[] = {STRATEGIES(ADDRESS) NULL};

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; strategies[i]; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}

const choice *search_view_configuration(const struct search_view *view, size_t candidate)
{
	const struct search_family *family = &view->families[view->family[candidate]];

	return family->configurations + (candidate - family->first) * family->parameter_count;
}

static int configuration_compare(const choice *a, const choice *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

ptrdiff_t search_view_find(
	const struct search_view *view, size_t family, const choice *configuration)
{
	const struct search_family *in = &view->families[family];
	size_t low = 0, high = in->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order =
			configuration_compare(in->configurations + middle * in->parameter_count,
				configuration, in->parameter_count);

		if (order == 0)
			return (ptrdiff_t)(in->first + middle);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}
