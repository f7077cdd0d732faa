/* SPDX-License-Identifier: MIT
 *
 * The end of a search: the fastest and what is near them are timed in turn.
 *
 * Two runs on one machine should name the same winner. What a search happens to try, how fast the
 * GPU ran just then and where a binary was loaded must not decide; so candidates are compared round
 * by round, neighbours of the winner are tried before it is named, and the best are loaded several
 * times. A fixed order decides among those that are tied then (tune/select.h).
 */
#ifndef TUNE_FINAL_H
#define TUNE_FINAL_H

#include "tune/search.h"

enum {
	FINAL_LOADS = 4 /* of each of the best: two loads of one binary are not equally fast */
};
/* Times the fastest candidates in turn, the best of each family and of the model's shortlist, and
 * the incumbent; these times replace those of the search. Where all of them fail, the next best
 * follow. Time that is over leaves each the rounds of the first look. Nothing on a device that
 * predicts. */
enum status final_measure(struct search *search, struct error *err);
/* What is near the winner so far and was not tried: other launches of its kernel, and kernels that
 * differ in one parameter; few. The caller frees *candidates. */
size_t final_untried(const struct search *search, size_t **candidates);
/* Those that may win once more, in that number of loads of each, where time is left; with them what
 * was evaluated from index `since` on, and launches of the winner's kernel. The times of others are
 * corrected by what the clock did in between. Nothing where the choice is by energy. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);
#endif
