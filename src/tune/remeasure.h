/* SPDX-License-Identifier: MIT
 *
 * The remeasured, timed again interleaved, round-robin, so that clock drift hits all alike.
 */
#ifndef TUNE_REMEASURE_H
#define TUNE_REMEASURE_H

#include "tune/search.h"

/* Re-times the fastest candidates, the best of each family and of the model's shortlist, and the
 * incumbent; their samples replace those of the first look. Does nothing on a device that predicts.
 */
enum status final_round(struct search *search, struct error *err);

#endif
