#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "check/judge.h"
#include "check/row.h"
#include "format/tuned.h"

static const struct check_rule rule = {.threshold_ratio = 0.05, .floor_ratio = 0.01};

TEST(the_interval_decides)
{
	static const struct {
		struct interval slowdown;
		enum check_verdict verdict;
	} cases[] = {
		{{1.00, 0.99, 1.01}, CHECK_SAME},
		{{1.03, 1.025, 1.035}, CHECK_SAME},    /* surely less than the threshold */
		{{1.04, 1.035, 1.045}, CHECK_SLOWER},  /* it may be the threshold */
		{{1.05, 1.045, 1.055}, CHECK_SLOWER},  /* the threshold itself is found */
		{{1.038, 1.035, 1.041}, CHECK_SLOWER}, /* also where this run was off by the floor
							*/
		{{1.20, 1.15, 1.25}, CHECK_SLOWER},
		{{1.03, 1.00, 1.06}, CHECK_UNCLEAR}, /* nothing, or a regression */
		{{1.10, 1.00, 1.20}, CHECK_UNCLEAR}, /* above the threshold, within the noise */
		{{1.00, 0.90, 1.10}, CHECK_UNCLEAR}, {{0.95, 0.945, 0.955}, CHECK_FASTER},
		{{0.80, 0.79, 0.81}, CHECK_FASTER},
		{{0.97, 0.965, 0.975}, CHECK_SAME}, /* faster, but not by the threshold */
		{{0.95, 0.90, 1.00}, CHECK_SAME},   /* within the noise, and surely not slower */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum check_verdict verdict = check_judge(&rule, &cases[i].slowdown);

		if (verdict != cases[i].verdict)
			fail_msg("%g (%g..%g): expected %s, found %s", cases[i].slowdown.value,
				cases[i].slowdown.low, cases[i].slowdown.high,
				check_verdict_names[cases[i].verdict],
				check_verdict_names[verdict]);
	}
}

/* A slower clock is not a slower kernel, and does not hide one. */
TEST(the_clock_is_taken_out)
{
	struct interval slowdown;
	struct interval time = {1.09, 1.085, 1.095};

	/* the anchor is 2% slower, and so is a kernel that depends on the clock */
	time = (struct interval){1.02, 1.015, 1.025};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.02, true, &slowdown), CHECK_SAME);
	assert_true(fabs(slowdown.value - 1) < 1e-12);
	/* 7%: five more than the clock explains */
	time = (struct interval){1.071, 1.066, 1.076};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.02, true, &slowdown), CHECK_SLOWER);
	/* memory does not care about the clock: 2% faster, the same time */
	time = (struct interval){1.00, 0.995, 1.005};
	assert_int_equal(check_judge_clocked(&rule, &time, 0.98, false, &slowdown), CHECK_SAME);
	assert_true(fabs(slowdown.value - 1) < 1e-12);
	/* a clock that is 9% slower explains a kernel that is as slow */
	time = (struct interval){1.09, 1.085, 1.095};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.09, true, &slowdown), CHECK_SAME);
	/* one that is bound by memory it does not explain, if that is what it is bound by */
	assert_int_equal(check_judge_clocked(&rule, &time, 1.09, false, &slowdown), CHECK_UNCLEAR);
	/* a faster clock that did not help: slower, or bound by memory? */
	time = (struct interval){1.00, 0.995, 1.005};
	assert_int_equal(check_judge_clocked(&rule, &time, 0.92, true, &slowdown), CHECK_UNCLEAR);
	/* slower by any explanation */
	time = (struct interval){1.20, 1.195, 1.205};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.09, true, &slowdown), CHECK_SLOWER);
	/* the same by any: a faster clock that a kernel bound by memory did not use */
	time = (struct interval){0.99, 0.985, 0.995};
	assert_int_equal(check_judge_clocked(&rule, &time, 0.96, true, &slowdown), CHECK_SAME);
}

