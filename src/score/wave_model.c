/* SPDX-License-Identifier: MIT */
#include "score/wave_model.h"

#include <math.h>

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

static double combined_clocks(double working, double waiting, double power)
{
	const double longer = fmax(working, waiting), shorter = fmin(working, waiting);

	if (!(longer > 0) || isinf(longer))
		return longer;
	return longer * pow(1 + pow(shorter / longer, power), 1 / power);
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
	time.clocks = combined_clocks(
		fmax(own_chain, together), waiting, model->copy_path->latency_exponent);
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
