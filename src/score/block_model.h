/* SPDX-License-Identifier: MIT
 *
 * Models the clocks of a block on each kind of pipe, and waves of blocks.
 */
#ifndef SCORE_BLOCK_MODEL_H
#define SCORE_BLOCK_MODEL_H

#include "score/time_model.h"

enum {
	PIPE_KINDS = BOUND_L2 + 1,
	SCHEDULERS = 4,
	/* L2 bandwidth of one SM (DeepGEMM, csrc/jit_kernels/heuristics). */
	L2_PORT_BYTES_PER_CLOCK = 64,
	/* SMs that share data when l2_bytes_per_clock is measured (tests/gpu/rates.py). */
	L2_SHARING = 12,
	/* "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking",
	 * arXiv 2402.13499 */
	MESSAGE_CLOCKS = 180,
};

/* Clocks of a block alone on its SM, infinite if the device lacks the pipe. clocks[BOUND_L2] has
 * bytes, because the L2 rate depends on other SMs. */
struct phase {
	double clocks[PIPE_KINDS];
	double barriers, messages;
};

struct block_model {
	struct phase prologue, step, epilogue;
	double steps_mean, steps_max, stages;
	double warps;
	bool tensor_is_asynchronous; /* wgmma that is not serialized */
	/* Warps of the fullest scheduler / mean; 1 for wgmma. Warps are allocated evenly (CUDA
	 * occupancy calculator). */
	double scheduler_ratio;
	double latency_clocks; /* mean of the latencies of L2 and DRAM */
	double barrier_clocks;
	double l2_chip_rate; /* L2 bytes per clock of the whole chip */
	double epilogue_overlap_ratio;
};

struct block_model block_model_of(const struct time_model_input *input);

/* ---- waves ---- */
struct wave_time {
	double clocks; /* clocks of the fullest SM */
	enum bound_kind bound;
};

/* per_wave and units must be above 0. */
struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule);

#endif
