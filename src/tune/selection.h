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
	double predicted_us;                /* 0: the candidate was measured */
	double smem_bytes, regs_per_thread; /* resources of the longest launch */
	const char *kernel_hash;            /* the same for all launches of a kernel; or NULL */
	double code_placement_noise_us;     /* variation with the code's address */
	size_t order;                       /* position in the space */
	bool incumbent;
	bool is_planned;
	bool is_tied; /* set by selection_choose() */
};

/* If few blocks run, two loads of one binary differ in speed until they are unloaded: a GEMM of
 * 256^3 on an H200 took 5.9 or 5.6 us (tests/gpu/test_timing_gpu.c). A time may be off by half of
 * this. Otherwise TUNED_TIE_RATIO covers the variation (results/nvidia-h200/loads.json). */
#define CODE_PLACEMENT_NOISE_US 0.15

/* Among tied items prefers, in this order, the incumbent, candidates that every run tries, more
 * shared memory, fewer registers, and the first in the space. None of these is measured. The
 * deepest pipeline uses most shared memory and is nearly the fastest in every run; the shallowest
 * tied one is at the edge of the tie. Predictions are compared in steps of
 * SELECTION_PREDICTION_RATIO, and then less shared memory is preferred. */
bool selection_item_is_preferred(
	const struct selection_item *item, const struct selection_item *over);
#define SELECTION_PREDICTION_RATIO 0.01

struct selection {
	struct selection_item *items; /* sorted by index of their results */
	size_t count;                 /* 0: no candidate works */
	/* indices into items */
	size_t winner;
	size_t fastest;
	size_t preferred; /* the most preferred tied item, whose kernel wins */
	size_t launch;    /* the fastest launch of that kernel */
	size_t runner_up; /* from any pass; SIZE_MAX: none */
};

/* Expects count > 0. Selects the most preferred kernel that has a launch tied with the fastest
 * candidate. Of its launches that are tied with its fastest, the most preferred wins; it may be
 * slower than the fastest candidate by twice TUNED_TIE_RATIO. Two items are tied if their intervals
 * overlap after widening each by half of TUNED_TIE_RATIO and the code placement noise. */
void selection_choose(struct selection *selection);
/* is_of_selection is false for items that were timed in an earlier pass. */
enum reject_reason selection_reject_reason(
	const struct selection *selection, const struct selection_item *lost, bool is_of_selection);
/* Returns whether the item may win in a more precise measurement: it is tied with the fastest, or
 * slower by at most twice TUNED_TIE_RATIO, and no preferred item that is faster by more than the
 * error of one load has the same kernel or is within TUNED_TIE_RATIO of the fastest. */
bool selection_may_win(const struct selection *selection, size_t which);

enum {
	SELECTION_ROUNDS_MIN = 6
};
/* Recomputes medians and intervals from the ratios to the fastest in the same rounds, because times
 * drift at the power limit and ratios do not. Does nothing with fewer than SELECTION_ROUNDS_MIN
 * common rounds. Expects count > 0. */
void selection_pair_rounds(struct selection *selection, const struct round_times *times);

/* ---- the selection of a search ---- */
struct selection selection_of(const struct search *search);
void selection_release(struct selection *selection);
struct selection_item selection_item_of(const struct search *search, size_t evaluated);
/* Returns NULL if the selection does not contain this result. */
const struct selection_item *selection_find(const struct selection *selection, size_t evaluated);
static inline size_t selection_winner(const struct selection *selection)
{
	return selection->items[selection->winner].evaluated;
}

/* Returns why a candidate lost, or NULL if its time cannot be compared. The caller frees it. */
struct tuned_rejection *selection_rejection(
	const struct search *search, const struct selection *selection, size_t evaluated);

#endif
