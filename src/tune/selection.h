/* SPDX-License-Identifier: MIT
 *
 * A fixed rule selects the winner of all candidates that are tied with the fastest, so that two
 * runs on one machine select the same one.
 */
#ifndef TUNE_SELECTION_H
#define TUNE_SELECTION_H

#include "engine/contenders.h"
#include "format/merge.h"
#include "tune/search.h"

struct selection_item {
	size_t evaluated; /* index into the search's results */
	double median_us, ci95_low_us, ci95_high_us;
	double predicted_us;                /* 0: it was measured */
	double smem_bytes, regs_per_thread; /* of the longest launch */
	const char *kernel_hash;            /* whose launches are compared first; or NULL */
	double code_placement_noise_us;     /* variation with the code's address */
	size_t order;                       /* in the space */
	bool incumbent;
	bool is_planned;
	bool is_tied; /* set by selection_choose() */
};

/* If few blocks run, two loads of one binary differ in speed for as long as they exist: a GEMM of
 * 256^3 on an H200 took 5.9 or 5.6 us (tests/gpu/test_timing_gpu.c). Each may be off by half of
 * that. Otherwise TUNED_TIE_RATIO covers the variation (results/nvidia-h200/loads.json). */
#define CODE_PLACEMENT_NOISE_US 0.15

/* Compares tied items: the incumbent; candidates that every run tries; more shared memory; fewer
 * registers; the order in the space. Nothing of this is measured. Deep pipelines use more shared
 * memory; the deepest one is about as fast as the fastest in every run, whereas the shallowest tied
 * one is at the edge of the tie. Predictions are compared in steps of SELECTION_PREDICTION_RATIO,
 * and then less shared memory is preferred. */
bool selection_item_is_preferred(
	const struct selection_item *item, const struct selection_item *over);
#define SELECTION_PREDICTION_RATIO 0.01

struct selection {
	struct selection_item *items; /* by ascending index of their results */
	size_t count;                 /* 0: no candidate works */
	/* indices into items */
	size_t winner;
	size_t fastest;
	size_t preferred; /* the most preferred tied item, whose kernel wins */
	size_t launch;    /* the fastest of that kernel */
	/* of any pass; SIZE_MAX: none */
	size_t runner_up;
};

/* count > 0. The kernel is the most preferred one with a launch that is tied with the fastest
 * candidate. The most preferred of its launches that are tied with the fastest of them wins; it may
 * be slower than the fastest candidate by twice TUNED_TIE_RATIO. Intervals of tied items overlap
 * after both are widened on each side by half of TUNED_TIE_RATIO and the code placement noise. */
void selection_choose(struct selection *selection);
/* Other items were timed in an earlier pass. */
enum reject_reason selection_reject_reason(
	const struct selection *selection, const struct selection_item *lost, bool is_of_selection);
/* In a more precise measurement: it is tied with the fastest, or slower by at most twice
 * TUNED_TIE_RATIO, and no preferred item that is faster by more than the error of one load has the
 * same kernel or is within TUNED_TIE_RATIO of the fastest. */
bool selection_may_win(const struct selection *selection, size_t which);

enum {
	SELECTION_ROUNDS_MIN = 6
};
/* Replaces medians and intervals by those of the ratio to the fastest in the same rounds, because
 * times drift at the power limit and ratios do not. Does nothing with fewer than
 * SELECTION_ROUNDS_MIN common rounds. count > 0. */
void selection_pair_rounds(struct selection *selection, const struct round_times *times);

/* ---- of a search ---- */
struct selection selection_of(const struct search *search);
void selection_release(struct selection *selection);
struct selection_item selection_item_of(const struct search *search, size_t evaluated);
/* NULL: not in the selection. */
const struct selection_item *selection_find(const struct selection *selection, size_t evaluated);
static inline size_t selection_winner(const struct selection *selection)
{
	return selection->items[selection->winner].evaluated;
}

/* NULL: its time cannot be compared. The caller frees it. */
struct tuned_rejection *selection_rejection(
	const struct search *search, const struct selection *selection, size_t evaluated);

#endif
