/* SPDX-License-Identifier: MIT
 *
 * Models one block of a launch in clocks: its phases by kind of pipe, and how pipes overlap. This
 * is the part of the time model that knows the device's rates. Also models waves of blocks.
 */
#ifndef SCORE_BLOCK_MODEL_H
#define SCORE_BLOCK_MODEL_H

#include "score/time_model.h"

enum {
	PIPE_KINDS = BOUND_L2 + 1,
	SCHEDULERS = 4,
	/* Bytes per clock that one SM can read from L2, even if few other SMs read (DeepGEMM,
	 * csrc/jit_kernels/heuristics: 64 bytes per clock and SM). */
	L2_PORT_BYTES_PER_CLOCK = 64,
	/* The sheet's l2_bytes_per_clock applies if this many SMs read the same data
	 * (tests/gpu/rates.py). */
	L2_SHARING = 12,
	/* Latency of a message between SMs of a cluster ("Benchmarking and Dissecting the Nvidia
	 * Hopper GPU Architecture via Microbenchmarking", arXiv 2402.13499). */
	MESSAGE_CLOCKS = 180,
};

/* Clocks of a block that runs alone on its SM, by kind of pipe (enum bound_kind). The entry of L2
 * is in bytes, because its rate depends on how many SMs read. Infinite if the device lacks a pipe
 * with work. */
struct phase {
	double clocks[PIPE_KINDS];
	double barriers, messages;
};

struct block_model {
	struct phase prologue, step, epilogue;
	double steps_mean, steps_max, stages;
	double warps;
	bool tensor_is_asynchronous; /* wgmma that ptxas did not serialize: threads continue
					meanwhile */
	/* Warps of the fullest scheduler over the mean. A block's warps are allocated evenly to all
	 * schedulers (CUDA occupancy calculator: warp allocation granularity 4), so another block's
	 * warps do not fill the gap. 1 for wgmma, whose warps work in groups of four. */
	double scheduler_ratio;
	double latency_clocks; /* mean latency of a load, weighted by L2 and DRAM shares */
	double barrier_clocks;
	double l2_chip_rate; /* bytes per clock */
	double epilogue_overlap_ratio;
};

struct block_model block_model_of(const struct time_model_input *input);

/* ---- blocks in waves: clocks of the SMs for all units of a launch, by schedule ---- */
struct wave_time {
	double clocks;         /* of the fullest SM */
	enum bound_kind bound; /* resource with the largest part of the time */
};

/* slots are from quantization_slots(); per_wave > 0, units > 0. */
struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule);

#endif
