/* SPDX-License-Identifier: MIT
 *
 * Who wins, so that two runs on one machine say the same: not the smallest number, but a tie band
 * and a fixed rule inside it.
 */
#ifndef TUNE_SELECT_H
#define TUNE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

struct contender {
	double median_us, ci95_low_us, ci95_high_us;
	double predicted_us;
	double smem_bytes, regs_per_thread; /* of the longest launch */
	size_t order;                       /* in the space: the last resort */
	bool incumbent;                     /* the winner of the entry that stands already */
};

/* What differs between two runs of one binary on one GPU even when the interval within a run is
 * narrower: contenders within this of the fastest are tied with it. */
#define SELECT_TIE_RATIO 0.01

/* The winner's index; tied[i] says who is level with the fastest (the winner included). count > 0.
 * A contender is tied if its interval, widened by SELECT_TIE_RATIO of its median on both sides,
 * meets that of the fastest median. Among the tied: the incumbent; else the best prediction (1%
 * apart or more), then less shared memory, fewer registers, order. */
size_t select_winner(const struct contender *contenders, size_t count, bool *tied);

#endif
