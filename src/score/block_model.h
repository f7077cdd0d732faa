/* SPDX-License-Identifier: MIT
 *
 * One block of a launch as clocks: its phases by kind of pipe, and how pipes overlap. The part of
 * the time model that knows the device's rates. Then blocks in waves.
 */
#ifndef SCORE_BLOCK_MODEL_H
#define SCORE_BLOCK_MODEL_H

#include "score/time_model.h"

enum {
	PIPE_KINDS = BOUND_L2 + 1,
	SCHEDULERS = 4, /* of an SM */
	/* What one SM takes from L2, however few others ask (DeepGEMM, csrc/jit_kernels/heuristics:
	 * 64 bytes per clock and SM). */
	L2_PORT_BYTES_PER_CLOCK = 64,
	/* SMs that share a part where the sheet's l2_bytes_per_clock is meant (tests/gpu/rates.py)
	 */
	L2_SHARING = 12,
	/* of a message from one SM of a cluster to another ("Benchmarking and Dissecting the Nvidia
	 * Hopper GPU Architecture via Microbenchmarking", arXiv 2402.13499) */
	MESSAGE_CLOCKS = 180,
};

/* Clocks of one block alone on its SM, by kind of pipe (enum bound_kind); the entry of L2 is in
 * bytes, because its rate depends on how many SMs ask. Infinite where there is work for a pipe
 * that the device lacks. */
struct phase {
	double clocks[PIPE_KINDS];
	double barriers, messages;
};

struct block_model {
	struct phase prologue, step, epilogue;
	double steps_mean, steps_max, stages;
	double warps;
	bool tensor_is_asynchronous; /* wgmma, unless ptxas serialized it: threads go on meanwhile
				      */
	/* Warps of the fullest scheduler over the mean: a block's warps take places of all
	 * schedulers (CUDA occupancy calculator: warp allocation granularity 4), so that those of
	 * another block do not fill the gap. 1 for wgmma, whose warps work by fours. */
	double scheduler_ratio;
	double latency_clocks; /* of a load, L2 and DRAM mixed by their shares */
	double barrier_clocks;
	double l2_chip_rate; /* bytes per clock */
	double epilogue_overlap_ratio;
};

struct block_model block_model_of(const struct time_model_input *input);

/* ---- blocks in waves: how many clocks the SMs take for all units of a launch, by schedule ---- */
struct wave_time {
	double clocks;         /* of the fullest SM */
	enum bound_kind bound; /* what the largest part of it waits for */
};

/* slots: where blocks can be (quantization.h); per_wave > 0, units > 0. */
struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule);

#endif
