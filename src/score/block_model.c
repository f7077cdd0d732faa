/* SPDX-License-Identifier: MIT */
#include "score/block_model.h"

#include <math.h>

static double rate_of(const struct device_spec *device, enum pipe pipe, enum dtype dtype)
{
	double rate = device_spec_rate(device, pipe, dtype);

	if (pipe == PIPE_INSTRUCTIONS)
		rate = device->instructions_per_clock_sm;
	if ((pipe == PIPE_SMEM_READ || pipe == PIPE_SMEM_WRITE) && rate <= 0)
		rate = device->smem_bytes_per_clock_sm;
	return rate;
}

/* Returns the clocks of an amount of work, infinite if the device lacks the pipe. */
static double clocks_of(
	const struct device_spec *device, enum pipe pipe, enum dtype dtype, double amount)
{
	return amount > 0 ? amount / rate_of(device, pipe, dtype) : 0;
}

/* Returns the cost of L2 reads, in bytes read from data that L2_SHARING SMs share. Data that fewer
 * SMs share cost more. */
static double l2_read_cost(const struct device_spec *device, const double *amounts)
{
	const double read = amounts[PIPE_L2_READ], distinct = amounts[PIPE_L2_DISTINCT];
	double line;

	if (!(distinct > 0 && device->l2_own_bytes_per_clock > 0))
		return read;
	line = (device->l2_bytes_per_clock / device->l2_own_bytes_per_clock - 1) * L2_SHARING /
	       (L2_SHARING - 1);
	return read + line * (distinct - read / L2_SHARING);
}

static struct phase phase_of(const struct time_model_input *input, const double *amounts)
{
	const struct device_spec *device = input->device;
	const enum dtype dtype = input->launch->dtype;
	struct phase phase = {
		.barriers = amounts[PIPE_BARRIERS], .messages = amounts[PIPE_MESSAGES]};

	phase.clocks[BOUND_TENSOR] =
		clocks_of(device, PIPE_TENSOR_MMA, dtype, amounts[PIPE_TENSOR_MMA]) +
		clocks_of(device, PIPE_TENSOR_WGMMA, dtype, amounts[PIPE_TENSOR_WGMMA]);
	phase.clocks[BOUND_FP32] = clocks_of(device, PIPE_FP32, dtype, amounts[PIPE_FP32]);
	phase.clocks[BOUND_MUFU] = clocks_of(device, PIPE_MUFU, dtype, amounts[PIPE_MUFU]);
	phase.clocks[BOUND_INSTRUCTIONS] =
		clocks_of(device, PIPE_INSTRUCTIONS, dtype, amounts[PIPE_INSTRUCTIONS]);
	phase.clocks[BOUND_SMEM] =
		clocks_of(device, PIPE_SMEM_READ, dtype, amounts[PIPE_SMEM_READ]) +
		clocks_of(device, PIPE_SMEM_WRITE, dtype, amounts[PIPE_SMEM_WRITE]);
	/* L2 serves whole lines. */
	phase.clocks[BOUND_L2] = input->traffic->lines_read_ratio * l2_read_cost(device, amounts) +
				 input->traffic->lines_written_ratio * amounts[PIPE_L2_WRITE];
	return phase;
}

/* Adds bank conflicts and spills, as if all were in the main loop. */
static void step_add_smem(
	const struct time_model_input *input, const struct block_model *model, struct phase *step)
{
	const double threads = model->warps * 32;
	const double loads = input->spill_load_bytes * threads;
	const double stores = input->spill_store_bytes * threads;

	step->clocks[BOUND_SMEM] += clocks_of(input->device, PIPE_SMEM_READ, DTYPE_FP32,
					    input->traffic->smem_read_bytes + loads) +
				    clocks_of(input->device, PIPE_SMEM_WRITE, DTYPE_FP32,
					    input->traffic->smem_write_bytes + stores);
	step->clocks[BOUND_INSTRUCTIONS] +=
		clocks_of(input->device, PIPE_INSTRUCTIONS, DTYPE_FP32, (loads + stores) / 128);
}

