/* SPDX-License-Identifier: MIT
 *
 * Overlap of work on an SM, and how the latency of loads is hidden.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "score/block_model.h"
#include "unit/score_cases.h"

/* Returns the clocks that an SM needs for one wave of these tiles. */
static double clocks_of(const struct block_model *model, double resident, double sm_count)
{
	const struct quantization_slots slots = {
		.per_wave = resident * sm_count, .sm_count = sm_count, .per_sm = resident};

	return wave_model_clocks(model, &slots, slots.per_wave, SCHEDULE_GRID).clocks;
}

struct fixture {
	struct device_spec hopper;
	struct case_work work;
	struct traffic traffic;
	struct time_model_input input;
};

static void fixture_init(struct fixture *fixture)
{
	const struct case_mma mma = {4096, 4096, 4096, 128, 256, 64, 64, 64, 4, 1};

	*fixture = (struct fixture){.hopper = case_device_hopper(),
		.traffic = {.lines_read_ratio = 1, .lines_written_ratio = 1}};
	case_mma_work(&mma, &fixture->work);
	fixture->input = (struct time_model_input){.device = &fixture->hopper,
		.traffic = &fixture->traffic,
		.launch = &fixture->work.launches[0],
		.threads = (int)fixture->work.launches[0].shape.block[0]};
}

static double clocks_of_launch(const struct fixture *fixture)
{
	const struct block_model model = block_model_of(&fixture->input);

	return clocks_of(&model, 1, 132);
}

/* Products by wgmma overlap with issued instructions, even if an SM has only one block. Products
 * by mma.sync are issued instructions themselves, and more warps hide more of the copies and
 * shared memory accesses. */
TEST(wgmma_overlaps_with_instructions_and_mma_does_not)
{
	struct fixture fixture;
	struct launch_work *launch = &fixture.work.launches[0];
	struct block_model threads, engine, straddling;
	double step;

	fixture_init(&fixture);
	threads = block_model_of(&fixture.input);
	launch->per_step[PIPE_TENSOR_WGMMA] = launch->per_step[PIPE_TENSOR_MMA];
	launch->per_step[PIPE_TENSOR_MMA] = 0;
	engine = block_model_of(&fixture.input);
	assert_true(engine.tensor_is_asynchronous && !threads.tensor_is_asynchronous);
	fixture.input.wgmma_serialized = true;
	assert_false(block_model_of(&fixture.input).tensor_is_asynchronous);
	fixture.traffic.lines_read_ratio = 2;
	straddling = block_model_of(&fixture.input);
	assert_true(straddling.step.clocks[BOUND_L2] > 1.99 * engine.step.clocks[BOUND_L2]);

	engine.step.clocks[BOUND_TENSOR] = threads.step.clocks[BOUND_TENSOR];
	step = threads.step.clocks[BOUND_SMEM];
	assert_true(step > 0 && step < threads.step.clocks[BOUND_TENSOR]);
	/* 8 warps are two per scheduler and hide half of the shorter part */
	assert_true(clocks_of(&threads, 1, 132) - clocks_of(&engine, 1, 132) >
		    0.2 * step * threads.steps_mean);
	assert_true(clocks_of(&threads, 2, 132) < 2 * clocks_of(&threads, 1, 132));
}

/* With five warps in each block, one scheduler has two. The loading warp of a wgmma kernel does
 * not count. */
TEST(an_uneven_number_of_warps_loads_one_scheduler_more)
{
	struct fixture fixture;
	struct launch_work *launch = &fixture.work.launches[0];

	fixture_init(&fixture);
	assert_true(block_model_of(&fixture.input).scheduler_ratio == 1); /* 8 warps */
	fixture.input.threads = 5 * 32;
	assert_true(fabs(block_model_of(&fixture.input).scheduler_ratio - 1.6) < 1e-9);
	fixture.input.threads = 32;
	assert_true(block_model_of(&fixture.input).scheduler_ratio == 4);
	launch->per_step[PIPE_TENSOR_WGMMA] = launch->per_step[PIPE_TENSOR_MMA];
	fixture.input.threads = 5 * 32;
	assert_true(block_model_of(&fixture.input).scheduler_ratio == 1);
}

/* More stages, or more blocks on an SM, hide more latency. A few SMs share L2's rate, but no SM
 * exceeds the rate of its port. */
TEST(stages_and_blocks_hide_latency)
{
	struct fixture fixture;
	struct block_model model, deep;
	double few, all;

	fixture_init(&fixture);
	model = block_model_of(&fixture.input);
	assert_true(model.stages == 4);
	deep = model;
	deep.stages = 8;
	assert_true(fabs(clocks_of(&model, 1, 132) - clocks_of(&deep, 1, 132) -
			    model.steps_mean * model.latency_clocks / 8) < 1);
	model.step.clocks[BOUND_L2] *= 100;
	few = clocks_of(&model, 1, 8);
	all = clocks_of(&model, 1, 132);
	assert_true(fabs(all / few - 64 / (5500.0 / 132)) < 0.05);
}

/* The sheet has two rates of L2: for SMs that each read different parts, and for parts that
 * twelve SMs share. If the amount or the rate is unknown, the shared rate applies. */
TEST(distinct_and_shared_reads_of_l2_have_their_own_rates)
{
	struct fixture fixture;
	double *step;
	double shared;

	fixture_init(&fixture);
	step = fixture.work.launches[0].per_step;
	shared = block_model_of(&fixture.input).step.clocks[BOUND_L2];
	step[PIPE_L2_DISTINCT] = step[PIPE_L2_READ];
	assert_true(block_model_of(&fixture.input).step.clocks[BOUND_L2] == shared);
	fixture.hopper.l2_own_bytes_per_clock = 4000;
	assert_true(fabs(block_model_of(&fixture.input).step.clocks[BOUND_L2] -
			    shared * 5500 / 4000) < 1e-9);
	step[PIPE_L2_DISTINCT] /= 12;
	assert_true(fabs(block_model_of(&fixture.input).step.clocks[BOUND_L2] - shared) < 1e-9);
	step[PIPE_L2_DISTINCT] = 0;
	assert_true(block_model_of(&fixture.input).step.clocks[BOUND_L2] == shared);
}

/* A message costs 180 clocks. It counts fully at the start and end of a tile; within a step only
 * the part that the stages do not hide counts. */
TEST(stages_hide_messages_only_within_a_tile)
{
	struct fixture fixture;
	struct launch_work *launch = &fixture.work.launches[0];
	double without;

	fixture_init(&fixture);
	without = clocks_of_launch(&fixture);
	launch->prologue[PIPE_MESSAGES] = 2;
	launch->epilogue[PIPE_MESSAGES] = 1;
	assert_true(fabs(clocks_of_launch(&fixture) - without - 3 * 180) < 1e-6);
	launch->prologue[PIPE_MESSAGES] = launch->epilogue[PIPE_MESSAGES] = 0;
	launch->per_step[PIPE_MESSAGES] = 1;
	assert_true(fabs(clocks_of_launch(&fixture) - without -
			    (180 + launch->steps_mean * 180 / 4)) < 1e-6);
}
