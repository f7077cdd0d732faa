#include "unit/unit.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "tune/budget.h"
#include "tune/conclude.h"
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

TEST(a_clear_winner_wins)
{
	struct selection_item items[] = {
		at(110, 0.001, 50, 0), at(100, 0.001, 90, 1), at(150, 0.001, 10, 2)};

	assert_int_equal(choose(items, 3).winner, 1);
	assert_false(items[0].is_tied);
	assert_true(items[1].is_tied);
	assert_false(items[2].is_tied);
}

TEST(within_one_percent_is_a_tie_and_the_rule_decides)
{
	struct selection_item items[] = {
		at(100.9, 0, 80, 0), at(100, 0, 90, 1), at(101.1, 0, 10, 2)};

	assert_int_equal(choose(items, 3).winner, 0); /* the better prediction */
	assert_true(items[0].is_tied);
	assert_false(items[2].is_tied);
}

/* Few blocks: two loads of one binary may be 0.3 us apart. */
TEST(code_placement_decides_nothing)
{
	struct selection_item items[] = {
		at(5.85, 0.001, 5, 0), at(5.6, 0.001, 6, 1), at(6.1, 0.001, 4, 2)};

	assert_int_equal(choose(items, 3).winner, 1);
	assert_false(items[0].is_tied);
	for (int i = 0; i < 3; i++)
		items[i].code_placement_noise_us = CODE_PLACEMENT_NOISE_US;
	assert_int_equal(choose(items, 3).winner, 0); /* the better prediction */
	assert_true(items[0].is_tied);
	assert_false(items[2].is_tied);
	/* beside 100 us it is nothing */
	items[0] = at(101.5, 0, 1, 0);
	items[1] = at(100, 0, 2, 1);
	items[0].code_placement_noise_us = items[1].code_placement_noise_us =
		CODE_PLACEMENT_NOISE_US;
	assert_int_equal(choose(items, 2).winner, 1);
	assert_false(items[0].is_tied);
}

TEST(the_incumbent_stays_if_tied)
{
	struct selection_item items[] = {at(100, 0, 50, 0), at(100.5, 0, 99, 1)};

	items[1].incumbent = true;
	assert_int_equal(choose(items, 2).winner, 1);
	items[1] = at(105, 0, 1, 1);
	items[1].incumbent = true;
	assert_int_equal(choose(items, 2).winner, 0);
}

TEST(noise_widens_the_tie)
{
	struct selection_item items[] = {at(100, 0.001, 60, 0), at(104, 0.04, 50, 1)};

	assert_int_equal(choose(items, 2).winner, 1);
	assert_true(items[1].is_tied);
}

TEST(resources_then_order_decide)
{
	struct selection_item items[] = {
		at(100, 0, 50, 3), at(100.1, 0, 50.1, 2), at(100.2, 0, 50, 1)};

	for (int i = 0; i < 3; i++)
		items[i].smem_bytes = 1000;
	items[0].smem_bytes = 2000;
	items[1].regs_per_thread = 100;
	items[2].regs_per_thread = 100;
	assert_int_equal(choose(items, 3).winner, 2);
	items[1].regs_per_thread = 90;
	assert_int_equal(choose(items, 3).winner, 1);
}

/* What was measured is not chosen by what was predicted, which may be slower by all of the tie. */
TEST(measured_ties_fall_to_resources)
{
	struct selection_item items[] = {at(100, 0, 0, 0), at(100.5, 0, 0, 1), at(100.2, 0, 0, 2)};

	items[0].smem_bytes = 3000;
	items[1].smem_bytes = items[2].smem_bytes = 2000;
	/* the deepest pipeline: what is shallower is slower by about the width of the tie */
	assert_int_equal(choose(items, 3).winner, 0);
	items[0].smem_bytes = 1000;
	assert_int_equal(choose(items, 3).winner, 1); /* the first in the space */
	items[2].smem_bytes = 4000;
	assert_int_equal(choose(items, 3).winner, 2);
}

/* A launch that is just behind what is tied does not decide between kernels, only its own
 * kernel's fastest launch does. */
TEST(the_kernel_is_chosen_before_its_launch)
{
	struct selection_item items[] = {
		at(100, 0, 0, 3), at(100.8, 0, 0, 2), at(101.3, 0, 0, 1), at(102, 0, 0, 0)};

	for (int i = 1; i < 4; i++) {
		items[i].smem_bytes = 1000;
		items[i].kernel_hash = "deep";
	}
	assert_int_equal(choose(items, 4).winner, 2);
	assert_true(items[1].is_tied);
	assert_true(items[2].is_tied);
	assert_false(items[3].is_tied);
	items[1].median_us = items[1].ci95_low_us = items[1].ci95_high_us = 101.2;
	assert_int_equal(choose(items, 4).winner, 0);
}

