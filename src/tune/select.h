/* SPDX-License-Identifier: MIT
 *
 * Who wins, so that two runs on one machine say the same: not the smallest number, but a tie band
 * and a fixed rule inside it.
 */
#ifndef TUNE_SELECT_H
#define TUNE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/contenders.h"
#include "tune/search.h"

/* What a candidate is selected by. */
struct comparable {
	double median_us, ci95_low_us, ci95_high_us;
	double predicted_us;                /* 0: it was measured */
	double smem_bytes, regs_per_thread; /* of the longest launch */
	const char *kernel_hash; /* launches of one kernel are compared first; NULL: alone */
	double place_us;         /* what the place of its code may add: SELECT_PLACE_US */
	size_t order;            /* in the space: the last resort */
	bool incumbent;          /* the winner of the entry that stands already */
	bool is_planned;         /* every run of the problem tries it */
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

/* The order of preference among the tied: the incumbent; what every run tries; more shared memory,
 * fewer registers, the order in the space: launch arguments as their family lists them. Nothing of
 * it was measured, so that every run prefers the same. More: time falls with the stages of a
 * pipeline until there are enough, so the deepest is about as fast as the fastest in every run,
 * whereas the shallowest that is still tied is at the edge of what is, and noise decides. Where
 * nothing was measured, the better prediction comes first, by whole steps of
 * SELECT_PREDICTION_RATIO, then less shared memory. */
bool select_prefers(const struct comparable *a, const struct comparable *b);
#define SELECT_PREDICTION_RATIO 0.01

/* Who was chosen; indices. */
struct chosen {
	size_t winner;
	size_t fastest;   /* of all */
	size_t preferred; /* of those tied with it: names the kernel */
	size_t launch;    /* the fastest of that kernel */
};
/* tied[i] says who is tied with the fastest (the winner included). count > 0.
 * First the most preferred kernel that has a launch tied with the overall fastest is chosen, then
 * its most preferred launch that is tied with its own fastest. That launch need not be tied with
 * the overall fastest: the winner may be slower by SELECT_TIE_RATIO twice. A candidate is tied if
 * its interval, widened by half of SELECT_TIE_RATIO of its median and by its place_us on both
 * sides, meets that of the fastest median. */
struct chosen select_choose(const struct comparable *comparables, size_t count, bool *tied);
/* By what one lost to the winner. One that is not of the selection was timed before the others; its
 * time is corrected by what the clock did since. */
enum lost_by select_lost(const struct comparable *comparables, const struct chosen *chosen,
	const struct comparable *lost, bool is_of_selection);

/* Whether one of them may win in a measurement that is sharper: it is within twice the tie of the
 * fastest, and nothing that is preferred to it is faster and tied, or of its own kernel. */
bool select_may_win(const struct comparable *comparables, size_t count, size_t which);

enum {
	SELECT_ROUNDS_MIN = 6
};
/* Candidates compared round by round. A GPU at its power limit slows down while it is measured;
 * times of one round were taken within milliseconds of each other, so their ratio stays put
 * where the times themselves drift by several percent. Each candidate's median and interval become
 * those of its ratios to the fastest, times the fastest's median. Does nothing where the
 * rounds that all have are fewer than SELECT_ROUNDS_MIN. count > 0. */
void select_pair_rounds(
	struct comparable *comparables, const struct round_times *times, size_t count);

/* ---- of a search ---- */
/* The candidates whose times may be compared, and the winner of them. */
struct selection {
	struct comparable *comparables; /* paired by rounds where they were timed side by side */
	size_t *indices;                /* into evaluated */
	bool *tied;
	const struct comparable **of; /* per evaluated; NULL: it is not in the selection */
	size_t count;                 /* 0: nothing works */
	struct chosen chosen;         /* indices into comparables */
	/* Into evaluated: the next fastest, of any round of the final measurement; SIZE_MAX: none.
	 */
	size_t runner_up;
};
struct selection selection_of(const struct search *search);
void selection_release(struct selection *selection);
/* Whether it is in the selection or not. */
struct comparable comparable_of(const struct search *search, const struct evaluated *evaluated);

/* By what an evaluated one lost; the caller frees it. NULL: nothing can be said. */
struct tuned_lost *selection_lost(
	const struct search *search, const struct selection *selection, size_t which);

#endif
