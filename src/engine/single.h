/* SPDX-License-Identifier: MIT
 *
 * A row of a tuned file ("winner", or one of "families") made into a candidate again: a pool of
 * that one candidate, bound to a problem that need not be the one it was tuned for. Nothing is
 * enumerated, so that it takes no time whatever the size of the space.
 */
#ifndef ENGINE_SINGLE_H
#define ENGINE_SINGLE_H

#include "engine/candidates.h"

/* row: {"family", "configuration", "steps" (composites)}. The pool's candidate 0 is it, with its
 * prediction. Errors, STATUS_BAD_INPUT: the family is gone, does not apply here (and why), the
 * configuration is not one of its, or violates a constraint (and which). Release with
 * candidates_release(). */
enum status single_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidates *pool,
	struct error *err);
/* The same with those parameters that are arguments of the launch, not constants of the kernel
 * (split-K, the walk over the tiles), chosen by the model for this problem: the same binary,
 * started otherwise. Values stay as they are unless others are predicted 3% faster or are needed to
 * be legal here. *refitted (may be NULL): whether any is another. Composite families are left as
 * they are. */
enum status single_open_refitted(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct json_at *row, struct candidates *pool,
	bool *refitted, struct error *err);
/* The same of a family that is bound already (taken, freed on failure), by choices, which must be
 * legal. */
enum status single_from_choices(const struct problem *problem, const struct device_spec *device,
	struct bound_family *bound, const choice *choices, struct candidates *pool,
	struct error *err);
/* What can be said of it without compiling it: names, hash, the model's score, the pool's predicted
 * time. */
enum status single_evaluate(
	const struct candidates *pool, struct evaluation *evaluation, struct error *err);

#endif