struct block_model block_model_of(const struct time_model_input *input)
{
	const struct device_spec *device = input->device;
	const struct launch_work *launch = input->launch;
	const double threads = input->threads;
	const double clocks_per_us = device->clock_hz * 1e-6;
	struct block_model model = {
		.prologue = phase_of(input, launch->prologue),
		.step = phase_of(input, launch->per_step),
		.epilogue = phase_of(input, launch->epilogue),
		.steps_mean = launch->steps_mean,
		.steps_max = fmax(launch->steps_max, launch->steps_mean),
		.stages = fmax(1, launch->stages),
		.warps = fmax(1, ceil(threads / (double)device->warp_size)),
		.tensor_is_asynchronous =
			launch->per_step[PIPE_TENSOR_WGMMA] > 0 && !input->wgmma_serialized,
		.scheduler_ratio = 1,
		.barrier_clocks = device->sync_us * clocks_per_us,
		.l2_chip_rate = device->l2_bytes_per_clock,
		.epilogue_overlap_ratio = fmin(1, fmax(0, launch->epilogue_overlap_ratio)),
	};
	double miss_ratio = 1;

	if (!model.tensor_is_asynchronous)
		model.scheduler_ratio = SCHEDULERS * ceil(model.warps / SCHEDULERS) / model.warps;
	step_add_smem(input, &model, &model.step);
	if (input->traffic->l2_bytes > 0)
		miss_ratio = fmin(1, launch->dram_read_bytes / input->traffic->l2_bytes);
	model.latency_clocks =
		clocks_per_us * (device->l2_latency_us +
					miss_ratio * fmax(0, device->dram_latency_us -
								     device->l2_latency_us)) +
		model.step.messages * MESSAGE_CLOCKS;
	return model;
}

/* Returns the clocks of a phase of `count` blocks on one SM: the balanced job bound (README.md). */
static double phase_clocks(const struct block_model *model, const struct phase *phase, double count,
	double l2_rate, double warps, int *busiest)
{
	double issued = 0, overlapped = 0, most = 0;

	for (int kind = 0; kind < PIPE_KINDS; kind++) {
		const bool is_issued =
			kind == BOUND_TENSOR ? !model->tensor_is_asynchronous : kind < BOUND_SMEM;
		double clocks = count * phase->clocks[kind],
		       *busy = is_issued ? &issued : &overlapped;

		if (!(clocks > 0))
			continue;
		if (kind == BOUND_L2)
			clocks /= l2_rate;
		if (kind < BOUND_SMEM)
			clocks *= model->scheduler_ratio;
		if (clocks > *busy)
			*busy = clocks;
		if (clocks > most) {
			most = clocks;
			if (busiest)
				*busiest = kind;
		}
	}
	return most + fmin(issued, overlapped) / fmax(1, warps / SCHEDULERS);
}

struct wave {
	double resident; /* blocks on the fullest SM */
	double sm_count;
	double steps;
	double epilogues;
	bool first; /* the blocks wait for their first load */
};

static double l2_rate_of(const struct block_model *model, const struct wave *wave)
{
	return fmin(L2_PORT_BYTES_PER_CLOCK, model->l2_chip_rate / wave->sm_count);
}

static double epilogue_clocks(const struct block_model *model, const struct wave *wave)
{
	return phase_clocks(model, &model->epilogue, wave->resident, l2_rate_of(model, wave),
		wave->resident * model->warps, NULL);
}

