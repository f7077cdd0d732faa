/* SPDX-License-Identifier: MIT
 *
 * The parents that evolution chooses.
 */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/strategy.h"

enum {
	AXES = 3
};

/* Every configuration of three parameters of one family, without predictions. */
struct grid {
	struct search_parameter parameters[AXES];
	struct search_family family;
	struct search_view view;
	choice (*configurations)[AXES];
};

static void grid_open(struct grid *grid, choice levels)
{
	const size_t count = (size_t)levels * levels * levels;
	double *predicted_us = memory_zeroed(count, sizeof(*predicted_us));

	*grid = (struct grid){
		.configurations = memory_zeroed(count, sizeof(*grid->configurations))};
	for (size_t p = 0; p < AXES; p++)
		grid->parameters[p] = (struct search_parameter){levels, false, false};
	for (size_t i = 0; i < count; i++) {
		grid->configurations[i][0] = (choice)(i / levels / levels);
		grid->configurations[i][1] = (choice)(i / levels % levels);
		grid->configurations[i][2] = (choice)(i % levels);
		predicted_us[i] = 1;
	}
	grid->family =
		(struct search_family){0, count, AXES, grid->configurations[0], grid->parameters};
	grid->view = (struct search_view){.count = count,
		.predicted_us = predicted_us,
		.family = memory_zeroed(count, sizeof(uint32_t)),
		.family_count = 1,
		.families = &grid->family,
		.seed = 1,
		.budget = SIZE_MAX};
}

static void grid_close(struct grid *grid)
{
	free(grid->configurations);
	free((void *)(uintptr_t)grid->view.predicted_us);
	free((void *)(uintptr_t)grid->view.family);
}

/* ---- evolution: "the fastest so far are parents", each the faster of two that are drawn ---- */
enum {
	FIRST = 12,
	CHILDREN = 300
};

/* Mean rank (0 is the fastest) of the candidates whose values the children inherit. The children
 * take child_us. */
static double mean_place(double child_us)
{
	const struct strategy *evolution = strategy_find("evolution");
	size_t first[FIRST], candidate, inherited = 0;
	double places = 0;
	struct grid grid;
	void *state;

	grid_open(&grid, 40);
	state = evolution->open(&grid.view);
	for (size_t i = 0; i < FIRST; i++)
		assert_int_equal(evolution->ask(state, &first[i]), ASK_CANDIDATE);
	for (size_t i = 0; i < FIRST; i++)
		evolution->tell(state, first[i], 10 + (double)i);
	for (size_t n = 0; n < CHILDREN; n++) {
		assert_int_equal(evolution->ask(state, &candidate), ASK_CANDIDATE);
		for (size_t p = 0; p < AXES; p++) {
			size_t from = FIRST, count = 0;

			for (size_t i = 0; i < FIRST; i++)
				if (grid.configurations[first[i]][p] ==
					grid.configurations[candidate][p])
					from = i, count++;
			if (count == 1)
				places += (double)from, inherited++;
		}
		evolution->tell(state, candidate, child_us);
	}
	evolution->close(state);
	grid_close(&grid);
	assert_true(inherited > CHILDREN); /* most values come from parents */
	return places / (double)inherited;
}

/* Of two ranks drawn from 0 to 11, the lower one averages 3.5 and the higher one 7.5. */
TEST(of_two_parents_that_are_drawn_the_faster_is_taken)
{
	double expected = 0;

	for (int a = 0; a < FIRST; a++)
		for (int b = 0; b < FIRST; b++)
			expected += (a < b ? a : b) / (double)(FIRST * FIRST);
	assert_true(fabs(mean_place(INFINITY) - expected) < 0.7);
}

TEST(slower_children_replace_no_parent)
{
	assert_true(fabs(mean_place(1000) - mean_place(INFINITY)) < 1e-12);
}

TEST(faster_children_are_parents)
{
	assert_true(fabs(mean_place(1) - mean_place(INFINITY)) > 1e-12);
}