static void assert_lost(
	struct selection_item *items, size_t count, size_t which, enum reject_reason by)
{
	const struct selection selection = choose(items, count);

	assert_int_not_equal(selection.winner, which);
	assert_string_equal(
		reject_reason_names[selection_reject_reason(&selection, &items[which], true)],
		reject_reason_names[by]);
}

/* Each step of the order of preference, from the last to the first: the one that decided. */
TEST(what_decided_is_known)
{
	struct selection_item items[] = {at(100, 0, 0, 0), at(100.5, 0, 0, 1), at(103, 0, 0, 2)};

	assert_lost(items, 3, 2, REJECT_SLOWER);
	assert_lost(items, 3, 1, REJECT_ORDER);
	items[1].regs_per_thread = 100;
	assert_lost(items, 3, 1, REJECT_REGISTERS);
	items[0].smem_bytes = 1000;
	assert_lost(items, 3, 1, REJECT_SMEM);
	items[1].is_planned = true;
	assert_lost(items, 3, 0, REJECT_PLANNED);
	items[0].predicted_us = 50;
	items[1].predicted_us = 60;
	assert_lost(items, 3, 1, REJECT_PREDICTION);
	items[1].incumbent = true;
	assert_lost(items, 3, 0, REJECT_INCUMBENT);
}

/* The winner's kernel has a launch that is tied with the fastest, and a launch that is not wins;
 * the launch of another kernel comes between the two. */
TEST(what_is_not_tied_with_the_fastest_lost_before_the_order_was_asked)
{
	struct selection_item items[] = {
		at(100, 0, 0, 3), at(100.8, 0, 0, 2), at(101.5, 0, 0, 1), at(101.3, 0, 0, 0)};
	struct selection selection;

	for (int i = 1; i < 3; i++) {
		items[i].smem_bytes = 1000;
		items[i].kernel_hash = "deep";
	}
	assert_lost(items, 4, 0, REJECT_SMEM);
	assert_lost(items, 4, 1, REJECT_ORDER);
	assert_lost(items, 4, 3, REJECT_UNTIED);
	/* one of an earlier round: the order was never asked */
	selection = choose(items, 3);
	items[3].median_us = items[3].ci95_low_us = items[3].ci95_high_us = 100.2;
	assert_int_equal(selection_reject_reason(&selection, &items[3], false), REJECT_EARLIER);
}

/* Where few blocks run, of a time, and where it was measured. */
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

/* A candidate preferred to one that is preferred to a third is preferred to the third: else the
 * winner would hang on who else is tied. */
TEST(preference_is_an_order)
{
	struct random_state random;
	struct selection_item items[3];

	random_seed(&random, 3);
	for (int turn = 0; turn < 20000; turn++) {
		for (size_t i = 0; i < 3; i++) {
			items[i] = at(100, 0, 50 * (1 + 0.03 * random_unit(&random)), i);
			items[i].smem_bytes = (double)random_below(&random, 3);
			items[i].regs_per_thread = (double)random_below(&random, 2);
		}
		if (selection_item_is_preferred(&items[0], &items[1]) &&
			selection_item_is_preferred(&items[1], &items[2]))
			assert_true(selection_item_is_preferred(&items[0], &items[2]));
	}
}

/* Twenty runs over the same near-tied candidates with half a percent of noise: one winner. */
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

/* The clock falls by 8% after six rounds; one candidate is 3.5% slower all along. */
TEST(pairing_sees_through_a_falling_clock)
{
	double fast[24], slow[24];
	struct selection_item items[2];
	struct round_times rounds[] = {{slow, 24}, {fast, 24}};

	for (size_t i = 0; i < 24; i++) {
		double clock = i < 6 ? 1 : 0.92, noise = 1 + 0.001 * (double)(i % 3);

		fast[i] = 98 * noise / clock;
		slow[i] = 101.5 * noise / clock;
	}
	for (size_t i = 0; i < 2; i++) {
		struct summary time = statistics_summary(rounds[i].us, 24);

		items[i] = (struct selection_item){.median_us = time.median,
			.ci95_low_us = time.ci95_low * 0.95,
			.ci95_high_us = time.ci95_high * 1.05,
			.predicted_us = i ? 90 : 50};
	}
	assert_int_equal(choose(items, 2).winner, 0); /* taken for level, wrongly */
	selection_pair_rounds(&(struct selection){.items = items, .count = 2}, rounds);
	assert_int_equal(choose(items, 2).winner, 1);
	assert_false(items[0].is_tied);
	rounds[0].count = 5;
	items[0].median_us = 1;
	selection_pair_rounds(&(struct selection){.items = items, .count = 2},
		rounds); /* too few rounds: left as they are */
	assert_true(items[0].median_us < 1.5);
}

