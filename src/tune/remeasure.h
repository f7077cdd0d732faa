/* SPDX-License-Identifier: MIT
 *
 * The fastest candidates, timed again interleaved, round-robin, so that clock drift hits all alike.
 */
#ifndef TUNE_REMEASURE_H
#define TUNE_REMEASURE_H

#include "tune/search.h"

/* Times the fastest candidates again, the best of each family and of the model's shortlist, and the
 * incumbent; these samples replace those of the search. Does nothing on a device that predicts. */
enum status remeasure(struct search *search, struct error *err);
/* The energy of one that was measured again and is on the device still; where it is not, or the
 * card does not say, nothing. */
enum status remeasure_energy(struct search *search, struct evaluated *evaluated, struct error *err);

#endif
