/* layer: base */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void summary_of_known_numbers(void **state)
{
	static const double samples[] = {4, 1, 3, 2, 5, 6, 7, 8, 9, 10};
	struct summary summary = statistics_summary(samples, 10);

	(void)state;
	assert_int_equal(summary.count, 10);
	near(summary.median, 5.5);
	near(summary.mean, 5.5);
	near(summary.minimum, 1);
	near(summary.maximum, 10);
	near(summary.deviation, sqrt(82.5 / 9));
	/* binomial(10, 1/2): P(X < 2) = 0.0107 <= 0.025 < P(X < 3): ranks 2 and 9 */
	near(summary.ci95_low, 2);
	near(summary.ci95_high, 9);
	near(statistics_quantile(samples, 10, 0.25), 3.25);
}

static void few_samples_give_their_range(void **state)
{
	static const double samples[] = {3, 1, 2};
	struct summary summary = statistics_summary(samples, 3);

	(void)state;
	near(summary.ci95_low, 1);
	near(summary.ci95_high, 3);
	near(statistics_summary(samples, 1).median, 3);
	near(statistics_summary(samples, 1).deviation, 0);
}

static void the_interval_covers_the_median(void **state)
{
	struct random_state random;
	int covered = 0, trials = 2000;

	(void)state;
	random_seed(&random, 1);
	for (int i = 0; i < trials; i++) {
		double samples[25], low, high;

		for (int k = 0; k < 25; k++)
			samples[k] = random_unit(&random);
		statistics_median_interval(samples, 25, 0.95, &low, &high);
		covered += low <= 0.5 && 0.5 <= high;
	}
	assert_true(covered >= trials * 94 / 100);
	assert_true(covered < trials * 99 / 100);
}

static void ranks_correlate(void **state)
{
	static const double x[] = {1, 2, 3, 4, 5}, up[] = {10, 20, 25, 100, 1000};
	static const double down[] = {5, 4, 3, 2, 1}, ties[] = {1, 1, 2, 2, 3},
			    same[] = {7, 7, 7, 7, 7};

	(void)state;
	near(statistics_rank_correlation(x, up, 5), 1);
	near(statistics_rank_correlation(x, down, 5), -1);
	near(statistics_rank_correlation(x, ties, 5), 9 / sqrt(10 * 9));
	near(statistics_rank_correlation(x, same, 5), 0);
	near(statistics_rank_correlation(x, up, 1), 0);
}

static void random_numbers_repeat_and_stay_in_bounds(void **state)
{
	struct random_state a, b;
	size_t items[100], seen[100] = {0};

	(void)state;
	random_seed(&a, 42);
	random_seed(&b, 42);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = random_below(&a, 7);

		assert_true(value < 7);
		assert_true(value == random_below(&b, 7));
	}
	for (size_t i = 0; i < 100; i++)
		items[i] = i;
	random_shuffle(&a, items, 100);
	for (size_t i = 0; i < 100; i++)
		seen[items[i]]++;
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(seen[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_of_known_numbers),
		cmocka_unit_test(few_samples_give_their_range),
		cmocka_unit_test(the_interval_covers_the_median),
		cmocka_unit_test(ranks_correlate),
		cmocka_unit_test(random_numbers_repeat_and_stay_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
