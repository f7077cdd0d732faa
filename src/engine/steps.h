/* SPDX-License-Identifier: MIT
 *
 * What serves the steps of a composite family: the winners of their own entries.
 */
#ifndef ENGINE_STEPS_H
#define ENGINE_STEPS_H

#include "candidate/composite.h"
#include "format/tuned.h"

struct steps_source {
	const struct catalogue *catalogue;
	const struct tuned *tuned;
	bool measured; /* predicted entries do not count */
};

/* The step's entry: its winner or, where that is itself composite or no longer legal, the fastest
 * of its families that serves. False: there is none; why (may be NULL) says so. bound is that of a
 * composite family after composite_open(). */
bool steps_choose(const struct steps_source *source, struct bound_family *bound, size_t step,
	struct text *why);
/* All of them; *ready is false where one is missing. Opens the composite. */
enum status steps_choose_all(const struct steps_source *source, struct bound_family *bound,
	bool *ready, struct text *why, struct error *err);

/* row->steps. */
enum status steps_describe(
	const struct bound_family *bound, struct tuned_row *row, struct error *err);

#endif
