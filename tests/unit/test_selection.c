#include "unit/unit.h"

#include <math.h>

#include "base/random.h"
#include "tune/selection.h"

static struct selection_item at(double median, double spread, double predicted, size_t order)
{
	return (struct selection_item){.median_us = median,
		.ci95_low_us = median * (1 - spread),
		.ci95_high_us = median * (1 + spread),
		.predicted_us = predicted,
		.order = order};
}

static struct selection choose(struct selection_item *items, size_t count)
{
	struct selection selection = {.items = items, .count = count};

	selection_choose(&selection);
	return selection;
}

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

/* Twenty runs over the same near-tied candidates with 0.5% noise give one winner. */
TEST(noisy_runs_agree)
{
	struct random_state random;
	size_t winners[20];

	random_seed(&random, 7);
	for (int run = 0; run < 20; run++) {
		struct selection_item items[5];

		for (size_t i = 0; i < 5; i++) {
			double true_us = 100 + 0.1 * (double)i;
			double noise = 0.003 * (random_unit(&random) - 0.5);

			items[i] = at(true_us * (1 + noise), 0.002, 70 - 5 * (double)i, i);
		}
		winners[run] = choose(items, 5).winner;
	}
	for (int run = 1; run < 20; run++)
		assert_int_equal(winners[run], winners[0]);
}
