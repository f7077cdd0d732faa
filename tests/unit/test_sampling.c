/* layer: measure */
/* SPDX-License-Identifier: MIT
 *
 * The pure functions of measuring: when to stop, how many runs a sample holds, which points are
 * compared, how many sets of buffers there are, what counts as throttled.
 */
#include <math.h>
#include <stdlib.h>

#include "unit/unit.h"

#include "base/memory.h"
#include "base/random.h"
#include "measure/helper_kernels.h"
#include "measure/problem_data.h"
#include "measure/runner.h"
#include "measure/sampler.h"

/* ---- stopping ---- */
static void test_stop_counts(void **state)
{
	const struct sampling rule = {.rounds_min = 3, .rounds_max = 5};
	const double same[] = {10, 10, 10, 10, 10};

	(void)state;
	assert_int_equal(stop_decide(&rule, same, 0), STOP_NOT_YET);
	assert_int_equal(stop_decide(&rule, same, 2), STOP_NOT_YET);
	/* without a target only the largest number counts */
	assert_int_equal(stop_decide(&rule, same, 4), STOP_NOT_YET);
	assert_int_equal(stop_decide(&rule, same, 5), STOP_FULL);
}

static void test_stop_precise(void **state)
{
	const struct sampling rule = {.rounds_min = 6, .rounds_max = 100, .target_ratio = 0.01};
	const double close[] = {100, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100};
	const double wide[] = {100, 130, 90, 120, 80, 110, 105, 95};

	(void)state;
	assert_int_equal(stop_decide(&rule, close, 5), STOP_NOT_YET);
	assert_int_equal(stop_decide(&rule, close, 8), STOP_PRECISE);
	assert_int_equal(stop_decide(&rule, wide, 8), STOP_NOT_YET);
	assert_true(isinf(stop_half_interval_ratio(close, 0)));
	/* below six samples the interval is minimum to maximum */
	assert_true(fabs(stop_half_interval_ratio(close, 3) - 0.005) < 1e-9);
}

/* Noise that stays the same: more samples buy little. */
static void test_stop_stable(void **state)
{
	const struct sampling rule = {.rounds_min = 6, .rounds_max = 1000, .target_ratio = 1e-6};
	struct random_state random;
	double samples[400];
	size_t stopped = 0;

	(void)state;
	random_seed(&random, 3);
	for (size_t i = 0; i < ARRAY_COUNT(samples); i++)
		samples[i] = 100 + 5 * random_unit(&random);
	for (size_t i = 1; i < ARRAY_COUNT(samples) && !stopped; i++)
		if (stop_decide(&rule, samples, i) == STOP_STABLE)
			stopped = i;
	assert_in_range(stopped, STOP_STABLE_SAMPLES, 200);
}

static void test_give_up(void **state)
{
	const struct sampling rule = {.rounds_min = 6, .rounds_max = 50, .give_up_us = 100};
	const double slow[] = {140, 150, 145}, once[] = {140, 90, 145};

	(void)state;
	assert_int_equal(stop_decide(&rule, slow, 1), STOP_NOT_YET);
	assert_int_equal(stop_decide(&rule, slow, 2), STOP_GIVE_UP);
	assert_int_equal(stop_decide(&rule, once, 3), STOP_NOT_YET);
}

static void test_noisy(void **state)
{
	const double wide[] = {100, 150, 60, 140, 70, 180, 55, 120};
	const double close[] = {100, 101, 99, 100, 102, 100, 99, 101};

	(void)state;
	assert_true(stop_is_noisy(wide, 8));
	assert_false(stop_is_noisy(wide, 5)); /* too few to tell */
	assert_false(stop_is_noisy(close, 8));
}

/* ---- samples ---- */
static void test_runs_per_sample(void **state)
{
	(void)state;
	assert_int_equal(runner_runs_per_sample(5000, 1), 1);
	assert_int_equal(runner_runs_per_sample(300, 1), 1);
	assert_int_equal(runner_runs_per_sample(299, 1), 2);
	assert_int_equal(runner_runs_per_sample(10, 1), 32);
	assert_int_equal(runner_runs_per_sample(10, 1000), 2); /* graphs have an end */
	assert_int_equal(runner_runs_per_sample(0.001, 1), 2048);
}

