/* SPDX-License-Identifier: MIT */
#include "score/block_model.h"

#include <math.h>

static const struct copy_path by_threads = {
	.overlap_loss = 0.21,
	.stages_held = 0.55,
	.latency_under_load = 2.7,
	.l2_bytes_per_clock_sm = 110,
	.l2_read_cost = 1,
	.extra_line_cost = 1,
	.latency_exponent = 4.5,
	.dram_overlap_loss = 0.08,
	.dram_idle = 0.8,
};
static const struct copy_path by_copy_engine = {
	.overlap_loss = 0.0594,
	.barrier_overlap = 0.415,
	.stages_held = 0.623,
	.latency_under_load = 1.5,
	.latency_growth = 1.06,
	.l2_bytes_per_clock_sm = 127,
	.l2_read_cost = 0.418,
	.extra_line_cost = 4.46,
	.sharing_loss = 0.367,
	.cluster_wait = 0.481,
	.latency_exponent = 3.79,
	.dram_overlap_loss = 0.229,
	.dram_idle = 0.667,
};
/* Bytes written to L2 count as this many read: no other SM shares them. Fitted to timings on an
 * H200. */
static const double L2_WRITE_COST = 2.7;
/* Share of the clocks in which a scheduler that has work issues an instruction. */
static const double ISSUE_EFFICIENCY = 0.8;
/* From the start of a cluster to its first load, beyond what a single block takes, for each
 * doubling of its size: its blocks must have found each other. Fitted to timings on an H200. */
static const double CLUSTER_START_US = 0.335;
/* A row of a bulk tensor copy that lies outside of the tensor: nothing is fetched, and yet the copy
 * engine of the SM is busy for so many clocks. Fitted to timings on an H200 (tiles of 64 rows over
 * one row of A). */
static const double COPY_ROW_OUTSIDE_CLOCKS = 5.43;
/* Share of the spilling instructions that lie in the main loop. */
static const double SPILL_IN_LOOP = 0.5;

