/* SPDX-License-Identifier: MIT
 *
 * Who wins, so that two runs on one machine say the same: not the smallest number, but a tie band
 * and a fixed rule inside it.
 */
#ifndef TUNE_SELECT_H
#define TUNE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

/* What a candidate is selected by. */
struct comparable {
	double median_us, ci95_low_us, ci95_high_us;
	double predicted_us;                /* 0: it was measured */
	double smem_bytes, regs_per_thread; /* of the longest launch */
	const char *kernel_hash; /* launches of one kernel are compared first; NULL: alone */
	double place_us;         /* what the place of its code may add: SELECT_PLACE_US */
	size_t order;            /* in the space: the last resort */
	bool incumbent;          /* the winner of the entry that stands already */
};

/* What differs between two runs of one binary on one GPU even when the interval within a run is
 * narrower: candidates within this of the fastest are tied with it. */
#define SELECT_TIE_RATIO 0.01

/* Two loads of one binary are not equally fast where few blocks run: of a GEMM of 256^3 on an H200
 * one load took 5.9 us and another 5.6, for as long as both lived (tests/gpu/test_timing_gpu.c),
 * half of which either may be off by. Where the blocks fill the GPU, eight
 * loads each of kernels of 5 to 190 us were within 0.8% (results/nvidia-h200/loads.json):
 * SELECT_TIE_RATIO covers that. */
#define SELECT_PLACE_US 0.15

/* The order of preference among the tied: the incumbent; more shared memory, fewer registers, the
 * order in the space: launch arguments as their family lists them. Nothing of it was measured, so
 * that every run prefers the same. More: time falls with the stages of a pipeline until there are
 * enough, so the deepest is about as fast as the fastest in every run, whereas the shallowest that
 * is still tied is at the edge of what is, and noise decides. Where nothing was measured, the
 * better prediction comes first, by whole steps of SELECT_PREDICTION_RATIO, then less shared
 * memory. */
bool select_prefers(const struct comparable *a, const struct comparable *b);
#define SELECT_PREDICTION_RATIO 0.01

/* Launches of one kernel, or the same one. */
bool select_same_kernel(const struct comparable *a, const struct comparable *b);

/* The winner's index; tied[i] says who is tied with the fastest (the winner included). count > 0.
 * Of the kernels that have a launch tied with the fastest the most preferred wins, in the most
 * preferred of its launches that are tied with that kernel's fastest: a launch at the edge of what
 * is tied with the fastest of all does not decide then. So the winner may be behind the fastest by
 * SELECT_TIE_RATIO twice.
 * A candidate is tied if its interval, widened by half of SELECT_TIE_RATIO of its median and by
 * its place_us on both sides, meets that of the fastest median. */
size_t select_winner(const struct comparable *comparables, size_t count, bool *tied);

/* The samples of one candidate, in the order of the rounds. */
struct rounds {
	const double *samples_us;
	size_t count;
};

enum {
	SELECT_ROUNDS_MIN = 6
};
/* Candidates compared round by round. A GPU at its power limit slows down while it is measured;
 * the samples of one round were taken within milliseconds of each other, so their ratio stays put
 * where the times themselves drift by several percent. Each candidate's median and interval become
 * those of its per-round ratios to the fastest, times the fastest's median. Does nothing where the
 * rounds that all have are fewer than SELECT_ROUNDS_MIN. count > 0. */
void select_pair_rounds(struct comparable *comparables, const struct rounds *rounds, size_t count);

#endif
