/* SPDX-License-Identifier: MIT
 *
 * After the re-measurement: what is near the best is tried too, and the best are timed once more in
 * several loads of each, so that another run names the same winner. What a search happens to try,
 * how fast the GPU ran just then, and where a binary was loaded must not decide; among those that
 * are tied then, a fixed order does (tune/select.h).
 */
#ifndef TUNE_SETTLE_H
#define TUNE_SETTLE_H

#include "tune/search.h"

/* What is near the winner so far and was not tried: other launches of its kernel, and kernels that
 * differ in one parameter; few. The caller frees *candidates. */
size_t settle_untried(const struct search *search, size_t **candidates);
/* Those within reach of the fastest and the neighbours, evaluated from that index on, side by side.
 * What is not among them is corrected by what the clock did in between. */
enum status settle_neighbours(struct search *search, size_t neighbours, struct error *err);
/* The best once more, in several loads of each. Nothing to do where there is one, or where the
 * choice is by energy. */
enum status settle_best(struct search *search, struct error *err);

#endif