TEST(intervals_combine)
{
	struct interval now = {2.0, 1.9, 2.1}, then = {1.0, 0.95, 1.05}, ratio, wide;

	ratio = check_estimate_over(&now, &then);
	assert_true(fabs(ratio.value - 2) < 1e-12);
	assert_true(fabs(ratio.low - (2 - hypot(0.1, 0.1))) < 1e-12);
	assert_true(fabs(ratio.high - (2 + hypot(0.1, 0.1))) < 1e-12);
	/* low where now is low and then was high */
	ratio = check_estimate_over(
		&(struct interval){2.0, 1.9, 2.3}, &(struct interval){1.0, 0.98, 1.1});
	assert_true(fabs(ratio.low - (2 - hypot(0.1, 2 * 0.1))) < 1e-12);
	assert_true(fabs(ratio.high - (2 + hypot(0.3, 2 * 0.02))) < 1e-12);
	assert_true(fabs(check_estimate_half_ratio(&now) - 0.05) < 1e-12);
	wide = check_estimate_stretched(&now);
	/* the table of Student's distribution, 3 degrees of freedom: 3.182 at 95%, 5.841 at 99% */
	assert_true(fabs((wide.high - wide.value) / 0.1 - 5.841 / 3.182) < 1e-5);
	assert_true(fabs((wide.value - wide.low) / 0.1 - 5.841 / 3.182) < 1e-5);
	wide = check_estimate_widened(&now, 0.2);
	assert_true(fabs(wide.low - (2 - hypot(0.1, 0.2))) < 1e-12);
	assert_true(fabs(wide.high - (2 + hypot(0.1, 0.2))) < 1e-12);
}

/* The table of Student's distribution, 3 degrees of freedom, both sides: 5.841 at 99%. */
TEST(few_loads_say_little)
{
	assert_true(fabs(check_loads_half_width(1, 1) - 5.841) < 1e-3);
	assert_true(fabs(check_loads_half_width(0.01, 4) - 0.0292) < 1e-4);
	assert_true(check_loads_half_width(0, 4) < 1e-12);
}

/* One check of one entry in numbers: `rounds` ratios around the truth. */
static enum check_verdict simulate(
	struct random_state *random, double truth, double noise, size_t rounds)
{
	double then[100], now[100];
	struct interval a, b, slowdown;

	for (size_t i = 0; i < rounds; i++) {
		then[i] = 1 + noise * (2 * random_unit(random) - 1);
		now[i] = truth * (1 + noise * (2 * random_unit(random) - 1));
		/* sometimes something else is at work */
		if (random_unit(random) < 0.05)
			now[i] *= 1.3;
		if (random_unit(random) < 0.05)
			then[i] *= 1.3;
	}
	a = statistics_interval(then, rounds, CONFIDENCE_99);
	b = statistics_interval(now, rounds, CONFIDENCE_99);
	slowdown = check_estimate_over(&b, &a);
	return check_judge(&rule, &slowdown);
}

TEST(rates_are_as_promised)
{
	enum {
		TRIALS = 5000
	};
	struct random_state random;
	size_t false_alarms = 0, missed = 0, early = 0, one = 0, two = 0, three = 0, sharp = 0;

	random_seed(&random, 11);
	for (int i = 0; i < TRIALS; i++) {
		false_alarms += simulate(&random, 1.00, 0.02, 24) == CHECK_SLOWER;
		false_alarms += simulate(&random, 1.00, 0.02, 99) == CHECK_SLOWER;
		missed += simulate(&random, 1.05, 0.02, 99) != CHECK_SLOWER;
		/* what is unclear at one look is sampled until the next */
		early += simulate(&random, 1.05, 0.02, 24) == CHECK_SAME;
		one += simulate(&random, 1.01, 0.02, 24) == CHECK_SLOWER;
		two += simulate(&random, 1.02, 0.02, 24) == CHECK_SLOWER;
		three += simulate(&random, 1.03, 0.02, 24) == CHECK_SLOWER;
		sharp += simulate(&random, 1.02, 0.02, 96) == CHECK_SLOWER;
	}
	printf("false alarms %zu, missed %zu of %d; of 1%%, 2%%, 3%% found: %zu, %zu, %zu; of 2%% "
	       "in "
	       "four times the rounds: %zu\n",
		false_alarms, missed, TRIALS, one, two, three, sharp);
	assert_true(false_alarms <= TRIALS / 1000);
	assert_int_equal(missed, 0);
	assert_int_equal(early, 0);
	assert_true(one <= TRIALS / 1000);
	assert_true(sharp <= TRIALS / 100);
}

/* A predicted time is no baseline. */
TEST(only_measured_times_are_compared)
{
	struct tuned tuned;
	struct tuned_entry *entry;
	struct error err;
	struct check_row row;

	assert_ok(tuned_load("tests/data/report/small.json", &tuned, &err));
	entry = &tuned.entries[0];
	for (int predicted = 0; predicted < 2; predicted++) {
		entry->predicted = predicted;
		check_row_open(entry, &row);
		assert_true(row.baseline_us == (predicted ? 0 : entry->winner.result.time.median));
		check_row_release(&row);
	}
	tuned_release(&tuned);
}