static double rate_of(const struct device_spec *device, enum pipe pipe, enum dtype dtype)
{
	const bool tensor = pipe == PIPE_TENSOR_MMA || pipe == PIPE_TENSOR_WGMMA;
	double rate = device->rate[pipe][tensor ? dtype : DTYPE_FP32];

	if (pipe == PIPE_INSTRUCTIONS)
		rate = device->instructions_per_clock_sm * ISSUE_EFFICIENCY;
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

/* wgmma reads shared memory alone, and in every family that has it the copy engine fills that. */
static const struct copy_path *copy_path_of(const struct launch_work *launch)
{
	return launch->per_step[PIPE_TENSOR_WGMMA] > 0 ? &by_copy_engine : &by_threads;
}

static struct phase phase_of(const struct time_model_input *input, const double *amounts)
{
	const struct device_spec *device = input->device;
	const enum dtype dtype = input->launch->dtype;
	const double wgmma_factor = input->wgmma_serialized ? 2 : 1;
	const struct copy_path *copy_path = copy_path_of(input->launch);
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
		clocks_of(device, PIPE_SMEM_WRITE, dtype, amounts[PIPE_SMEM_WRITE]) +
		COPY_ROW_OUTSIDE_CLOCKS * amounts[PIPE_COPY_ROWS_OUTSIDE];
	/* requests are served by line, whatever part of it they want */
	phase.clocks[BOUND_L2] =
		(1 + copy_path->extra_line_cost * (input->traffic->lines_read_ratio - 1)) *
			copy_path->l2_read_cost * amounts[PIPE_L2_READ] +
		input->traffic->lines_written_ratio * L2_WRITE_COST * amounts[PIPE_L2_WRITE];
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

static double cluster_size(const struct launch_work *launch)
{
	double size = 1;

	for (int i = 0; i < 3; i++)
		size *= launch->cluster[i] > 0 ? (double)launch->cluster[i] : 1;
	return size;
}

struct block_model block_model_of(const struct time_model_input *input)
{
	const struct device_spec *device = input->device;
	const struct launch_work *launch = input->launch;
	const double threads =
		(double)launch->block[0] * (double)launch->block[1] * (double)launch->block[2];
	const double clocks_per_us = device->clock_hz * 1e-6;
	const struct copy_path *copy_path = copy_path_of(launch);
	struct block_model model = {
		.copy_path = copy_path,
		.prologue = phase_of(input, launch->prologue),
		.step = phase_of(input, launch->per_step),
		.epilogue = phase_of(input, launch->epilogue),
		.steps_mean = launch->steps_mean,
		.steps_max = fmax(launch->steps_max, launch->steps_mean),
		.stages = launch->stages > 1 ? fmax(1, launch->stages - copy_path->stages_held) : 1,
		.warps = fmax(1, ceil(threads / (double)device->warp_size)),
		.sm_count = (double)device->sm_count,
		.is_cluster = cluster_size(launch) > 1,
		.barrier_clocks = device->sync_us * clocks_per_us,
		.start_clocks = CLUSTER_START_US * log2(cluster_size(launch)) * clocks_per_us,
		.l2_sm_rate = copy_path->l2_bytes_per_clock_sm,
		.l2_chip_rate = device->l2_bytes_per_clock,
		.epilogue_overlap_ratio = fmin(1, fmax(0, launch->epilogue_overlap_ratio)),
	};
	double miss_ratio = 1;

	step_add_smem(input, &model, &model.step);
	if (input->traffic->l2_bytes > 0)
		miss_ratio = fmin(1, launch->dram_read_bytes /
					     (copy_path->l2_read_cost * input->traffic->l2_bytes));
	model.latency_clocks =
		clocks_per_us *
		(device->l2_latency_us +
			miss_ratio * fmax(0, device->dram_latency_us - device->l2_latency_us));
	return model;
}

double block_latency(const struct block_model *model, double sm_count)
{
	const double load = pow(sm_count / model->sm_count, model->copy_path->latency_growth);

	return model->latency_clocks * (1 + (model->copy_path->latency_under_load - 1) * load);
}

/* Clocks of a phase's pipes together: the busiest (*busiest, if not NULL; unchanged if all are
 * idle), and a part of the others. An FP32 operation is an instruction too, so of these two only
 * the busier counts. */
static double block_overlapped(const struct copy_path *copy_path, const double clocks[PIPE_KINDS],
	double warps_per_scheduler, int *busiest)
{
	double sum = clocks[BOUND_FP32] < clocks[BOUND_INSTRUCTIONS] ? -clocks[BOUND_FP32]
								     : -clocks[BOUND_INSTRUCTIONS];
	double most = 0;

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
	sum = (sum - most) * copy_path->overlap_loss;
	return most + (warps_per_scheduler > 1 ? sum / warps_per_scheduler : sum);
}

/* The clocks of a phase of `count` blocks on one SM, given its share of L2 (bytes per clock) and
 * how many warps run. */
static void block_phase_clocks(const struct phase *phase, double count, double l2_rate,
	double warps, double clocks[PIPE_KINDS])
{
	/* fewer warps than schedulers leave some of the pipes without work */
	const double scheduler_idle_factor = warps < SCHEDULERS ? SCHEDULERS / warps : 1;

	for (int kind = 0; kind < PIPE_KINDS; kind++)
		clocks[kind] = count * scheduler_idle_factor * phase->clocks[kind];
	clocks[BOUND_SMEM] = count * phase->clocks[BOUND_SMEM];
	clocks[BOUND_L2] = count * phase->clocks[BOUND_L2] / l2_rate;
}

/* ---- blocks in waves ---- */
/* Of what the longest unit has more than the mean, this share is lost at the end of a launch. */
static const double UNEVEN_LOSS = 2.3;
/* Epilogues that one partial sum of stream-K costs: written and read in fp32. */
static const double FIX_UP_EPILOGUES = 0.0813;

/* Blocks that start together. */
struct wave {
	double resident;  /* on the fullest SM */
	double sm_count;  /* SMs at work */
	double steps;     /* of each block */
	double epilogues; /* of each block */
	bool first;       /* pays for the first load */
};

static double p_norm(double working, double waiting, double exponent)
{
	const double longer = fmax(working, waiting), shorter = fmin(working, waiting);

	if (!(longer > 0) || isinf(longer))
		return longer;
	return longer * pow(1 + pow(shorter / longer, exponent), 1 / exponent);
}

static struct wave_time wave_clocks(const struct block_model *model, const struct wave *wave)
{
	const double l2_rate = fmin(model->l2_sm_rate, model->l2_chip_rate / wave->sm_count);
	const double warps = wave->resident * model->warps;
	const double epilogues = wave->epilogues * (1 - model->epilogue_overlap_ratio);
	const double latency = block_latency(model, wave->sm_count);
	const double barriers = model->step.barriers * model->barrier_clocks;
	const double overlap = model->copy_path->barrier_overlap;
	double prologue[PIPE_KINDS], step[PIPE_KINDS], epilogue[PIPE_KINDS], all[PIPE_KINDS];
	double own_step, own_chain, serial, together, waiting;
	int busiest = BOUND_LATENCY;
	struct wave_time time;

	/* one block's chain */
	block_phase_clocks(&model->prologue, 1, l2_rate, model->warps, prologue);
	block_phase_clocks(&model->step, 1, l2_rate, model->warps, step);
	block_phase_clocks(&model->epilogue, 1, l2_rate, model->warps, epilogue);
	step[BOUND_TENSOR] += overlap * barriers;
	own_step = block_overlapped(model->copy_path, step, model->warps / SCHEDULERS, NULL) +
		   (1 - overlap) * barriers;
	own_chain = block_overlapped(model->copy_path, prologue, model->warps / SCHEDULERS, NULL) +
		    model->prologue.barriers * model->barrier_clocks +
		    (wave->first ? model->start_clocks + latency : 0) + wave->steps * own_step +
		    epilogues * (block_overlapped(model->copy_path, epilogue,
					 model->warps / SCHEDULERS, NULL) +
					model->epilogue.barriers * model->barrier_clocks);

	/* the SM's throughput: phases of different blocks overlap, the more blocks the better */
	block_phase_clocks(&model->prologue, wave->resident, l2_rate, warps, prologue);
	block_phase_clocks(&model->step, wave->resident * wave->steps, l2_rate, warps, step);
	block_phase_clocks(&model->epilogue, wave->resident * epilogues, l2_rate, warps, epilogue);
	for (int kind = 0; kind < PIPE_KINDS; kind++)
		all[kind] = prologue[kind] + step[kind] + epilogue[kind];
	together = block_overlapped(model->copy_path, all, warps / SCHEDULERS, &busiest);
	serial = block_overlapped(model->copy_path, prologue, warps / SCHEDULERS, NULL) +
		 block_overlapped(model->copy_path, step, warps / SCHEDULERS, NULL) +
		 block_overlapped(model->copy_path, epilogue, warps / SCHEDULERS, NULL);
	together += (serial - together) / wave->resident;
	together += (1 - overlap) * wave->steps * barriers / wave->resident;
	if (wave->resident > 1)
		together *= 1 + model->copy_path->sharing_loss;

	waiting =
		wave->steps / model->stages *
		(latency * (model->is_cluster ? 1 + model->copy_path->cluster_wait : 1) + own_step);
	time.clocks =
		p_norm(fmax(own_chain, together), waiting, model->copy_path->latency_exponent);
	time.exposed_clocks =
		model->start_clocks + latency +
		block_overlapped(model->copy_path, epilogue, warps / SCHEDULERS, NULL);
	time.bound = (enum bound_kind)busiest;
	if (busiest == BOUND_LATENCY || all[busiest] < 0.5 * time.clocks)
		time.bound = BOUND_LATENCY;
	return time;
}

/* Units that differ in length fill the gaps that others leave; what the longest has more than the
 * mean is lost at the end. */
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
	mean.clocks = waves_exact * mean.clocks + UNEVEN_LOSS * (longest.clocks - mean.clocks);
	mean.clocks = fmin(mean.clocks, ceil(waves_exact) * longest.clocks);
	mean.clocks = fmax(mean.clocks, longest.clocks);
	return mean;
}

/* Every slot takes an equal share of all steps. A block meets one tile's end more than the tiles
 * that it fills, and a tile is put together from the partial sums of all blocks that had a share:
 * written and read again by one after the other. */
static struct wave_time stream_k_clocks(
	const struct block_model *model, const struct quantization_slots *slots, double waves_exact)
{
	const double shares = fmin(model->steps_mean, 1 + 1 / waves_exact);
	const struct wave wave = {slots->per_sm, slots->sm_count,
		fmax(1, waves_exact * model->steps_mean),
		waves_exact + 1 + FIX_UP_EPILOGUES * shares, true};
	struct wave_time time = wave_clocks(model, &wave);

	time.clocks += shares * block_latency(model, slots->sm_count);
	return time;
}

static struct wave_time whole_waves_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, bool persistent)
{
	const double full = floor(units / slots->per_wave);
	const double rest = units - full * slots->per_wave;
	struct wave wave = {slots->per_sm, slots->sm_count, model->steps_mean, 1, true};
	struct wave_time time = {0, 0, BOUND_LATENCY}, next;

	if (full > 0) {
		time = wave_clocks(model, &wave);
		/* a persistent block loads its next tile while it ends this one */
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
		if (full <= 0) {
			time.bound = next.bound;
			time.exposed_clocks = next.exposed_clocks;
		}
	}
	/* nothing follows the last epilogue that could hide it */
	if (model->epilogue_overlap_ratio > 0) {
		double epilogue[PIPE_KINDS];

		block_phase_clocks(&model->epilogue, wave.resident,
			fmin(model->l2_sm_rate, model->l2_chip_rate / wave.sm_count),
			wave.resident * model->warps, epilogue);
		time.clocks += model->epilogue_overlap_ratio *
			       block_overlapped(model->copy_path, epilogue, SCHEDULERS, NULL);
	}
	return time;
}

struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule)
{
	const double waves_exact = units / slots->per_wave;

	if (schedule == SCHEDULE_STREAM_K)
		return stream_k_clocks(model, slots, waves_exact);
	if (model->steps_max > model->steps_mean)
		return uneven_clocks(model, slots, waves_exact);
	return whole_waves_clocks(model, slots, units, schedule == SCHEDULE_PERSISTENT);
}
