/* SPDX-License-Identifier: MIT */
#include "score/time_model.h"

#include <math.h>

/* Constants that no sheet has. They were set by hand so that known rankings come out right
 * (tests/unit/test_score.c); none of them changes the order of magnitude of a time. */

/* Share of the pipes that are not the busiest which one warp per scheduler fails to overlap with
 * it; more warps divide it. */
static const double OVERLAP_LOSS = 0.25;
/* Warps that can feed all four schedulers of an SM. */
static const double SCHEDULERS = 4;
/* Share of the shorter of DRAM time and SM time that is not hidden behind the longer one. */
static const double DRAM_OVERLAP_LOSS = 0.1;
/* Bytes per clock that one SM can get from L2 (NVIDIA's tuning guides; DeepGEMM uses it too). */
static const double L2_BYTES_PER_CLOCK_SM = 64;
/* Share of the spilling instructions that lie in the main loop. */
static const double SPILL_IN_LOOP = 0.5;

enum {
	PIPE_KINDS = BOUND_L2 + 1
};

/* Clocks of one block alone on its SM, by kind of pipe; the entry of L2 is in bytes, because its
 * rate depends on how many SMs ask. */
struct phase {
	double clocks[PIPE_KINDS];
	double barriers;
};

/* All that waves need. */
struct block_model {
	struct phase prologue, step, epilogue;
	double steps_mean, steps_max, stages;
	double warps;
	double latency_clocks; /* of a load, L2 and DRAM mixed by their shares */
	double barrier_clocks;
	double l2_sm_rate, l2_chip_rate; /* bytes per clock */
	double epilogue_overlap_ratio;
};

static double rate_of(const struct device_spec *device, enum pipe pipe, enum dtype dtype)
{
	const bool tensor = pipe == PIPE_TENSOR_MMA || pipe == PIPE_TENSOR_WGMMA;
	double rate = device->rate[pipe][tensor ? dtype : DTYPE_FP32];

	if (pipe == PIPE_INSTRUCTIONS && rate <= 0)
		rate = device->instructions_per_clock_sm;
	if ((pipe == PIPE_SMEM_READ || pipe == PIPE_SMEM_WRITE) && rate <= 0)
		rate = device->smem_bytes_per_clock_sm;
	return rate;
}

/* Infinite where there is work for a pipe that the device lacks. */
static double clocks_of(
	const struct device_spec *device, enum pipe pipe, enum dtype dtype, double amount)
{
	return amount > 0 ? amount / rate_of(device, pipe, dtype) : 0;
}

static struct phase phase_of(const struct time_model_input *input, const double *amounts)
{
	const struct device_spec *device = input->device;
	const enum dtype dtype = input->launch->dtype;
	const double wgmma_factor = input->wgmma_serialized ? 2 : 1;
	struct phase phase = {.barriers = amounts[PIPE_BARRIERS]};

	phase.clocks[BOUND_TENSOR] =
		clocks_of(device, PIPE_TENSOR_MMA, dtype, amounts[PIPE_TENSOR_MMA]) +
		clocks_of(device, PIPE_TENSOR_WGMMA, dtype, amounts[PIPE_TENSOR_WGMMA]) *
			wgmma_factor;
	phase.clocks[BOUND_FP32] = clocks_of(device, PIPE_FP32, dtype, amounts[PIPE_FP32]);
	phase.clocks[BOUND_MUFU] = clocks_of(device, PIPE_MUFU, dtype, amounts[PIPE_MUFU]);
	phase.clocks[BOUND_INSTRUCTIONS] =
		clocks_of(device, PIPE_INSTRUCTIONS, dtype, amounts[PIPE_INSTRUCTIONS]);
	phase.clocks[BOUND_SMEM] =
		clocks_of(device, PIPE_SMEM_READ, dtype, amounts[PIPE_SMEM_READ]) +
		clocks_of(device, PIPE_SMEM_WRITE, dtype, amounts[PIPE_SMEM_WRITE]);
	phase.clocks[BOUND_L2] = input->traffic->sectors_per_row_ratio *
				 (amounts[PIPE_L2_READ] + amounts[PIPE_L2_WRITE]);
	return phase;
}

/* Conflicts of the listed accesses, and spills: local memory goes through the same pipe. */
static void step_add_smem(
	const struct time_model_input *input, const struct block_model *model, struct phase *step)
{
	const double threads = model->warps * 32;
	const double loads = input->spill_load_bytes * threads * SPILL_IN_LOOP;
	const double stores = input->spill_store_bytes * threads * SPILL_IN_LOOP;

	step->clocks[BOUND_SMEM] += clocks_of(input->device, PIPE_SMEM_READ, DTYPE_FP32,
					    input->traffic->smem_read_bytes + loads) +
				    clocks_of(input->device, PIPE_SMEM_WRITE, DTYPE_FP32,
					    input->traffic->smem_write_bytes + stores);
	/* 4 bytes of each of 32 threads by one warp instruction */
	step->clocks[BOUND_INSTRUCTIONS] +=
		clocks_of(input->device, PIPE_INSTRUCTIONS, DTYPE_FP32, (loads + stores) / 128);
}

