/* SPDX-License-Identifier: MIT */
#include "score/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "record/record_read.h"
#include "record/record_write.h"
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

/* Estimates resources, without static shared memory and spills. */
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
		.threads = launch_threads(&launch->shape, resources),
		.regs_per_thread = resources->regs_per_thread,
		.smem_static_bytes = resources->smem_static_bytes,
		.smem_dynamic_bytes = launch->shape.smem_dynamic_bytes,
		.barriers = resources->barriers,
	};
	struct quantization_slots slots;
	struct traffic traffic;
	struct time_model_result time;

	score->blocks_per_sm = occupancy_compute(device, &demand, &score->occupancy_limiter);
	if (resources->blocks_per_sm > 0) /* reported by the driver */
		score->blocks_per_sm = resources->blocks_per_sm;
	score->occupancy_ratio = occupancy_ratio(device, demand.threads, score->blocks_per_sm);
	score->regs_per_thread = resources->regs_per_thread;
	score->smem_bytes = demand.smem_static_bytes + demand.smem_dynamic_bytes;
	score->stack_bytes = resources->stack_bytes > 0 ? resources->stack_bytes : 0;

	slots = quantization_slots(device, launch, score->blocks_per_sm, resources->max_clusters);
	quantization_waves(launch, &slots, score);
	score->tiles = launch->units;
	score->slots_per_wave = slots.per_wave;
	score->tile_efficiency_ratio = launch->useful_ratio;

	traffic_compute(launch, &traffic);
	score->bank_conflict_ratio = traffic.bank_conflict_ratio;
	score->lines_per_row_ratio = traffic.lines_per_row_ratio;
	score->sectors_per_row_ratio = traffic.sectors_per_row_ratio;
	score->dram_bytes = traffic.dram_bytes;
	score->l2_bytes = traffic.l2_bytes;
	if (traffic.dram_bytes > 0)
		score->arithmetic_intensity =
			traffic.flop * launch->useful_ratio / traffic.dram_bytes;

	time = time_model_launch(&(struct time_model_input){
		.device = device,
		.launch = launch,
		.traffic = &traffic,
		.slots = &slots,
		.threads = demand.threads,
		.spill_store_bytes = resources->spill_store_bytes,
		.spill_load_bytes = resources->spill_load_bytes,
		.wgmma_serialized = (resources->flags & FLAG_MASK(WGMMA_SERIALIZED)) != 0,
	});
	score->bound = time.bound;
	score->predicted_time_us =
		time.time_us * (launch->shape.repeat > 0 ? launch->shape.repeat : 1);
}

/* Returns a lower bound on the time of any kernel on this device. */
static double floor_us(
	const struct device_spec *device, const struct work *work, enum bound_kind *bound)
{
	double peak = 0, flop_us, dram_us;
	bool tensor = false;

	for (size_t i = 0; i < work->launch_count; i++) {
		const enum dtype dtype = work->launches[i].dtype;

		peak = fmax(peak, device_spec_peak_flop_per_s(device, dtype));
		tensor |= device_spec_fastest_pipe(device, dtype) != PIPE_FP32;
	}
	flop_us = peak > 0 ? work->flop / peak * 1e6 : 0;
	dram_us =
		device->dram_bytes_per_s > 0 ? work->min_bytes / device->dram_bytes_per_s * 1e6 : 0;
	*bound = dram_us > flop_us ? BOUND_DRAM : tensor ? BOUND_TENSOR : BOUND_FP32;
	return fmax(flop_us, dram_us);
}

static void raise_to_floor(
	const struct device_spec *device, const struct work *work, struct score *score)
{
	struct launch_score *longest = &score->launches[score->longest];
	enum bound_kind bound;
	double missing_us;

	score->floor_us = floor_us(device, work, &bound);
	missing_us = score->floor_us - score->predicted_time_us;
	if (!(missing_us > 0))
		return;
	longest->predicted_time_us += missing_us;
	longest->bound = bound;
	score->predicted_time_us = score->floor_us;
}

static size_t longest_of(const struct launch_score *launches, size_t count)
{
	size_t longest = 0;

	for (size_t i = 1; i < count; i++)
		if (launches[i].predicted_time_us > launches[longest].predicted_time_us)
			longest = i;
	return longest;
}

