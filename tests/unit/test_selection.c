#include "unit/unit.h"

#include <math.h>

#include "tune/selection.h"

/* The noise of code placement depends on the number of blocks, the time, and where it was
 * measured. */
TEST(code_placement_counts_where_few_blocks_run)
{
	static const struct {
		double tiles;
		unsigned loads;
		bool predicted;
		enum objective objective;
		double noise_us;
	} cases[] = {
		{10, 1, false, OBJECTIVE_TIME, CODE_PLACEMENT_NOISE_US},
		{10, 4, false, OBJECTIVE_TIME, CODE_PLACEMENT_NOISE_US / 2},
		{66, 4, false, OBJECTIVE_TIME, 0},
		{10, 4, false, OBJECTIVE_ENERGY, 0},
		{10, 4, true, OBJECTIVE_TIME, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct launch_score launch = {.tiles = cases[i].tiles};
		struct evaluated evaluated = {.loads = cases[i].loads,
			.result = {.score = {.launches = &launch, .launch_count = 1},
				.predicted = cases[i].predicted}};
		struct tune_options options = {.objective = cases[i].objective};
		struct device_spec device = {.sm_count = 132};
		double predicted_us = 0;
		struct search search = {.options = &options,
			.incumbent = -1,
			.evaluated = {.items = &evaluated, .count = 1},
			.pool = {.device = &device, .predicted_us = &predicted_us}};

		assert_true(fabs(selection_item_of(&search, 0).code_placement_noise_us -
				    cases[i].noise_us) < 1e-12);
	}
}
