/* layer: score */
/* SPDX-License-Identifier: MIT
 *
 * Occupancy against known answers: an A100's and an H200's, from NVIDIA's calculator and driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "score/occupancy.h"
#include "unit/score_cases.h"

static void test_shared_memory(void **state)
{
	const struct device_spec ampere = case_device_ampere(), hopper = case_device_hopper();
	enum occupancy_limiter limiter;

	(void)state;
	assert_int_equal(occupancy_blocks_per_sm(&ampere, 256, 32, 0, 52920, &limiter), 3);
	assert_int_equal(limiter, LIMITER_SMEM);
	assert_int_equal(occupancy_blocks_per_sm(&ampere, 256, 32, 0, 154560, NULL), 1);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 52920, NULL), 4);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 154560, NULL), 1);
	/* two blocks of 113 KB, the driver's 1 KB each included, fit exactly */
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 115712, NULL), 2);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 115713, NULL), 1);
	/* static and dynamic count together */
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 4096, 115712 - 4096, NULL), 2);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 232448, NULL), 1);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 232449, &limiter), 0);
	assert_int_equal(limiter, LIMITER_NONE_FITS);
}

static void test_registers(void **state)
{
	const struct device_spec hopper = case_device_hopper();
	enum occupancy_limiter limiter;

	(void)state;
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 128, 0, 0, &limiter), 2);
	assert_int_equal(limiter, LIMITER_REGISTERS);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 384, 168, 0, 0, NULL), 1);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 512, 168, 0, 0, &limiter), 0);
	assert_int_equal(limiter, LIMITER_NONE_FITS);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 384, 255, 0, 0, NULL), 0);
	/* 12 warps of 64 registers: rounded within each quarter of the SM */
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 384, 64, 0, 0, NULL), 2);
}

static void test_threads_blocks_barriers(void **state)
{
	const struct device_spec hopper = case_device_hopper();
	struct occupancy_demand demand = {.threads = 32, .regs_per_thread = 16};
	enum occupancy_limiter limiter;

	(void)state;
	assert_int_equal(occupancy_compute(&hopper, &demand, &limiter), 32);
	assert_int_equal(limiter, LIMITER_BLOCKS);
	demand.barriers = 16;
	assert_int_equal(occupancy_compute(&hopper, &demand, &limiter), 4);
	assert_int_equal(limiter, LIMITER_BARRIERS);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 1024, 16, 0, 0, &limiter), 2);
	assert_int_equal(limiter, LIMITER_THREADS);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 1025, 16, 0, 0, NULL), 0);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 0, 16, 0, 0, NULL), 0);
	assert_true(occupancy_ratio(&hopper, 256, 4) == 0.5);
	assert_true(occupancy_ratio(&hopper, 33, 32) == 1.0);
}

/* An architecture that the calculator does not know gets the plain quotients. */
static void test_unknown_architecture(void **state)
{
	struct device_spec future = case_device_hopper();
	enum occupancy_limiter limiter;

	(void)state;
	future.compute_capability = 990;
	assert_int_equal(occupancy_blocks_per_sm(&future, 256, 128, 0, 0, &limiter), 2);
	assert_int_equal(limiter, LIMITER_REGISTERS);
	assert_int_equal(occupancy_blocks_per_sm(&future, 256, 32, 0, 52920, &limiter), 4);
	assert_int_equal(limiter, LIMITER_SMEM);
	assert_int_equal(occupancy_blocks_per_sm(&future, 512, 168, 0, 0, NULL), 0);
	assert_int_equal(occupancy_blocks_per_sm(&future, 32, 16, 0, 0, &limiter), 32);
	assert_int_equal(limiter, LIMITER_BLOCKS);
	assert_int_equal(occupancy_blocks_per_sm(&future, 1024, 16, 0, 0, &limiter), 2);
	assert_int_equal(limiter, LIMITER_THREADS);
	assert_int_equal(occupancy_blocks_per_sm(&future, 2048, 16, 0, 0, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_memory),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_threads_blocks_barriers),
		cmocka_unit_test(test_unknown_architecture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
