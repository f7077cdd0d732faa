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
/* The energy of one that was measured again; where the card does not say, nothing. */
enum status remeasure_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* ---- parts, for tune/settle.h ---- */
/* A candidate this much slower in the search cannot become the winner. */
#define REMEASURE_REACH_RATIO 1.06
/* Width of the interval at which sampling ends. */
#define REMEASURE_TARGET_RATIO 0.002
/* Idle time over busy time: at most half of its power is what the GPU takes on average. */
#define REMEASURE_REST_RATIO 1.0
/* What is measured now replaces what the search measured. */
void remeasure_take(struct evaluated *evaluated, const struct evaluation *again);
/* Appends it to the journal. */
enum status remeasure_record(
	struct search *search, const struct evaluated *evaluated, struct error *err);
/* Until all trials are at their goals. */
enum status remeasure_run(struct search *search, struct error *err);
enum status remeasure_sample(struct search *search, struct trial **trials, size_t count,
	const struct sampling *sampling, struct error *err);

#endif
