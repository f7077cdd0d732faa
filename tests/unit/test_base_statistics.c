#include "unit/unit.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

TEST(summary_of_known_numbers)
{
	static const double samples[] = {4, 1, 3, 2, 5, 6, 7, 8, 9, 10};
	struct summary summary = statistics_summary(samples, 10);

	assert_int_equal(summary.count, 10);
	near(summary.median, 5.5);
	near(statistics_quantile(samples, 10, 0.25), 3.25);
}

TEST(one_sample_is_its_own_median)
{
	static const double samples[] = {3};

	near(statistics_summary(samples, 1).ci95_low, 3);
	near(statistics_summary(samples, 1).ci95_high, 3);
	near(statistics_summary(samples, 1).median, 3);
}

TEST(ranks_correlate)
{
	static const double x[] = {1, 2, 3, 4, 5}, up[] = {10, 20, 25, 100, 1000};
	static const double down[] = {5, 4, 3, 2, 1}, ties[] = {1, 1, 2, 2, 3},
			    same[] = {7, 7, 7, 7, 7};

	near(statistics_rank_correlation(x, up, 5), 1);
	near(statistics_rank_correlation(x, down, 5), -1);
	near(statistics_rank_correlation(x, ties, 5), 9 / sqrt(10 * 9));
	near(statistics_rank_correlation(x, same, 5), 0);
	near(statistics_rank_correlation(x, up, 1), 0);
}

TEST(random_numbers_repeat_and_stay_in_bounds)
{
	struct random_state a, b;
	size_t items[100], seen[100] = {0};

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
