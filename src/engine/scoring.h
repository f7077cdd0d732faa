/* SPDX-License-Identifier: MIT
 *
 * The times of a whole pool of candidates, before anything is compiled.
 */
#ifndef ENGINE_SCORING_H
#define ENGINE_SCORING_H

#include "engine/candidates.h"

/* Fills predicted_us; large pools are shared by threads. Physics looks at all, what was learned at
 * the best of each family by physics, as it takes its time; the rest is scaled as these are on
 * average. Of several errors that of the first candidate counts. interrupted: as in struct
 * candidates_options. */
enum status score_all(
	const struct candidates *pool, const volatile int *interrupted, struct error *err);

#endif