TEST(budgets_end)
{
	const struct effort *quick = effort_find("quick");
	struct budget budget;

	assert_non_null(quick);
	assert_null(effort_find("sloppy"));
	budget_start(&budget, quick, 1000, true);
	for (size_t i = 0; i < quick->stall; i++) {
		assert_null(budget_spent(&budget));
		budget_count(&budget, i ? 100 : 99);
	}
	assert_null(budget_spent(&budget));
	budget_count(&budget, INFINITY);
	assert_non_null(strstr(budget_spent(&budget), "nothing better"));
	budget_start(&budget, quick, 1000, true);
	for (size_t i = 0; i < quick->evaluations; i++)
		budget_count(&budget, 1e6 / (double)(i + 1));
	assert_non_null(strstr(budget_spent(&budget), "number of evaluations"));
	budget_start(&budget, quick, 1e-9, true);
	assert_non_null(strstr(budget_spent(&budget), "time budget"));
	budget_start(&budget, quick, 1000, true);
	budget.started -= 900;
	assert_null(budget_spent(&budget));
	budget.started -= 101;
	assert_non_null(strstr(budget_spent(&budget), "time budget"));
	assert_true(budget_left_seconds(&budget) <= 0);
}

/* The search leaves of it what measuring the best again takes; an effort's own time is the
 * search's. */
TEST(budgets_are_for_all_of_a_problem)
{
	const struct effort *quick = effort_find("quick");
	struct budget budget;

	for (double seconds = 0.5; seconds < 1000; seconds *= 2) {
		budget_start(&budget, quick, seconds, true);
		assert_float_equal(budget.seconds, seconds, 1e-3);
		assert_true(
			budget.search_seconds >= 0.5 * seconds && budget.search_seconds < seconds);
		budget.started -= budget.search_seconds;
		assert_non_null(budget_spent(&budget));
		assert_true(budget_left_seconds(&budget) <= seconds - budget.search_seconds);
		budget_start(&budget, quick, seconds, false);
		assert_float_equal(budget.search_seconds, seconds, 1e-3);
	}
	budget_start(&budget, quick, 0, true);
	assert_float_equal(budget.search_seconds, quick->seconds, 1e-3);
	assert_true(budget.seconds > quick->seconds);
	budget_start(&budget, effort_find("exhaustive"), 0, true);
	assert_true(isinf(budget.search_seconds) && isinf(budget_left_seconds(&budget)));
}

/* Gains that are too small to matter do not keep a search going, and larger ones do. */
TEST(small_gains_do_not_count)
{
	const struct effort *quick = effort_find("quick");

	for (int larger = 0; larger < 2; larger++) {
		double time_us = 100, gain = quick->stall_ratio * (larger ? 1.01 : 0.99);
		struct budget budget;

		budget_start(&budget, quick, 1000, true);
		budget_count(&budget, time_us);
		for (size_t i = 0; i < quick->stall; i++) {
			assert_null(budget_spent(&budget));
			time_us *= 1 - gain;
			budget_count(&budget, time_us);
		}
		if (larger)
			assert_null(budget_spent(&budget));
		else
			assert_non_null(strstr(budget_spent(&budget), "nothing better"));
	}
}

/* What is timed longer, for as long as it may win, is timed on while the clock falls: the rounds
 * that both have say who is faster, and by how much. */
TEST(rounds_that_one_alone_has_decide_nothing)
{
	double fast[40], slow[12];
	const struct round_times rounds[] = {{slow, 12}, {fast, 40}};
	struct selection_item items[2] = {{.median_us = 102}, {.median_us = 100}};

	for (size_t i = 0; i < 40; i++) {
		const double clock = i < 12 ? 1 : 0.9, noise = 1 + 0.001 * (double)(i % 3);

		fast[i] = 100 * noise / clock;
		if (i < 12)
			slow[i] = 103 * noise / clock;
	}
	assert_int_equal(round_times_fastest(rounds, 2), 1);
	assert_true(
		fabs(round_times_ratio(rounds[0], rounds[1], CONFIDENCE_95).value - 1.03) < 1e-9);
	assert_true(fabs(round_times_ratio(rounds[1], rounds[0], CONFIDENCE_95).value - 1 / 1.03) <
		    1e-9);
	selection_pair_rounds(&(struct selection){.items = items, .count = 2}, rounds);
	assert_true(fabs(items[0].median_us / items[1].median_us - 1.03) < 1e-9);
	assert_int_equal(choose(items, 2).winner, 1);
	assert_false(items[0].is_tied);
}
