/* SPDX-License-Identifier: MIT
 *
 * Selects the winner such that two runs on one machine name the same one: not the smallest number
 * wins, but a fixed rule decides among all candidates that are tied with the fastest.
 */
#ifndef TUNE_SELECTION_H
#define TUNE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/contenders.h"
#include "tune/search.h"

/* A candidate that may be selected, with all that the selection goes by. */
struct selection_item {
	size_t evaluated; /* index into the search's results */
	double median_us, ci95_low_us, ci95_high_us;
	double predicted_us;                /* 0: it was measured */
	double smem_bytes, regs_per_thread; /* of the longest launch */
	const char *kernel_hash; /* launches of one kernel are compared with each other first; NULL:
				    a kernel of its own */
	double code_placement_noise_us; /* what the code's address may add to the time */
	size_t order;                   /* index in the space; the last criterion */
	bool incumbent;                 /* the winner of an existing entry */
	bool is_planned;                /* every run of the problem tries it */
	bool is_tied;                   /* set by selection_choose(): tied with the fastest */
};

/* The variation between two runs of one binary on one GPU, even if the interval within a run is
 * narrower. Candidates within this ratio of the fastest are tied with it. */
#define SELECTION_TIE_RATIO 0.01

/* Two loads of one binary are not equally fast where few blocks run: of a GEMM of 256^3 on an H200
 * one load took 5.9 us and another 5.6, for as long as both lived (tests/gpu/test_timing_gpu.c).
 * Either may be off by half of that. Where the blocks fill the GPU, eight loads each of kernels of
 * 5 to 190 us were within 0.8% (results/nvidia-h200/loads.json): SELECTION_TIE_RATIO covers that.
 */
#define CODE_PLACEMENT_NOISE_US 0.15

/* The order of preference among the tied: the incumbent; what every run tries; more shared memory,
 * fewer registers, the order in the space: launch arguments as their family lists them. None of
 * these was measured, so that every run prefers the same. More shared memory is preferred because
 * time falls with the stages of a pipeline until there are enough: the deepest pipeline is about as
 * fast as the fastest in every run, whereas the shallowest that is still tied is at the edge of the
 * tie, and noise decides. Among predictions the better one comes first, by whole steps of
 * SELECTION_PREDICTION_RATIO, then less shared memory. */
bool selection_item_is_preferred(
	const struct selection_item *item, const struct selection_item *over);
#define SELECTION_PREDICTION_RATIO 0.01

/* The candidates whose times may be compared, and the winner of them. */
struct selection {
	struct selection_item *items; /* by ascending index of their results */
	size_t count;                 /* 0: no candidate works */
	/* Indices into items: */
	size_t winner;
	size_t fastest;   /* of all */
	size_t preferred; /* the most preferred item that is tied with the fastest; it determines
			     the kernel */
	size_t launch;    /* the fastest launch of that kernel */
	/* Index into the search's results of the next fastest candidate, from any pass of the
	 * final measurement; SIZE_MAX if there is none. */
	size_t runner_up;
};

/* Chooses the winner; count > 0. The kernel is the most preferred one that has a launch tied with
 * the fastest candidate. Of its launches the most preferred one wins that is tied with the fastest
 * of these launches. That launch need not be tied with the fastest candidate: the winner may be
 * slower by SELECTION_TIE_RATIO twice. A candidate is tied if its interval meets that of the
 * fastest median, both widened by half of SELECTION_TIE_RATIO of the median and by the code
 * placement noise on both sides. */
void selection_choose(struct selection *selection);
/* The comparison that a candidate lost to the winner. If it is not of the selection, it was
 * timed in an earlier pass, and its time is corrected by the drift of the clock since then. */
enum lost_by selection_reject_reason(
	const struct selection *selection, const struct selection_item *lost, bool is_of_selection);
/* Whether an item may win in a sharper measurement: it is within twice the tie of the fastest,
 * and no item that is preferred to it is faster and tied, or of its own kernel. */
bool selection_may_win(const struct selection *selection, size_t which);

enum {
	SELECTION_ROUNDS_MIN = 6
};
/* Compares the candidates round by round. A GPU at its power limit slows down while it is measured;
 * times of one round were taken within milliseconds of each other, so their ratio is stable where
 * the times themselves drift by several percent. The median and the interval of an item become
 * those of its ratios to the fastest, times the fastest's median. Does nothing if all items
 * have fewer than SELECTION_ROUNDS_MIN rounds in common. count > 0. */
void selection_pair_rounds(struct selection *selection, const struct round_times *times);

/* ---- of a search ---- */
struct selection selection_of(const struct search *search);
void selection_release(struct selection *selection);
/* An evaluated candidate, whether it is in the selection or not. */
struct selection_item selection_item_of(const struct search *search, size_t evaluated);
/* NULL: this result is not in the selection. */
const struct selection_item *selection_find(const struct selection *selection, size_t evaluated);
static inline size_t selection_winner(const struct selection *selection)
{
	return selection->items[selection->winner].evaluated;
}

/* Describes why an evaluated candidate lost; the caller frees it. NULL if its time cannot be
 * compared. */
struct tuned_lost *selection_lost(
	const struct search *search, const struct selection *selection, size_t evaluated);

#endif
