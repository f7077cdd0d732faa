/* SPDX-License-Identifier: MIT
 *
 * Tiles and waves of the examples that everybody quotes, and what clusters, small persistent grids
 * and stream-K change.
 */
#include <math.h>

#include "unit/unit.h"
#include "score/time_model.h"
#include "unit/score_cases.h"

static struct launch_score waves_of(
	const struct device_spec *device, const struct launch_work *launch, int blocks_per_sm)
{
	const struct quantization_slots slots =
		quantization_slots(device, launch, blocks_per_sm, -1);
	struct launch_score score = {0};

	quantization_waves(launch, &slots, &score);
	return score;
}

TEST(test_waves)
{
	const struct device_spec ampere = case_device_ampere();
	struct launch_work launch = {.units = 98, .shape.grid = {98, 1, 1}};
	struct launch_score score = waves_of(&ampere, &launch, 1);

	assert_true(score.waves == 1);
	assert_true(score.wave_efficiency_ratio == 98.0 / 108);
	launch.units = 120;
	score = waves_of(&ampere, &launch, 1);
	assert_true(score.waves == 2);
	assert_true(score.waves_exact == 120.0 / 108);
	assert_true(score.wave_efficiency_ratio == 120.0 / 216);
	assert_true(waves_of(&ampere, &launch, 2).waves == 1);
	assert_true(waves_of(&ampere, &launch, 0).waves == 0); /* cannot run */
}

TEST(test_clusters)
{
	const struct device_spec hopper = case_device_hopper();
	struct launch_work launch = {
		.units = 512, .shape.grid = {512, 1, 1}, .shape.cluster = {4, 2, 1}};
	struct quantization_slots slots = quantization_slots(&hopper, &launch, 1, -1);

	/* clusters of 8 reach 120 of 132 SMs */
	assert_true(slots.per_wave == 120 && slots.sm_count == 120 && slots.per_sm == 1);
	assert_true(quantization_slots(&hopper, &launch, 2, -1).per_wave == 240);
	/* the driver's own count wins */
	slots = quantization_slots(&hopper, &launch, 2, 28);
	assert_true(slots.per_wave == 224 && slots.sm_count == 112);
	launch.shape.cluster[0] = 2;
	launch.shape.cluster[1] = 1;
	assert_true(quantization_slots(&hopper, &launch, 1, -1).per_wave == 132);
}

TEST(test_clusters_without_figures)
{
	struct device_spec hopper = case_device_hopper();
	const struct launch_work launch = {.units = 512, .shape.cluster = {8, 1, 1}};

	hopper.max_clusters[3] = 0;
	assert_true(quantization_slots(&hopper, &launch, 1, -1).per_wave == 128);
}

TEST(test_persistent)
{
	const struct device_spec hopper = case_device_hopper();
	struct launch_work launch = {
		.units = 512, .shape.grid = {128, 1, 1}, .schedule = SCHEDULE_PERSISTENT};
	struct quantization_slots slots = quantization_slots(&hopper, &launch, 1, -1);

	/* 4096^2 in 128x256 tiles on 128 SMs: exactly four waves */
	assert_true(slots.per_wave == 128 && slots.sm_count == 128);
	assert_true(waves_of(&hopper, &launch, 1).waves == 4);
	assert_true(waves_of(&hopper, &launch, 1).wave_efficiency_ratio == 1);
	/* a grid of one block per SM stays one per SM where two would fit */
	slots = quantization_slots(&hopper, &launch, 2, -1);
	assert_true(slots.per_wave == 128 && slots.per_sm == 1);
	launch.shape.grid[0] = 264;
	slots = quantization_slots(&hopper, &launch, 2, -1);
	assert_true(slots.per_wave == 264 && slots.per_sm == 2);
}

TEST(test_stream_k)
{
	const struct device_spec hopper = case_device_hopper();
	struct launch_work launch = {.units = 140,
		.steps_mean = 64,
		.shape.grid = {132, 1, 1},
		.schedule = SCHEDULE_STREAM_K};

	assert_true(waves_of(&hopper, &launch, 1).wave_efficiency_ratio == 1);
	launch.units = 1;
	assert_true(waves_of(&hopper, &launch, 1).wave_efficiency_ratio == 64.0 / 132);
}
