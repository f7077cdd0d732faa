#include "unit/unit.h"

#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "check/judge.h"
#include "check/row.h"
#include "format/tuned.h"

static const struct check_rule rule = {.threshold_ratio = 0.05, .floor_ratio = 0.01};

/* One simulated check of one entry: `rounds` ratios around the true one. */
static enum check_verdict simulate(
	struct random_state *random, double truth, double noise, size_t rounds)
{
	double then[100], now[100];
	struct interval a, b, slowdown;

	for (size_t i = 0; i < rounds; i++) {
		then[i] = 1 + noise * (2 * random_unit(random) - 1);
		now[i] = truth * (1 + noise * (2 * random_unit(random) - 1));
		/* sometimes another process disturbs a sample */
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
		/* a check that is unclear at one look continues until the next */
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

/* A predicted time cannot serve as a baseline. */
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