void score_compute(const struct device_spec *device, const struct work *work,
	const struct kernel_resources *resources, struct score *score)
{
	*score = (struct score){
		.launches = memory_zeroed(work->launch_count, sizeof(*score->launches)),
		.launch_count = work->launch_count,
		.regs_estimated = !resources,
		.without_model = work->launch_count > 0,
	};
	for (size_t i = 0; i < work->launch_count; i++) {
		const struct kernel_resources estimate = resources_estimated(&work->launches[i]);

		launch_score_compute(device, &work->launches[i],
			resources ? &resources[i] : &estimate, &score->launches[i]);
		score->predicted_time_us += score->launches[i].predicted_time_us;
		score->without_model &= !work->launches[i].has_model;
	}
	score->longest = longest_of(score->launches, score->launch_count);
	if (work->launch_count)
		raise_to_floor(device, work, score);
	score->predicted_tflops = NAN;
	if (work->flop > 0 && score->predicted_time_us > 0)
		score->predicted_tflops = work->flop / score->predicted_time_us * 1e-6;
}

void score_release(struct score *score)
{
	free(score->launches);
	*score = (struct score){0};
}

/* ---- JSON: the longest launch, and all if there are several ---- */
#define FIGURE(field, ...)                                                                         \
	RECORD_VALUE(struct launch_score, field, #field, .low = 0, .high = INFINITY, ##__VA_ARGS__)
static const struct record_member launch_members[] = {
	FIGURE(tiles),
	FIGURE(slots_per_wave),
	FIGURE(waves),
	FIGURE(waves_exact),
	FIGURE(wave_efficiency_ratio),
	FIGURE(tile_efficiency_ratio),
	RECORD_VALUE(struct launch_score, blocks_per_sm, "blocks_per_sm"),
	FIGURE(occupancy_ratio),
	RECORD_ENUM(struct launch_score, occupancy_limiter, occupancy_limiter_names,
		"occupancy_limiter"),
	FIGURE(regs_per_thread),
	FIGURE(smem_bytes),
	FIGURE(stack_bytes, .flags = RECORD_OPTIONAL),
	FIGURE(bank_conflict_ratio),
	FIGURE(lines_per_row_ratio),
	FIGURE(sectors_per_row_ratio),
	FIGURE(dram_bytes, .flags = RECORD_WHOLE),
	FIGURE(l2_bytes, .flags = RECORD_WHOLE),
	FIGURE(arithmetic_intensity, .flags = RECORD_NULLABLE, .absent = INFINITY),
	RECORD_ENUM(struct launch_score, bound, bound_kind_names, "bound"),
	FIGURE(predicted_time_us, .flags = RECORD_NULLABLE, .absent = INFINITY),
};
#undef FIGURE
RECORD_DEFINE(struct launch_score, launch_score_record, launch_members, .name = "launch_score",
	.open = true);

/* A score as JSON. `longest` has the time of all launches. */
struct model_view {
	struct launch_score longest;
	double predicted_tflops;
	bool regs_estimated, without_model;
	struct launch_score *launches;
	size_t launch_count;
};

static const struct record_member view_members[] = {
	RECORD_FLAT(struct model_view, longest, launch_score_record),
	RECORD_VALUE(struct model_view, predicted_tflops, "predicted_tflops",
		.flags = RECORD_NULLABLE, .absent = NAN, .low = 0, .high = INFINITY),
	RECORD_VALUE(struct model_view, regs_estimated, "regs_estimated"),
	RECORD_VALUE(struct model_view, without_model, "without_model", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct model_view, launches, launch_count, launch_score_record, "launches",
		.flags = RECORD_OPTIONAL, .count_min = 2),
};
RECORD_DEFINE(struct model_view, score_record, view_members, .name = "score", .open = true);

static struct json *custom_write(const void *field)
{
	const struct score *score = field;
	struct model_view view = {.predicted_tflops = score->predicted_tflops,
		.regs_estimated = score->regs_estimated,
		.without_model = score->without_model};

	if (!score->launch_count)
		return NULL;
	view.longest = score->launches[score->longest];
	view.longest.predicted_time_us = score->predicted_time_us;
	if (score->launch_count > 1) {
		view.launches = score->launches;
		view.launch_count = score->launch_count;
	}
	return record_to_json(&score_record, &view);
}

static enum status custom_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct score *score = field;
	struct model_view view = {0};

	TRY(record_from_json(&score_record, at, &view, context, err));
	if (!view.launches) {
		view.launches = memory_copy(&view.longest, sizeof(view.longest));
		view.launch_count = 1;
	}
	*score = (struct score){.launches = view.launches,
		.launch_count = view.launch_count,
		.longest = longest_of(view.launches, view.launch_count),
		.regs_estimated = view.regs_estimated,
		.without_model = view.without_model,
		.predicted_time_us = view.longest.predicted_time_us,
		.predicted_tflops = view.predicted_tflops};
	return STATUS_OK;
}

static void custom_release(void *field)
{
	score_release(field);
}

const struct record_custom score_custom = {
	.read = custom_read,
	.write = custom_write,
	.release = custom_release,
};
