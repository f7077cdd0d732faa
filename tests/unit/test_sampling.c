/* SPDX-License-Identifier: MIT
 *
 * The pure functions of measuring: noise, runs per sample, compared points, number of buffer sets,
 * throttling.
 */
#include <math.h>
#include <stdlib.h>

#include "unit/unit.h"

#include "base/memory.h"
#include "base/random.h"
#include "measure/expected.h"
#include "measure/problem_data.h"
#include "measure/runner.h"
#include "measure/sampler.h"

/* ---- noise ---- */
TEST(noisy_samples_are_recognised)
{
	const double wide[] = {100, 150, 60, 140, 70, 180, 55, 120};
	const double close[] = {100, 101, 99, 100, 102, 100, 99, 300};

	assert_true(sampler_is_noisy(wide, 8));
	assert_false(sampler_is_noisy(wide, 2)); /* too few samples to decide */
	assert_false(sampler_is_noisy(close, 8));
}

/* ---- samples ---- */
TEST(short_kernels_run_more_often_per_sample)
{
	assert_int_equal(runner_runs_per_sample(5000, 1), 1);
	assert_int_equal(runner_runs_per_sample(300, 1), 1);
	assert_int_equal(runner_runs_per_sample(299, 1), 2);
	assert_int_equal(runner_runs_per_sample(10, 1), 32);
	assert_int_equal(runner_runs_per_sample(10, 1000), 2); /* a graph has a maximum size */
	assert_int_equal(runner_runs_per_sample(0.001, 1), 2048);
}

TEST(sets_exceed_the_cache_and_fit_the_memory)
{
	const uint64_t l2 = (uint64_t)60 << 20, memory = (uint64_t)140 << 30;

	assert_int_equal(problem_set_count((uint64_t)100 << 20, l2, memory), 2);
	assert_int_equal(problem_set_count((uint64_t)30 << 20, l2, memory), 4);
	assert_int_equal(problem_set_count(1 << 20, l2, memory), 128);
	assert_int_equal(problem_set_count(16, l2, memory), PROBLEM_SETS_MAX);
	/* memory limits the number of sets, but one always exists */
	assert_int_equal(problem_set_count((uint64_t)30 << 30, l2, memory), 1);
	assert_int_equal(problem_set_count((uint64_t)500 << 30, l2, memory), 1);
}

TEST(an_arena_has_guard_zones)
{
	const uint64_t sizes[] = {1, 0, 256, 257};

	assert_int_equal(arena_size(sizes, 0), ARENA_GUARD_BYTES);
	assert_int_equal(arena_size(sizes, 4), 5 * ARENA_GUARD_BYTES + 256 + 0 + 256 + 512);
}

TEST(throttling_is_judged_by_clock_and_reasons)
{
	struct nvml_reading reading = {.valid = true, .clock_sm_hz = 1.7e9};

	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_NONE);
	/* an L4 under dense tensor load: a power cap or a setting is not throttling, however
	 * slow the clock */
	reading.clock_sm_hz = 1.2e9;
	for (unsigned long long reason = 0x2; reason <= 0x10;
		reason = reason == 0x2 ? 0x4 : 4 * reason) {
		reading.throttle_reasons = reason;
		assert_int_equal(throttle_judge(&reading, 2.04e9), THROTTLE_NONE);
	}
	reading.throttle_reasons = NVML_THROTTLE_IDLE;
	reading.clock_sm_hz = 0.345e9;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_SLOW_CLOCK);
	assert_int_equal(throttle_judge(&reading, 0), THROTTLE_NONE);
	reading.throttle_reasons = NVML_THROTTLE_SW_THERMAL;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_HELD_DOWN);
	reading.valid = false;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_NONE);
}

/* ---- points ---- */
TEST(small_outputs_are_compared_completely)
{
	int64_t *units = NULL;

	assert_int_equal(points_choose(3, 5, 1, &units), 15);
	for (int i = 0; i < 15; i++)
		assert_int_equal(units[i], i);
	free(units);
	assert_int_equal(points_choose(1, POINTS_FULL_MAX, 1, &units), POINTS_FULL_MAX);
	free(units);
}

/* Points cover every patch, every edge and some complete lines, are within the output, and
 * depend only on the seed. */
