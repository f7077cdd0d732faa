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
	SCHEDULERS = 4 /* of an SM: fewer warps leave some of its pipes without work */
};

/* Clocks of one block alone on its SM, by kind of pipe (enum bound_kind); the entry of L2 is in
 * bytes, because its rate depends on how many SMs ask. Infinite where there is work for a pipe
 * that the device lacks. */
struct phase {
	double clocks[PIPE_KINDS];
	double barriers;
};

/* How much of its waiting a block hides depends on what copies its operands: its threads, between
 * their other instructions, or the tensor copy engine (TMA), which works while wgmma reads what it
 * has delivered. Two rows of constants, fitted to timings on an H200 (results/nvidia-h200/gemm.md).
 */
struct copy_path {
	/* Share of the pipes that are not the busiest which one warp per scheduler fails to overlap
	 * with it; more warps divide it. */
	double overlap_loss;
	/* Share of the barriers' time that passes while other pipes work. */
	double barrier_overlap;
	/* Of the stages of a pipeline, those that hold what is being used and cannot be in flight
	 * from memory. */
	double stages_held;
	/* The sheet's latencies are those of an idle memory: this many times that when all SMs
	 * load, and the exponent of the share of SMs at work in between (0: always all). */
	double latency_under_load, latency_growth;
	/* Bytes per clock that one SM can get. More than the 64 that one SM alone reads from L2:
	 * operands that neighbouring SMs ask for at the same time are fetched once. */
	double l2_bytes_per_clock_sm;
	/* What a byte read from L2 takes of that rate and of the chip's: whole lines in the order
	 * of a tensor copy cost less than what threads ask for. */
	double l2_read_cost;
	/* Cost of a line beyond those that a row's bytes need, in lines. */
	double extra_line_cost;
	/* Throughput time that more than one block on an SM adds: they contend for what one block
	 * would have to itself. */
	double sharing_loss;
	/* What a cluster adds to the latency of its loads: a stage is full when the slowest of its
	 * blocks has sent its share, and free when the slowest has read it. */
	double cluster_wait;
	/* Exponent of the p-norm of working and waiting: latency varies, so it shows before it
	 * is the longer of the two. */
	double latency_exponent;
	/* Share of the shorter of DRAM time and SM time that is not hidden behind the longer one,
	 * and what share of the time before the first data and after the last DRAM is idle for. */
	double dram_overlap_loss, dram_idle;
};

struct block_model {
	const struct copy_path *copy_path;
	struct phase prologue, step, epilogue;
	double steps_mean, steps_max, stages;
	double warps;
	double sm_count;       /* of the device */
	double latency_clocks; /* of a load from idle memory, L2 and DRAM mixed by their shares */
	bool is_cluster;       /* of more than one block */
	double barrier_clocks;
	double start_clocks;             /* before the first load, of a cluster */
	double l2_sm_rate, l2_chip_rate; /* bytes per clock */
	double epilogue_overlap_ratio;
};

struct block_model block_model_of(const struct time_model_input *input);

/* Latency of a load while so many SMs work, in clocks. */
double block_latency(const struct block_model *model, double sm_count);

/* ---- blocks in waves: how many clocks the SMs take for all units of a launch, by schedule ---- */
struct wave_time {
	double clocks;         /* of the fullest SM */
	double exposed_clocks; /* of these, before the first data and after the last */
	enum bound_kind bound; /* what the largest part of it waits for */
};

/* slots: where blocks can be (quantization.h); per_wave > 0, units > 0. */
struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule);

#endif
