/* SPDX-License-Identifier: MIT
 *
 * Selects the winner so that two runs on one machine select the same one. A fixed rule, not the
 * shortest time, decides among all candidates that are tied with the fastest.
 */
#ifndef TUNE_SELECTION_H
#define TUNE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/contenders.h"
#include "format/merge.h"
#include "tune/search.h"

/* A candidate that may be selected, with all inputs of the selection. */
struct selection_item {
	size_t evaluated; /* index into the search's results */
	double median_us, ci95_low_us, ci95_high_us;
	double predicted_us;                /* 0: it was measured */
	double smem_bytes, regs_per_thread; /* of the longest launch */
	const char *kernel_hash; /* launches of one kernel are compared with each other first; NULL:
				    a kernel of its own */
	double code_placement_noise_us; /* variation of the time with the code's address */
	size_t order;                   /* index in the space; the last criterion */
	bool incumbent;                 /* the winner of an existing entry */
	bool is_planned;                /* every run of the problem tries it */
	bool is_tied; /* set by selection_choose(): the winner, or tied with the fastest */
};

/* If few blocks run, two loads of one binary differ in speed for as long as they exist: a GEMM
 * of 256^3 on an H200 took 5.9 us in one load and 5.6 us in another
 * (tests/gpu/test_timing_gpu.c). Each may be off by half of that. If the blocks fill the GPU,
 * TUNED_TIE_RATIO covers the variation: eight loads each of kernels of 5 to 190 us were
 * within 0.8% (results/nvidia-h200/loads.json). */
#define CODE_PLACEMENT_NOISE_US 0.15

/* Compares tied items in the order of preference. The criteria are: the incumbent; candidates
 * that every run tries; more shared memory; fewer registers; the order in the space, that is,
 * launch arguments as their family lists them. None of these is measured, so every run has the
 * same preference. More shared memory is preferred because time falls with the number of
 * pipeline stages until there are enough. The deepest pipeline is about as fast as the fastest
 * in every run, whereas the shallowest tied one is at the edge of the tie, so noise would
 * decide. Between predictions the better one comes first, in steps of
 * SELECTION_PREDICTION_RATIO, and then less shared memory. */
bool selection_item_is_preferred(
	const struct selection_item *item, const struct selection_item *over);
#define SELECTION_PREDICTION_RATIO 0.01

/* The candidates whose times may be compared, and the winner of them. */
struct selection {
	struct selection_item *items; /* by ascending index of their results */
	size_t count;                 /* 0: no candidate works */
	/* Indices into items: */
	size_t winner;
	size_t fastest;   /* the fastest item */
	size_t preferred; /* the most preferred item that is tied with the fastest; it determines
			     the kernel */
	size_t launch;    /* the fastest launch of that kernel */
	/* Index into the search's results of the next fastest candidate, from any pass of the
	 * final measurement; SIZE_MAX if there is none. */
	size_t runner_up;
};

/* Selects the winner; count must be positive. The kernel is the most preferred one with a launch
 * that is tied with the fastest candidate. Among its launches, the most preferred one that is
 * tied with the fastest of them wins. This launch need not be tied with the fastest candidate,
 * so the winner may be slower by twice TUNED_TIE_RATIO. A candidate is tied if its interval
 * overlaps that of the fastest median, after both are widened on each side by half of
 * TUNED_TIE_RATIO of the median and by the code placement noise. */
void selection_choose(struct selection *selection);
/* The comparison that a candidate lost to the winner. If it is not of the selection, it was
 * timed in an earlier pass, and its time is corrected by the drift of the clock since then. */
enum reject_reason selection_reject_reason(
	const struct selection *selection, const struct selection_item *lost, bool is_of_selection);
/* Whether an item may win in a more precise measurement. The fastest always may. Another item must
 * be tied with the fastest, or slower by at most twice TUNED_TIE_RATIO. It cannot win if a
 * preferred item is faster by more than the error of one load (0.3%), and either has the same
 * kernel or is slower than the fastest by at most TUNED_TIE_RATIO. */
bool selection_may_win(const struct selection *selection, size_t which);

enum {
	SELECTION_ROUNDS_MIN = 6
};
/* Compares the candidates round by round. A GPU at its power limit slows down during a
 * measurement. Times of one round are taken within milliseconds of each other, so their ratio is
 * stable while the times themselves drift by several percent. The median and interval of an item
 * become those of its ratio to the fastest, times the fastest's median. Does nothing if all
 * items have fewer than SELECTION_ROUNDS_MIN rounds in common. count must be positive. */
void selection_pair_rounds(struct selection *selection, const struct round_times *times);

/* ---- of a search ---- */
struct selection selection_of(const struct search *search);
void selection_release(struct selection *selection);
/* An evaluated candidate, whether it is in the selection or not. */
struct selection_item selection_item_of(const struct search *search, size_t evaluated);
/* Returns NULL if the result is not in the selection. */
const struct selection_item *selection_find(const struct selection *selection, size_t evaluated);
static inline size_t selection_winner(const struct selection *selection)
{
	return selection->items[selection->winner].evaluated;
}

/* Describes why an evaluated candidate lost; the caller frees it. NULL if its time cannot be
 * compared. */
struct tuned_rejection *selection_rejection(
	const struct search *search, const struct selection *selection, size_t evaluated);

#endif
