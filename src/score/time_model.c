/* SPDX-License-Identifier: MIT */
#include "score/time_model.h"

#include <math.h>

#include "score/block_model.h"

/* ---- tile and wave quantization ---- */
static double at_least_one(uint32_t value)
{
	return value > 0 ? (double)value : 1;
}

static double cluster_sm_count(const struct device_spec *device, double cluster_size)
{
	const double all = (double)device->sm_count;
	int index = 0;

	while (index < 4 && (double)(1 << index) < cluster_size)
		index++;
	if (cluster_size <= 1)
		return all;
	if (device->max_clusters[index] > 0)
		return fmin(all, (double)device->max_clusters[index] * cluster_size);
	return floor(all / cluster_size) * cluster_size;
}

struct quantization_slots quantization_slots(const struct device_spec *device,
	const struct launch_work *launch, int blocks_per_sm, int max_clusters)
{
	const double cluster_size = at_least_one(launch->shape.cluster[0]) *
				    at_least_one(launch->shape.cluster[1]) *
				    at_least_one(launch->shape.cluster[2]);
	const double grid_blocks = at_least_one(launch->shape.grid[0]) *
				   at_least_one(launch->shape.grid[1]) *
				   at_least_one(launch->shape.grid[2]);
	struct quantization_slots slots = {
		.sm_count = cluster_sm_count(device, cluster_size),
		.per_sm = blocks_per_sm,
	};

	if (max_clusters > 0 && cluster_size > 1 && blocks_per_sm > 0)
		slots.sm_count = fmin((double)device->sm_count,
			ceil((double)max_clusters * cluster_size / blocks_per_sm));
	slots.per_wave = slots.sm_count * slots.per_sm;
	if (max_clusters > 0 && cluster_size > 1)
		slots.per_wave = fmin(slots.per_wave, (double)max_clusters * cluster_size);
	if (launch->schedule != SCHEDULE_GRID && grid_blocks < slots.per_wave) {
		slots.per_wave = grid_blocks;
		slots.sm_count = fmin(slots.sm_count, grid_blocks);
		slots.per_sm = ceil(grid_blocks / slots.sm_count);
	}
	return slots;
}

void quantization_waves(const struct launch_work *launch, const struct quantization_slots *slots,
	struct launch_score *score)
{
	if (slots->per_wave <= 0 || launch->units <= 0)
		return;
	score->waves_exact = launch->units / slots->per_wave;
	score->waves = fmax(1, ceil(score->waves_exact));
	score->wave_efficiency_ratio = score->waves_exact / score->waves;
	if (launch->schedule == SCHEDULE_STREAM_K)
		score->wave_efficiency_ratio =
			fmin(1, launch->units * launch->steps_mean / slots->per_wave);
}

/* Returns the clock rate, which dense tensor work lowers in proportion, down to tensor_clock_hz. */
static double clock_under_load(
	const struct time_model_input *input, const struct block_model *model, double clocks)
{
	const struct device_spec *device = input->device;
	const double per_unit = model->steps_mean * model->step.clocks[BOUND_TENSOR] +
				model->prologue.clocks[BOUND_TENSOR] +
				model->epilogue.clocks[BOUND_TENSOR];
	const double busy = per_unit * input->launch->units / (clocks * (double)device->sm_count);

	if (device->tensor_clock_hz <= 0 || !(busy > 0))
		return device->clock_hz;
	return device->clock_hz + fmin(1, busy) * (device->tensor_clock_hz - device->clock_hz);
}

static double steps_in_turn(const struct time_model_input *input)
{
	const double waves = input->launch->units / input->slots->per_wave;

	return fmax(1, waves) * fmax(1, input->launch->steps_mean);
}

struct time_model_result time_model_launch(const struct time_model_input *input)
{
	const struct device_spec *device = input->device;
	const struct launch_work *launch = input->launch;
	const struct block_model model = block_model_of(input);
	struct time_model_result result = {INFINITY, BOUND_LATENCY};
	double sm_us, dram_us = 0;
	struct wave_time time;

	if (!(input->slots->per_wave > 0) || !(launch->units > 0))
		return result;
	time = wave_model_clocks(&model, input->slots, launch->units, launch->schedule);
	if (!isfinite(time.clocks))
		return result;
	sm_us = time.clocks / clock_under_load(input, &model, time.clocks) * 1e6;
	if (device->dram_bytes_per_s > 0)
		dram_us = input->traffic->dram_bytes / device->dram_bytes_per_s * 1e6;
	result.bound = dram_us > sm_us ? BOUND_DRAM : time.bound;
	/* In a two-stage pipeline SMs are idle during the first load, or DRAM during the last step.
	 */
	result.time_us = device->launch_us + fmax(sm_us, dram_us) +
			 fmin(sm_us, dram_us) / steps_in_turn(input);
	return result;
}
