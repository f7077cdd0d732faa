/* SPDX-License-Identifier: MIT */
#include "score/quantization.h"

#include <math.h>

static double at_least_one(uint32_t value)
{
	return value > 0 ? (double)value : 1;
}

/* SMs that clusters of this size can occupy. */
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
	const double cluster_size = at_least_one(launch->cluster[0]) *
				    at_least_one(launch->cluster[1]) *
				    at_least_one(launch->cluster[2]);
	const double grid_blocks = at_least_one(launch->grid[0]) * at_least_one(launch->grid[1]) *
				   at_least_one(launch->grid[2]);
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
		/* The grid is spread over the SMs before a second block goes to one of them. */
		slots.per_wave = grid_blocks;
		slots.sm_count = fmin(slots.sm_count, grid_blocks);
		slots.per_sm = ceil(grid_blocks / slots.sm_count);
	}
	return slots;
}

struct quantization_waves quantization_waves(
	const struct launch_work *launch, const struct quantization_slots *slots)
{
	struct quantization_waves waves = {0};

	if (slots->per_wave <= 0 || launch->units <= 0)
		return waves;
	waves.exact = launch->units / slots->per_wave;
	waves.count = fmax(1, ceil(waves.exact));
	waves.efficiency_ratio = waves.exact / waves.count;
	if (launch->schedule == SCHEDULE_STREAM_K)
		waves.efficiency_ratio =
			fmin(1, launch->units * launch->steps_mean / slots->per_wave);
	return waves;
}
