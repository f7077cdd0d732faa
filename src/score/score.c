/* SPDX-License-Identifier: MIT */
#include "score/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "score/occupancy.h"
#include "score/quantization.h"
#include "score/time_model.h"
#include "score/traffic.h"

const char *const bound_kind_names[] = {
	[BOUND_TENSOR] = "tensor",
	[BOUND_FP32] = "fp32",
	[BOUND_MUFU] = "mufu",
	[BOUND_INSTRUCTIONS] = "instructions",
	[BOUND_SMEM] = "smem",
	[BOUND_L2] = "l2",
	[BOUND_DRAM] = "dram",
	[BOUND_LATENCY] = "latency",
	[BOUND_LATENCY + 1] = NULL,
};

const char *bound_kind_name(enum bound_kind bound)
{
	return bound_kind_names[bound];
}

/* What is known before compilation: the family's estimate, no static shared memory, no spills. */
static struct kernel_resources resources_estimated(const struct launch_work *launch)
{
	return (struct kernel_resources){
		.regs_per_thread = launch->regs_estimate,
		.blocks_per_sm = -1,
		.max_clusters = -1,
	};
}

static void launch_score_compute(const struct device_spec *device, const struct launch_work *launch,
	const struct kernel_resources *resources, struct launch_score *score)
{
	const struct occupancy_demand demand = {
		.threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]),
		.regs_per_thread = resources->regs_per_thread,
		.smem_static_bytes = resources->smem_static_bytes,
		.smem_dynamic_bytes = launch->smem_dynamic_bytes,
		.barriers = resources->barriers,
	};
	struct quantization_slots slots;
	struct quantization_waves waves;
	struct traffic traffic;
	struct time_model_result time;

	score->blocks_per_sm = occupancy_compute(device, &demand, &score->occupancy_limiter);
	if (resources->blocks_per_sm > 0) /* the driver's own answer */
		score->blocks_per_sm = resources->blocks_per_sm;
	score->occupancy_ratio = occupancy_ratio(device, demand.threads, score->blocks_per_sm);
	score->regs_per_thread = resources->regs_per_thread;
	score->smem_bytes = demand.smem_static_bytes + demand.smem_dynamic_bytes;

	slots = quantization_slots(device, launch, score->blocks_per_sm, resources->max_clusters);
	waves = quantization_waves(launch, &slots);
	score->tiles = launch->units;
	score->slots_per_wave = slots.per_wave;
	score->waves = waves.count;
	score->waves_exact = waves.exact;
	score->wave_efficiency_ratio = waves.efficiency_ratio;
	score->tile_efficiency_ratio = launch->useful_ratio;

	traffic_compute(launch, &traffic);
	score->bank_conflict_ratio = traffic.bank_conflict_ratio;
	score->lines_per_row_ratio = traffic.lines_per_row_ratio;
	score->sectors_per_row_ratio = traffic.sectors_per_row_ratio;
	score->dram_bytes = traffic.dram_bytes;
	score->l2_bytes = traffic.l2_bytes;
	score->arithmetic_intensity =
		traffic_intensity(traffic.flop * launch->useful_ratio, traffic.dram_bytes);

	time = time_model_launch(&(struct time_model_input){
		.device = device,
		.launch = launch,
		.traffic = &traffic,
		.slots = &slots,
		.spill_store_bytes = resources->spill_store_bytes,
		.spill_load_bytes = resources->spill_load_bytes,
		.wgmma_serialized = (resources->flags & FLAG_MASK(WGMMA_SERIALIZED)) != 0,
	});
	score->bound = time.bound;
	score->predicted_time_us = time.time_us * (launch->repeat > 0 ? launch->repeat : 1);
}

void score_compute(const struct device_spec *device, const struct work *work,
	const struct kernel_resources *resources, struct score *score)
{
	*score = (struct score){
		.launches = memory_zeroed(work->launch_count, sizeof(*score->launches)),
		.launch_count = work->launch_count,
		.regs_estimated = !resources,
	};
	for (size_t i = 0; i < work->launch_count; i++) {
		const struct kernel_resources estimate = resources_estimated(&work->launches[i]);

		launch_score_compute(device, &work->launches[i],
			resources ? &resources[i] : &estimate, &score->launches[i]);
		score->predicted_time_us += score->launches[i].predicted_time_us;
		if (score->launches[i].predicted_time_us >
			score->launches[score->longest].predicted_time_us)
			score->longest = i;
	}
	if (score->predicted_time_us > 0)
		score->predicted_tflops = work->flop / score->predicted_time_us * 1e-6;
}

void score_release(struct score *score)
{
	free(score->launches);
	*score = (struct score){0};
}
