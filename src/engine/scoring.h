/* SPDX-License-Identifier: MIT
 *
 * The times of a whole pool of candidates, before anything is compiled.
 */
#ifndef ENGINE_SCORING_H
#define ENGINE_SCORING_H

#include "engine/candidates.h"

/* Fills predicted_us with the model's times; large pools are shared by threads. Of several errors
 * that of the first candidate counts. */
enum status score_all(const struct candidates *pool, struct error *err);
/* The least time of a pool that is scored, with corrections (NULL: none). Only candidates that the
 * model alone takes for at most twice as slow as its best are looked at, and no more than 16384 of
 * them. */
enum status score_least_us(const struct candidates *pool, const struct corrections *corrections,
	double *time_us, struct error *err);

#endif
