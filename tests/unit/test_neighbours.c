/* SPDX-License-Identifier: MIT
 *
 * Neighbours of a candidate: what differs from it in one parameter, or in two by a level each; and
 * the strategy that goes from one to the next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "search/neighbours.h"
#include "unit/landscape.h"

TEST(test_neighbours)
{
	struct landscape landscape;
	size_t found[64], count;

	landscape_init(&landscape, 1, 1, 0);
	for (size_t candidate = 5; candidate < landscape.view.count; candidate += 1009) {
		const size_t f = landscape.view.family[candidate];
		const choice *x = landscape.configurations[f] +
				  (candidate - landscape.families[f].first) * LANDSCAPE_PARAMETERS;

		count = neighbours_list(&landscape.view, candidate, true, found, 64);
		assert_in_range(count, 1, 64);
		for (size_t i = 0; i < count; i++) {
			const choice *y =
				landscape.configurations[f] +
				(found[i] - landscape.families[f].first) * LANDSCAPE_PARAMETERS;
			int differ = 0;

			assert_int_equal(landscape.view.family[found[i]], f);
			for (int p = 0; p < LANDSCAPE_PARAMETERS; p++)
				differ += x[p] != y[p];
			assert_in_range(differ, 1, 2);
			for (size_t j = 0; j < i; j++)
				assert_int_not_equal(found[i], found[j]);
			if (i > 0)
				assert_true(landscape.view.predicted_us[found[i - 1]] <=
					    landscape.view.predicted_us[found[i]]);
		}
	}
	assert_int_equal(neighbours_list(&landscape.view, 5, true, found, 3), 3);
	landscape_release(&landscape);
}

/* Every parameter is varied alone: to the nearest legal value on either side, and to every legal
 * one where values have no order. */
TEST(test_neighbours_of_each_parameter)
{
	struct landscape landscape;
	size_t found[1024], moves[LANDSCAPE_PARAMETERS] = {0};

	landscape_init(&landscape, 1, 1, 0);
	for (size_t candidate = 5; candidate < landscape.view.count; candidate += 1009) {
		const size_t f = landscape.view.family[candidate];
		const size_t count = neighbours_list(
			&landscape.view, candidate, true, found, ARRAY_COUNT(found));

		for (int p = 0; p < LANDSCAPE_PARAMETERS; p++)
			for (int direction = -1; direction <= 1; direction += 2) {
				choice x[LANDSCAPE_PARAMETERS];
				ptrdiff_t moved = -1;

				memcpy(x,
					landscape.configurations[f] +
						(candidate - landscape.families[f].first) *
							LANDSCAPE_PARAMETERS,
					sizeof(x));
				for (int value = x[p] + direction;
					value >= 0 && value < LANDSCAPE_LEVELS && moved < 0;
					value += direction) {
					x[p] = (choice)value;
					moved = search_view_find(&landscape.view, f, x);
				}
				if (moved < 0 || !isfinite(landscape.view.predicted_us[moved]))
					continue;
				moves[p]++;
				for (size_t i = 0; moved >= 0 && i < count; i++)
					if (found[i] == (size_t)moved)
						moved = -1;
				assert_int_equal(moved, -1);
			}
	}
	for (int p = 0; p < LANDSCAPE_PARAMETERS; p++)
		assert_true(moves[p] > 0);
	landscape_release(&landscape);
}

/* local goes from its best start to every faster neighbour, whatever is predicted. */
TEST(test_local_climbs)
{
	enum {
		COUNT = 60,
		STARTS = 8,
	};
	static const struct search_parameter parameter = {COUNT, true, false};
	static const uint32_t family[COUNT] = {0};
	choice configurations[COUNT];
	double predicted[COUNT];
	const struct search_family families[] = {{0, COUNT, 1, configurations, &parameter}};
	const struct search_view view = {.count = COUNT,
		.predicted_us = predicted,
		.family = family,
		.family_count = 1,
		.families = families,
		.budget = SIZE_MAX};
	const struct strategy *local = strategy_find("local");
	size_t candidate;
	void *opened;

	for (size_t i = 0; i < COUNT; i++) {
		configurations[i] = (choice)i;
		predicted[i] = (double)(i < STARTS ? 1 + i : 1000 - i);
	}
	opened = local->open(&view);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(local->ask(opened, &candidate), ASK_CANDIDATE);
		assert_int_equal(candidate, i);
		local->tell(opened, candidate, (double)(100 - i));
	}
	assert_int_equal(local->ask(opened, &candidate), ASK_DONE);
	local->close(opened);
}
