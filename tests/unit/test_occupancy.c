/* SPDX-License-Identifier: MIT
 *
 * Occupancy against known answers: an A100's and an H200's, from NVIDIA's calculator and driver;
 * for each other compute capability that has a device sheet, what the programming guide's table
 * of limits gives by hand.
 */
#include <string.h>

#include "base/memory.h"
#include "score/occupancy.h"
#include "unit/score_cases.h"
#include "unit/unit.h"

TEST(test_shared_memory)
{
	const struct device_spec ampere = case_device_ampere(), hopper = case_device_hopper();
	enum occupancy_limiter limiter;

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
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 4096, 115712 - 4095, NULL), 1);
	/* 233472 / (44 KB + 1 KB) */
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 45056, 0, &limiter), 5);
	assert_int_equal(limiter, LIMITER_SMEM);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 232448, NULL), 1);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 32, 0, 232449, &limiter), 0);
	assert_int_equal(limiter, LIMITER_NONE_FITS);
}

TEST(test_registers)
{
	const struct device_spec hopper = case_device_hopper();
	enum occupancy_limiter limiter;

	assert_int_equal(occupancy_blocks_per_sm(&hopper, 256, 128, 0, 0, &limiter), 2);
	assert_int_equal(limiter, LIMITER_REGISTERS);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 384, 168, 0, 0, NULL), 1);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 512, 168, 0, 0, &limiter), 0);
	assert_int_equal(limiter, LIMITER_NONE_FITS);
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 384, 255, 0, 0, NULL), 0);
	/* 12 warps of 64 registers: rounded within each quarter of the SM */
	assert_int_equal(occupancy_blocks_per_sm(&hopper, 384, 64, 0, 0, NULL), 2);
}

TEST(test_threads_blocks_barriers)
{
	const struct device_spec hopper = case_device_hopper();
	struct occupancy_demand demand = {.threads = 32, .regs_per_thread = 16};
	enum occupancy_limiter limiter;

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

/* An SM has two barriers for each block that it can hold, or one: 32 on 7.5, 64 on 8.0, 16 on 8.6.
 */
TEST(test_barriers_before_hopper)
{
	struct device_spec device = case_device_ampere();
	const struct occupancy_demand demand = {
		.threads = 32, .regs_per_thread = 16, .barriers = 16};
	static const int expected[][3] = {
		{70, 4, 98304}, {75, 2, 65536}, {80, 4, 167936}, {86, 1, 102400}, {89, 1, 102400}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		enum occupancy_limiter limiter;

		device.compute_capability = expected[i][0];
		device.smem_per_sm_bytes = device.smem_per_block_bytes = expected[i][2];
		assert_int_equal(occupancy_compute(&device, &demand, &limiter), expected[i][1]);
		assert_int_equal(limiter, LIMITER_BARRIERS);
	}
}

/* An architecture that the calculator does not know gets the plain quotients. */
TEST(test_unknown_architecture)
{
	struct device_spec future = case_device_hopper();
	enum occupancy_limiter limiter;

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

struct capability_case {
	int threads, regs_per_thread;
	int64_t smem_bytes;
	int blocks;
	enum occupancy_limiter limiter;
};

static void expect_blocks(
	const char *sheet, int capability, const struct capability_case *cases, size_t count)
{
	const char *configs[] = {"configs", NULL};
	struct device_spec *device;
	struct error err = {0};

	assert_ok(device_spec_load(sheet, configs, &device, &err));
	assert_int_equal(device->compute_capability, capability);
	for (size_t i = 0; i < count; i++) {
		enum occupancy_limiter limiter;

		assert_int_equal(
			occupancy_blocks_per_sm(device, cases[i].threads, cases[i].regs_per_thread,
				0, cases[i].smem_bytes, &limiter),
			cases[i].blocks);
		assert_int_equal(limiter, cases[i].limiter);
	}
	device_spec_free(device);
}

/* 8.6, 8.9 and 12.0: 48 warps and 100 KB; they differ in the number of blocks. */
TEST(test_small_sm)
{
	static const struct capability_case cases[] = {
		{1024, 16, 0, 1, LIMITER_THREADS},
		{512, 16, 0, 3, LIMITER_THREADS},
		{128, 40, 0, 12, LIMITER_REGISTERS},
		{128, 32, 0, 12, LIMITER_THREADS},
		{256, 128, 0, 2, LIMITER_REGISTERS},
		{384, 168, 0, 1, LIMITER_REGISTERS},
		{512, 168, 0, 0, LIMITER_NONE_FITS},
		{128, 32, 50176, 2, LIMITER_SMEM}, /* with the system's 1 KB each, 100 KB */
		{128, 32, 50177, 1, LIMITER_SMEM},
		{128, 32, 101376, 1, LIMITER_SMEM},
		{128, 32, 101377, 0, LIMITER_NONE_FITS},
	};
	static const struct capability_case ga10x[] = {{32, 16, 0, 16, LIMITER_BLOCKS}};
	static const struct capability_case later[] = {{32, 16, 0, 24, LIMITER_BLOCKS}};

	expect_blocks("a10", 86, cases, ARRAY_COUNT(cases));
	expect_blocks("a10", 86, ga10x, ARRAY_COUNT(ga10x));
	expect_blocks("l4", 89, cases, ARRAY_COUNT(cases));
	expect_blocks("l4", 89, later, ARRAY_COUNT(later));
	expect_blocks("rtx-5090", 120, cases, ARRAY_COUNT(cases));
	expect_blocks("rtx-5090", 120, later, ARRAY_COUNT(later));
}

/* 10.0 has 9.0's limits. */
TEST(test_data_center_blackwell)
{
	static const struct capability_case cases[] = {
		{32, 16, 0, 32, LIMITER_BLOCKS},
		{1024, 16, 0, 2, LIMITER_THREADS},
		{256, 128, 0, 2, LIMITER_REGISTERS},
		{384, 168, 0, 1, LIMITER_REGISTERS},
		{256, 32, 115712, 2, LIMITER_SMEM},
		{256, 32, 115713, 1, LIMITER_SMEM},
		{256, 32, 232448, 1, LIMITER_SMEM},
		{256, 32, 232449, 0, LIMITER_NONE_FITS},
	};

	expect_blocks("b200", 100, cases, ARRAY_COUNT(cases));
}