static void check_points(uint64_t rows, uint64_t columns, uint64_t height, uint64_t width)
{
	uint64_t down = (rows + height - 1) / height, across = (columns + width - 1) / width;
	unsigned char *hit = memory_zeroed((size_t)(down * across), 1);
	unsigned char *edge = memory_zeroed((size_t)(2 * (rows + columns)), 1);
	int64_t *units = NULL, *again = NULL;
	size_t count = points_choose(rows, columns, 5, &units), edges = 0;

	assert_in_range(count, POINTS_PER_PATCH * down * across, 2 * (size_t)POINTS_FULL_MAX);
	assert_int_equal(points_choose(rows, columns, 5, &again), count);
	assert_memory_equal(units, again, count * sizeof(*units));
	for (size_t i = 0; i < count; i++) {
		uint64_t row = (uint64_t)units[i] / columns, column = (uint64_t)units[i] % columns;

		assert_true(row < rows);
		hit[row / height * across + column / width]++;
		if (row == 0)
			edge[column] = 1;
		if (row == rows - 1)
			edge[columns + column] = 1;
		if (column == 0)
			edge[2 * columns + row] = 1;
		if (column == columns - 1)
			edge[2 * columns + rows + row] = 1;
	}
	for (uint64_t i = 0; i < down * across; i++)
		assert_true(hit[i] >= POINTS_PER_PATCH);
	for (uint64_t i = 0; i < 2 * (rows + columns); i++)
		edges += edge[i];
	assert_int_equal(edges, 2 * (rows + columns));
	free(units);
	free(again);
	free(hit);
	free(edge);
}

TEST(large_outputs_get_larger_patches)
{
	check_points(2050, 2111, 16, 16);
	check_points(40000, 120, 16, 16);
	check_points(17000, 16400, 32, 32); /* patches become larger */
}

/* One long row: at most the maximum number of points, both ends included. */
TEST(a_long_row_has_points_at_both_ends)
{
	const uint64_t columns = (uint64_t)1 << 31;
	int64_t *units = NULL;
	size_t count;
	bool first = false, last = false;

	count = points_choose(1, columns, 1, &units);
	assert_in_range(count, 1 << 20, 2 * POINTS_FULL_MAX);
	for (size_t i = 0; i < count; i++) {
		assert_true(units[i] >= 0 && (uint64_t)units[i] < columns);
		first |= units[i] == 0;
		last |= (uint64_t)units[i] == columns - 1;
	}
	assert_true(first && last);
	free(units);
}

TEST(chosen_rows_span_the_output)
{
	int64_t *units = NULL;
	size_t count;
	bool first = false, last = false;

	assert_int_equal(points_choose_rows(1000, 128, 1, &units), 1000);
	free(units);
	count = points_choose_rows(1000000, 128, 1, &units);
	assert_in_range(count, POINTS_FULL_MAX / 128 - 16, POINTS_FULL_MAX / 128);
	for (size_t i = 0; i < count; i++) {
		assert_in_range(units[i], 0, 999999);
		first |= units[i] == 15;
		last |= units[i] == 999999 - 15;
	}
	assert_true(first && last);
	free(units);
	assert_int_equal(points_choose_rows(5, (uint64_t)1 << 30, 1, &units), 1);
	free(units);
}

/* ---- the scale of absolute tolerances ---- */
TEST(masks_do_not_set_the_scale_of_tolerances)
{
	enum {
		RUNS = 3
	};
	static const struct {
		const char *what;
		double expected;
		struct {
			double largest, smallest;
			uint64_t count;
		} runs[RUNS];
	} cases[] = {
		{"all zero", 0, {{0, 0, 0}}},
		{"small and large values without a gap", 1e6,
			{{1e6, 1e5, 5}, {1e5, 1e4, 900}, {1e4, 1e3, 900}}},
		{"one mask", 0.75, {{1e9, 1e9, 1}, {0.75, 0.5, 63}}},
		{"more masks than other values", 3, {{1e9, 1e9, 900}, {3, 1, 100}}},
		{"two kinds of masks", 3, {{1e30, 1e30, 50}, {65504, 65504, 50}, {3, 1, 100}}},
		{"rare values that are not alike", 3, {{1e7, 1e6, 2}, {3, 1, 1000}}},
		{"large values that are neither alike nor rare", 1e7,
			{{1e7, 1e6, 500}, {3, 1, 1000}}},
		{"sums that cancel beside ones", 1, {{1, 1, 500}, {1e-17, 1e-17, 500}}},
		{"masks alone", 1e9, {{1e9, 1e9, 1000}}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct helper_magnitude_group groups[MAGNITUDE_GROUPS] = {0};

		for (size_t k = 0; k < RUNS && cases[i].runs[k].count; k++) {
			double largest = cases[i].runs[k].largest;
			double smallest = cases[i].runs[k].smallest;
			struct helper_magnitude_group *group;

			group = &groups[(ilogb(largest) + 1023) / 4];
			group->count = cases[i].runs[k].count;
			memcpy(&group->largest_bits, &largest, sizeof(largest));
			memcpy(&group->smallest_inverted_bits, &smallest, sizeof(smallest));
			group->smallest_inverted_bits = ~group->smallest_inverted_bits;
		}
		if (fabs(expected_scale(groups) - cases[i].expected) > 0)
			fail_msg("%s: expected the scale %g, found %g", cases[i].what,
				cases[i].expected, expected_scale(groups));
	}
}