static void test_set_count(void **state)
{
	const uint64_t l2 = (uint64_t)60 << 20, memory = (uint64_t)140 << 30;

	(void)state;
	assert_int_equal(problem_set_count((uint64_t)100 << 20, l2, memory), 2);
	assert_int_equal(problem_set_count((uint64_t)30 << 20, l2, memory), 4);
	assert_int_equal(problem_set_count(1 << 20, l2, memory), 128);
	assert_int_equal(problem_set_count(16, l2, memory), PROBLEM_SETS_MAX);
	/* memory decides, but one set there is */
	assert_int_equal(problem_set_count((uint64_t)30 << 30, l2, memory), 1);
	assert_int_equal(problem_set_count((uint64_t)500 << 30, l2, memory), 1);
	/* draws of group sizes: each about as often */
	assert_int_equal(problem_set_count_drawn(2, 8, 1 << 20, memory), 8);
	assert_int_equal(problem_set_count_drawn(16, 8, 1 << 20, memory), 16);
	assert_int_equal(problem_set_count_drawn(2, 3, 1 << 20, memory), 16);
	assert_int_equal(problem_set_count_drawn(2, 63, 1 << 20, memory), PROBLEM_SETS_MAX);
	assert_int_equal(problem_set_count_drawn(2, 8, (uint64_t)10 << 30, memory), 2);
}

static void test_arena_size(void **state)
{
	const uint64_t sizes[] = {1, 0, 256, 257};

	(void)state;
	assert_int_equal(arena_size(sizes, 0), ARENA_GUARD_BYTES);
	assert_int_equal(arena_size(sizes, 4), 5 * ARENA_GUARD_BYTES + 256 + 0 + 256 + 512);
}

static void test_throttle(void **state)
{
	struct nvml_reading reading = {.valid = true, .clock_sm_hz = 1.7e9};

	(void)state;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_NONE);
	reading.throttle_reasons = NVML_THROTTLE_POWER_CAP | NVML_THROTTLE_IDLE;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_NONE);
	reading.clock_sm_hz = 0.345e9;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_SLOW_CLOCK);
	assert_int_equal(throttle_judge(&reading, 0), THROTTLE_NONE);
	reading.throttle_reasons = NVML_THROTTLE_SW_THERMAL;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_HELD_DOWN);
	reading.valid = false;
	assert_int_equal(throttle_judge(&reading, 1.98e9), THROTTLE_NONE);
}

/* ---- points ---- */
static void test_points_small(void **state)
{
	int64_t *units = NULL;

	(void)state;
	assert_int_equal(points_choose(3, 5, 1, &units), 15);
	for (int i = 0; i < 15; i++)
		assert_int_equal(units[i], i);
	free(units);
	assert_int_equal(points_choose(1, POINTS_FULL_MAX, 1, &units), POINTS_FULL_MAX);
	free(units);
}

/* Every patch, every edge, some lines in full; all within the output; the same for the same seed.
 */
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

static void test_points_large(void **state)
{
	(void)state;
	check_points(2050, 2111, 16, 16);
	check_points(40000, 120, 16, 16);
	check_points(17000, 16400, 32, 32); /* patches grow */
}

/* One long row: no more points than there is room for, both ends among them. */
static void test_points_line(void **state)
{
	const uint64_t columns = (uint64_t)1 << 31;
	int64_t *units = NULL;
	size_t count;
	bool first = false, last = false;

	(void)state;
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

static void test_points_rows(void **state)
{
	int64_t *units = NULL;
	size_t count;
	bool first = false, last = false;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop_counts),
		cmocka_unit_test(test_stop_precise),
		cmocka_unit_test(test_stop_stable),
		cmocka_unit_test(test_give_up),
		cmocka_unit_test(test_noisy),
		cmocka_unit_test(test_runs_per_sample),
		cmocka_unit_test(test_set_count),
		cmocka_unit_test(test_arena_size),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_points_small),
		cmocka_unit_test(test_points_large),
		cmocka_unit_test(test_points_line),
		cmocka_unit_test(test_points_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
