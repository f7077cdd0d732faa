/* SPDX-License-Identifier: MIT
 *
 * The best guess of what a candidate takes: the model's time, corrected by what timings on this
 * device taught (learn/correction.h).
 */
#ifndef ENGINE_CORRECTED_H
#define ENGINE_CORRECTED_H

#include "learn/correction.h"
#include "engine/candidates.h"

/* corrections: NULL: the model alone. slots: of a legal configuration, constants included. Infinite
 * where the model sees no block that fits. Errors: expressions that fail. */
enum status corrected_time(const struct corrections *corrections, const struct bound_family *bound,
	const struct value *slots, double *time_us, struct error *err);
/* The same of a pool's candidate. */
enum status corrected_candidate_time(const struct corrections *corrections,
	const struct candidates *pool, size_t candidate, double *time_us, struct error *err);
/* The least of a whole pool that is scored. Only candidates that the model alone takes for at most
 * twice as slow as its best are looked at, and no more than 16384 of them. */
enum status corrected_least_time(const struct corrections *corrections,
	const struct candidates *pool, double *time_us, struct error *err);

#endif
