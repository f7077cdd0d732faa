/* SPDX-License-Identifier: MIT
 *
 * Finalists compared round by round. A GPU at its power limit slows down while it is measured; the
 * samples of one round were taken within milliseconds of each other, so their ratio stays put
 * where the times themselves drift by several percent.
 */
#ifndef TUNE_PAIR_H
#define TUNE_PAIR_H

#include "tune/select.h"

/* The samples of one remeasured_one, in the order of the rounds. */
struct rounds {
	const double *samples_us;
	size_t count;
};

/* Puts each contender's median and interval anew: those of its per-round ratios to the fastest,
 * times the fastest's median. Does nothing where the rounds that all have are fewer than
 * PAIR_ROUNDS_MIN. count > 0. */
enum {
	PAIR_ROUNDS_MIN = 6
};
void pair_contenders(struct contender *contenders, const struct rounds *rounds, size_t count);

#endif