static double launch_clock_hz(const struct time_model_input *input)
{
	const struct launch_work *launch = input->launch;
	const bool tensor =
		launch->per_step[PIPE_TENSOR_MMA] > 0 || launch->per_step[PIPE_TENSOR_WGMMA] > 0;

	if (tensor && input->device->tensor_clock_hz > 0)
		return input->device->tensor_clock_hz;
	return input->device->clock_hz;
}

static struct block_model block_model_of(const struct time_model_input *input, double clock_hz)
{
	const struct device_spec *device = input->device;
	const struct launch_work *launch = input->launch;
	const double threads =
		(double)launch->block[0] * (double)launch->block[1] * (double)launch->block[2];
	const double clocks_per_us = clock_hz * 1e-6;
	struct block_model model = {
		.prologue = phase_of(input, launch->prologue),
		.step = phase_of(input, launch->per_step),
		.epilogue = phase_of(input, launch->epilogue),
		.steps_mean = launch->steps_mean,
		.steps_max = fmax(launch->steps_max, launch->steps_mean),
		.stages = fmax(1, launch->stages),
		.warps = fmax(1, ceil(threads / (double)device->warp_size)),
		.barrier_clocks = device->sync_us * clocks_per_us,
		.l2_sm_rate = device->rate[PIPE_L2_READ][DTYPE_FP32],
		.l2_chip_rate = device->l2_bytes_per_clock,
		.epilogue_overlap_ratio = fmin(1, fmax(0, launch->epilogue_overlap_ratio)),
	};
	double miss_ratio = 1;

	step_add_smem(input, &model, &model.step);
	if (model.l2_sm_rate <= 0)
		model.l2_sm_rate = L2_BYTES_PER_CLOCK_SM;
	if (input->traffic->l2_bytes > 0)
		miss_ratio = fmin(1, launch->dram_read_bytes / input->traffic->l2_bytes);
	model.latency_clocks =
		clocks_per_us *
		(device->l2_latency_us +
			miss_ratio * fmax(0, device->dram_latency_us - device->l2_latency_us));
	return model;
}

/* Clocks of a phase's pipes together: the busiest, and a part of the others. An FP32 operation is an
 * instruction too, so of these two only the busier counts. */
static double overlapped(const double clocks[PIPE_KINDS], double warps_per_scheduler, int *busiest)
{
	double sum = -fmin(clocks[BOUND_FP32], clocks[BOUND_INSTRUCTIONS]), most = 0;

	for (int kind = 0; kind < PIPE_KINDS; kind++) {
		sum += clocks[kind];
		if (clocks[kind] > most) {
			most = clocks[kind];
			if (busiest)
				*busiest = kind;
		}
	}
	if (isinf(most))
		return most;
	return most + (sum - most) * OVERLAP_LOSS / fmax(1, warps_per_scheduler);
}

/* The clocks of a phase of `count` blocks, given the SM's share of L2 and how many warps run. */
static void phase_scale(const struct phase *phase, double count, double l2_rate, double warps,
	double clocks[PIPE_KINDS])
{
	/* fewer warps than schedulers leave some of the pipes without work */
	const double lame = SCHEDULERS / fmin(SCHEDULERS, warps);

	for (int kind = 0; kind < PIPE_KINDS; kind++)
		clocks[kind] = count * phase->clocks[kind] * lame;
	clocks[BOUND_SMEM] = count * phase->clocks[BOUND_SMEM];
	clocks[BOUND_L2] = count * phase->clocks[BOUND_L2] / l2_rate;
}

struct wave {
	double resident;  /* blocks on the fullest SM */
	double sm_count;  /* SMs at work */
	double steps;     /* of each block */
	double epilogues; /* of each block */
	bool first;       /* pays for the first load */
};

struct wave_time {
	double clocks;
	enum bound_kind bound;
};

static double cube(double value)
{
	return value * value * value;
}

static struct wave_time wave_clocks(const struct block_model *model, const struct wave *wave)
{
	const double l2_rate = fmin(model->l2_sm_rate, model->l2_chip_rate / wave->sm_count);
	const double warps = wave->resident * model->warps;
	const double epilogues = wave->epilogues * (1 - model->epilogue_overlap_ratio);
	double prologue[PIPE_KINDS], step[PIPE_KINDS], epilogue[PIPE_KINDS], all[PIPE_KINDS];
	double own_step, own_chain, serial, together, waiting;
	int busiest = BOUND_LATENCY;
	struct wave_time time;