static struct wave_time wave_clocks(const struct block_model *model, const struct wave *wave)
{
	const double l2_rate = l2_rate_of(model, wave);
	const double warps = wave->resident * model->warps;
	const double epilogues = wave->epilogues * (1 - model->epilogue_overlap_ratio);
	const double own_step = phase_clocks(model, &model->step, 1, l2_rate, model->warps, NULL) +
				model->step.barriers * model->barrier_clocks;
	/* Dependent phases of one block. */
	const double own_chain =
		phase_clocks(model, &model->prologue, 1, l2_rate, model->warps, NULL) +
		model->prologue.barriers * model->barrier_clocks +
		model->prologue.messages * MESSAGE_CLOCKS +
		(wave->first ? model->latency_clocks : 0) + wave->steps * own_step +
		epilogues * (phase_clocks(model, &model->epilogue, 1, l2_rate, model->warps, NULL) +
				    model->epilogue.barriers * model->barrier_clocks +
				    model->epilogue.messages * MESSAGE_CLOCKS);
	/* Throughput, where phases of different blocks overlap. */
	int busiest = BOUND_LATENCY;
	const double prologue =
		phase_clocks(model, &model->prologue, wave->resident, l2_rate, warps, NULL);
	const double steps = wave->steps * phase_clocks(model, &model->step, wave->resident,
						   l2_rate, warps, &busiest);
	const double together = prologue + steps + epilogues * epilogue_clocks(model, wave);
	/* Latency that stages do not hide. */
	const double waiting =
		wave->steps * model->latency_clocks / (model->stages * wave->resident);
	struct wave_time time = {fmax(own_chain, together) + waiting, (enum bound_kind)busiest};

	if (busiest == BOUND_LATENCY || steps < 0.5 * time.clocks)
		time.bound = BOUND_LATENCY;
	return time;
}

/* Models units of different lengths: free slots are refilled at once, and the longest unit ends
 * last. */
static struct wave_time uneven_clocks(
	const struct block_model *model, const struct quantization_slots *slots, double waves_exact)
{
	struct wave wave = {slots->per_sm, slots->sm_count, model->steps_max, 1, true};
	const struct wave_time longest = wave_clocks(model, &wave);
	struct wave_time mean;

	if (waves_exact <= 1)
		return longest;
	wave.steps = model->steps_mean;
	mean = wave_clocks(model, &wave);
	mean.clocks = waves_exact * mean.clocks + longest.clocks - mean.clocks;
	mean.clocks = fmin(mean.clocks, ceil(waves_exact) * longest.clocks);
	mean.clocks = fmax(mean.clocks, longest.clocks);
	return mean;
}

/* README.md explains the model of Stream-K. */
static struct wave_time stream_k_clocks(
	const struct block_model *model, const struct quantization_slots *slots, double waves_exact)
{
	const double cut = waves_exact - fmax(0, floor(waves_exact) - 1);
	const double others = fmin(model->steps_mean - 1, 1 / cut);
	const struct wave wave = {slots->per_sm, slots->sm_count,
		fmax(1, waves_exact * model->steps_mean), waves_exact + 1, true};
	struct wave_time time = wave_clocks(model, &wave);

	time.clocks += 3 * model->latency_clocks +
		       others * (model->latency_clocks + epilogue_clocks(model, &wave));
	return time;
}

static struct wave_time whole_waves_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, bool persistent)
{
	const double full = floor(units / slots->per_wave);
	const double rest = units - full * slots->per_wave;
	struct wave wave = {slots->per_sm, slots->sm_count, model->steps_mean, 1, true};
	struct wave_time time = {0, BOUND_LATENCY}, next;

	if (full > 0) {
		time = wave_clocks(model, &wave);
		/* a persistent block loads its next tile during the epilogue */
		wave.first = !persistent;
		next = full > 1 && persistent ? wave_clocks(model, &wave) : time;
		time.clocks += (full - 1) * next.clocks;
	}
	if (rest > 0) {
		wave.first = full <= 0 || !persistent;
		wave.resident = ceil(rest / slots->sm_count);
		wave.sm_count = fmin(rest, slots->sm_count);
		next = wave_clocks(model, &wave);
		time.clocks += next.clocks;
		if (full <= 0)
			time.bound = next.bound;
	}
	/* Nothing hides the last epilogue. */
	time.clocks += model->epilogue_overlap_ratio * epilogue_clocks(model, &wave);
	return time;
}

struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule)
{
	const double waves_exact = units / slots->per_wave;

	if (schedule == SCHEDULE_STREAM_K && waves_exact > floor(waves_exact))
		return stream_k_clocks(model, slots, waves_exact);
	if (model->steps_max > model->steps_mean)
		return uneven_clocks(model, slots, waves_exact);
	return whole_waves_clocks(model, slots, units, schedule != SCHEDULE_GRID);
}
