/* layer: advise */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "check/judge.h"
#include "check/row.h"
#include "format/tuned.h"

static const struct check_rule rule = {.threshold_ratio = 0.05, .floor_ratio = 0.01};
static const double confidence_ratio = 0.99;

static void the_interval_decides(void **state)
{
	static const struct {
		struct check_estimate slowdown;
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

	(void)state;
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
static void the_clock_is_taken_out(void **state)
{
	struct check_estimate slowdown;
	struct check_estimate time = {1.09, 1.085, 1.095};

	(void)state;
	/* the anchor is 2% slower, and so is a kernel that depends on the clock */
	time = (struct check_estimate){1.02, 1.015, 1.025};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.02, true, &slowdown), CHECK_SAME);
	assert_true(fabs(slowdown.value - 1) < 1e-12);
	/* 7%: five more than the clock explains */
	time = (struct check_estimate){1.071, 1.066, 1.076};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.02, true, &slowdown), CHECK_SLOWER);
	/* memory does not care about the clock: 2% faster, the same time */
	time = (struct check_estimate){1.00, 0.995, 1.005};
	assert_int_equal(check_judge_clocked(&rule, &time, 0.98, false, &slowdown), CHECK_SAME);
	assert_true(fabs(slowdown.value - 1) < 1e-12);
	/* a clock that is 9% slower explains a kernel that is as slow */
	time = (struct check_estimate){1.09, 1.085, 1.095};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.09, true, &slowdown), CHECK_SAME);
	/* one that is bound by memory it does not explain, if that is what it is bound by */
	assert_int_equal(check_judge_clocked(&rule, &time, 1.09, false, &slowdown), CHECK_UNCLEAR);
	/* a faster clock that did not help: slower, or bound by memory? */
	time = (struct check_estimate){1.00, 0.995, 1.005};
	assert_int_equal(check_judge_clocked(&rule, &time, 0.92, true, &slowdown), CHECK_UNCLEAR);
	/* slower by any explanation */
	time = (struct check_estimate){1.20, 1.195, 1.205};
	assert_int_equal(check_judge_clocked(&rule, &time, 1.09, true, &slowdown), CHECK_SLOWER);
	/* the same by any: a faster clock that a kernel bound by memory did not use */
	time = (struct check_estimate){0.99, 0.985, 0.995};
	assert_int_equal(check_judge_clocked(&rule, &time, 0.96, true, &slowdown), CHECK_SAME);
}

static void intervals_combine(void **state)
{
	struct check_estimate now = {2.0, 1.9, 2.1}, then = {1.0, 0.95, 1.05}, ratio, wide;

	(void)state;
	ratio = check_estimate_over(&now, &then);
	assert_true(fabs(ratio.value - 2) < 1e-12);
	assert_true(fabs(ratio.low - (2 - hypot(0.1, 0.1))) < 1e-12);
	assert_true(fabs(ratio.high - (2 + hypot(0.1, 0.1))) < 1e-12);
	assert_true(fabs(check_estimate_half_ratio(&now) - 0.05) < 1e-12);
	wide = check_estimate_at(&now, 0.95, 0.99);
	assert_true(fabs((wide.high - wide.value) / 0.1 - 2.5758 / 1.95996) < 1e-3);
	wide = check_estimate_at(&now, 0.95, 0.95);
	assert_true(fabs(wide.low - now.low) < 1e-12);
	wide = check_estimate_widened(&now, 0.2);
	assert_true(fabs(wide.low - (2 - hypot(0.1, 0.2))) < 1e-12);
	assert_true(fabs(wide.high - (2 + hypot(0.1, 0.2))) < 1e-12);
}

/* The table of Student's distribution, 3 degrees of freedom, both sides: 3.182 at 95%, 5.841 at
 * 99%. */
static void few_loads_say_little(void **state)
{
	(void)state;
	assert_true(fabs(check_loads_half_width(1, 1, 0.95) - 3.182) < 1e-3);
	assert_true(fabs(check_loads_half_width(1, 1, 0.99) - 5.841) < 1e-3);
	assert_true(fabs(check_loads_half_width(0.01, 4, 0.99) - 0.0292) < 1e-4);
	assert_true(check_loads_half_width(0, 4, 0.99) < 1e-12);
}

/* One check of one entry in numbers: `blocks` ratios around the truth. */
static enum check_verdict simulate(
	struct random_state *random, double truth, double noise, size_t blocks)
{
	double then[100], now[100];
	struct check_estimate a, b, slowdown;

	for (size_t i = 0; i < blocks; i++) {
		then[i] = 1 + noise * (2 * random_unit(random) - 1);
		now[i] = truth * (1 + noise * (2 * random_unit(random) - 1));
		/* now and then something else is at work */
		if (random_unit(random) < 0.05)
			now[i] *= 1.3;
	}
	a = check_estimate(then, blocks, confidence_ratio);
	b = check_estimate(now, blocks, confidence_ratio);
	slowdown = check_estimate_over(&b, &a);
	return check_judge(&rule, &slowdown);
}

static void rates_are_as_promised(void **state)
{
	enum {
		TRIALS = 5000
	};
	struct random_state random;
	size_t false_alarms = 0, missed = 0, one = 0, two = 0, three = 0, sharp = 0;

	(void)state;
	random_seed(&random, 11);
	for (int i = 0; i < TRIALS; i++) {
		false_alarms += simulate(&random, 1.00, 0.02, 24) == CHECK_SLOWER;
		missed += simulate(&random, 1.05, 0.02, 24) != CHECK_SLOWER;
		one += simulate(&random, 1.01, 0.02, 24) == CHECK_SLOWER;
		two += simulate(&random, 1.02, 0.02, 24) == CHECK_SLOWER;
		three += simulate(&random, 1.03, 0.02, 24) == CHECK_SLOWER;
		sharp += simulate(&random, 1.02, 0.02, 96) == CHECK_SLOWER;
	}
	printf("false alarms %zu, missed %zu of %d; of 1%%, 2%%, 3%% found: %zu, %zu, %zu; of 2%% "
	       "in "
	       "four times the blocks: %zu\n",
		false_alarms, missed, TRIALS, one, two, three, sharp);
	assert_int_equal(false_alarms, 0);
	assert_int_equal(missed, 0);
	assert_true(one <= TRIALS / 1000);
	assert_true(sharp <= TRIALS / 1000);
}

/* A predicted time is no baseline. */
static void only_measured_times_are_compared(void **state)
{
	struct tuned tuned;
	struct tuned_entry *entry;
	struct error err;
	struct check_row row;

	(void)state;
	assert_ok(tuned_load("tests/data/report/small.json", &tuned, &err));
	entry = &tuned.entries[0];
	for (int predicted = 0; predicted < 2; predicted++) {
		entry->predicted = predicted;
		check_row_open(entry, &row);
		assert_true(row.baseline_us == (predicted ? 0 : entry->winner.time.median));
		check_row_release(&row);
	}
	tuned_release(&tuned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_decides),
		cmocka_unit_test(the_clock_is_taken_out),
		cmocka_unit_test(intervals_combine),
		cmocka_unit_test(few_loads_say_little),
		cmocka_unit_test(rates_are_as_promised),
		cmocka_unit_test(only_measured_times_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
