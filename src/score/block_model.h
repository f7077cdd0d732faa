/* SPDX-License-Identifier: MIT
 *
 * One block of a launch as clocks: its phases by kind of pipe, and how pipes overlap. The part of
 * the time model that knows the device's rates; wave_model.h puts blocks together.
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

struct block_model {
	struct phase prologue, step, epilogue;
	double steps_mean, steps_max, stages;
	double warps;
	double latency_clocks; /* of a load, L2 and DRAM mixed by their shares */
	double barrier_clocks;
	double start_clocks;             /* before the first load, of a cluster */
	double l2_sm_rate, l2_chip_rate; /* bytes per clock */
	double epilogue_overlap_ratio;
};

struct block_model block_model_of(const struct time_model_input *input);

/* Clocks of a phase's pipes together: the busiest (*busiest, if not NULL; unchanged if all are
 * idle), and a part of the others. An FP32 operation is an instruction too, so of these two only
 * the busier counts. */
double block_overlapped(const double clocks[PIPE_KINDS], double warps_per_scheduler, int *busiest);

/* The clocks of a phase of `count` blocks on one SM, given its share of L2 (bytes per clock) and
 * how many warps run. */
void block_phase_clocks(const struct phase *phase, double count, double l2_rate, double warps,
	double clocks[PIPE_KINDS]);

#endif
