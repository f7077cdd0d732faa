/* layer: learn */
/* SPDX-License-Identifier: MIT
 *
 * Who feeds a block, and who else is on its SM or in its cluster.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "score/block_model.h"
#include "unit/score_cases.h"

/* Threads that copy find memory equally busy however few SMs work; the copy engine does not. And
 * rows that straddle lines cost it more than the lines. */
static void test_feeds(void **state)
{
	const struct device_spec hopper = case_device_hopper();
	const struct case_mma mma = {4096, 4096, 4096, 128, 256, 64, 64, 64, 4, 1};
	struct case_work work;
	struct traffic traffic = {.lines_read_ratio = 1, .lines_written_ratio = 1};
	struct block_model threads, engine, straddling;
	struct time_model_input input = {.device = &hopper, .traffic = &traffic};
	struct launch_work *launch = &work.launches[0];

	(void)state;
	case_mma_work(&mma, &work);
	input.launch = launch;
	threads = block_model_of(&input);
	launch->per_step[PIPE_TENSOR_WGMMA] = launch->per_step[PIPE_TENSOR_MMA];
	launch->per_step[PIPE_TENSOR_MMA] = 0;
	engine = block_model_of(&input);
	traffic.lines_read_ratio = 2;
	straddling = block_model_of(&input);

	assert_true(fabs(block_latency(&threads, 8) / block_latency(&threads, 132) - 1) < 1e-9);
	assert_true(block_latency(&engine, 8) < 0.8 * block_latency(&engine, 132));
	assert_true(block_latency(&engine, 8) > engine.latency_clocks);
	assert_true(straddling.step.clocks[BOUND_L2] > 2 * engine.step.clocks[BOUND_L2]);
}

/* Blocks that the copy engine feeds take turns on an SM, and in a cluster they wait for each other.
 */
static void test_neighbours(void **state)
{
	static const struct quantization_slots one = {
		.per_wave = 132, .sm_count = 132, .per_sm = 1};
	static const struct quantization_slots two = {
		.per_wave = 264, .sm_count = 132, .per_sm = 2};
	const struct device_spec hopper = case_device_hopper();
	const struct case_mma mma = {4096, 4096, 4096, 128, 256, 64, 64, 64, 2, 1};
	struct case_work work;
	struct traffic traffic = {.lines_read_ratio = 1, .lines_written_ratio = 1};
	struct block_model threads, engine, cluster;
	struct time_model_input input = {.device = &hopper, .traffic = &traffic};
	struct launch_work *launch = &work.launches[0];
	double by_threads, by_engine, alone, together;

	(void)state;
	case_mma_work(&mma, &work);
	input.launch = launch;
	threads = block_model_of(&input);
	launch->per_step[PIPE_TENSOR_WGMMA] = launch->per_step[PIPE_TENSOR_MMA];
	launch->per_step[PIPE_TENSOR_MMA] = 0;
	engine = block_model_of(&input);
	launch->cluster[0] = 2;
	cluster = block_model_of(&input);

	by_threads = wave_model_clocks(&threads, &two, 264, SCHEDULE_GRID).clocks /
		     wave_model_clocks(&threads, &one, 132, SCHEDULE_GRID).clocks;
	alone = wave_model_clocks(&engine, &one, 132, SCHEDULE_GRID).clocks;
	by_engine = wave_model_clocks(&engine, &two, 264, SCHEDULE_GRID).clocks / alone;
	assert_true(by_threads > 1 && by_engine < 2.5);
	assert_true(by_engine > 1.2 * by_threads);
	/* more than the cluster's start: in every step a little */
	together = wave_model_clocks(&cluster, &one, 132, SCHEDULE_GRID).clocks;
	assert_true(together > alone + 2 * cluster.start_clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_feeds),
		cmocka_unit_test(test_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