	/* one block's chain */
	phase_scale(&model->prologue, 1, l2_rate, model->warps, prologue);
	phase_scale(&model->step, 1, l2_rate, model->warps, step);
	phase_scale(&model->epilogue, 1, l2_rate, model->warps, epilogue);
	own_step = overlapped(step, model->warps / SCHEDULERS, NULL) +
		   model->step.barriers * model->barrier_clocks;
	own_chain = overlapped(prologue, model->warps / SCHEDULERS, NULL) +
		    model->prologue.barriers * model->barrier_clocks +
		    (wave->first ? model->latency_clocks : 0) + wave->steps * own_step +
		    epilogues * (overlapped(epilogue, model->warps / SCHEDULERS, NULL) +
					model->epilogue.barriers * model->barrier_clocks);

	/* the SM's throughput: phases of different blocks overlap, the more blocks the better */
	phase_scale(&model->prologue, wave->resident, l2_rate, warps, prologue);
	phase_scale(&model->step, wave->resident * wave->steps, l2_rate, warps, step);
	phase_scale(&model->epilogue, wave->resident * epilogues, l2_rate, warps, epilogue);
	for (int kind = 0; kind < PIPE_KINDS; kind++)
		all[kind] = prologue[kind] + step[kind] + epilogue[kind];
	together = overlapped(all, warps / SCHEDULERS, &busiest);
	serial = overlapped(prologue, warps / SCHEDULERS, NULL) +
		 overlapped(step, warps / SCHEDULERS, NULL) +
		 overlapped(epilogue, warps / SCHEDULERS, NULL);
	together += (serial - together) / wave->resident;

	/* Latency varies: it is felt before it is the longer of the two, hence no plain maximum. */
	waiting = wave->steps / model->stages * (model->latency_clocks + own_step);
	time.clocks = fmax(own_chain, together);
	time.clocks = cbrt(cube(time.clocks) + cube(waiting));
	time.bound = (enum bound_kind)busiest;
	if (busiest == BOUND_LATENCY || all[busiest] < 0.5 * time.clocks)
		time.bound = BOUND_LATENCY;
	return time;
}

/* Units that differ in length fill the gaps that others leave: on average half of the longest
 * one's excess is lost at the end. */
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
	mean.clocks = fmax(
		longest.clocks, waves_exact * mean.clocks + 0.5 * (longest.clocks - mean.clocks));
	return mean;
}

/* Every slot takes an equal share of all steps; a block meets one tile's end more than the tiles
 * that it fills. */
static struct wave_time stream_k_clocks(
	const struct block_model *model, const struct quantization_slots *slots, double waves_exact)
{
	const struct wave wave = {slots->per_sm, slots->sm_count,
		fmax(1, waves_exact * model->steps_mean), waves_exact + 1, true};

	return wave_clocks(model, &wave);
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
		/* a persistent block loads its next tile while it ends this one */
		wave.first = !persistent;
		if (full > 1) {
			next = wave_clocks(model, &wave);
			time.clocks += (full - 1) * next.clocks;
		}
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
	/* nothing follows the last epilogue that could hide it */
	if (model->epilogue_overlap_ratio > 0) {
		double epilogue[PIPE_KINDS];

		phase_scale(&model->epilogue, wave.resident,
			fmin(model->l2_sm_rate, model->l2_chip_rate / wave.sm_count),
			wave.resident * model->warps, epilogue);
		time.clocks +=
			model->epilogue_overlap_ratio * overlapped(epilogue, SCHEDULERS, NULL);
	}
	return time;
}

struct time_model_result time_model_launch(const struct time_model_input *input)
{
	const struct device_spec *device = input->device;
	const struct launch_work *launch = input->launch;
	const double clock_hz = launch_clock_hz(input);
	const struct block_model model = block_model_of(input, clock_hz);
	const double waves_exact = launch->units / input->slots->per_wave;
	struct time_model_result result = {INFINITY, BOUND_LATENCY};
	double sm_us, dram_us;
	struct wave_time time;

	if (!(input->slots->per_wave > 0))
		return result;
	if (launch->schedule == SCHEDULE_STREAM_K)
		time = stream_k_clocks(&model, input->slots, waves_exact);
	else if (model.steps_max > model.steps_mean)
		time = uneven_clocks(&model, input->slots, waves_exact);
	else
		time = whole_waves_clocks(&model, input->slots, launch->units,
			launch->schedule == SCHEDULE_PERSISTENT);
	sm_us = time.clocks / clock_hz * 1e6;
	dram_us = device->dram_bytes_per_s > 0
			  ? input->traffic->dram_bytes /
				    (device->dram_bytes_per_s) * 1e6
			  : 0;
	result.bound = dram_us > sm_us ? BOUND_DRAM : time.bound;
	result.time_us =
		device->launch_us + fmax(sm_us, dram_us) + DRAM_OVERLAP_LOSS * fmin(sm_us, dram_us);
	if (isinf(sm_us))
		result.time_us = INFINITY;
	return result;
}
