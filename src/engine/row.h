/* SPDX-License-Identifier: MIT
 *
 * Converts a candidate to a row of a tuned file ("winner" or one of "families"), and a row to a
 * candidate, also for another problem than it was tuned for. No space is enumerated, so that the
 * time does not depend on the size of the space.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "candidate/candidate.h"
#include "format/tuned.h"

/* Makes the candidate of a row, which owns its bound family and has the model's prediction. If
 * refitted is NULL, the candidate has the row's configuration, which must be legal. Otherwise the
 * model chooses parameters that are launch arguments, not constants of the kernel (such as split-K
 * and the order of the tiles), for this problem, so that the same binary is launched differently.
 * Their values stay unless others are predicted to be 3% faster or are needed to be legal;
 * *refitted says whether a value changed. Errors, STATUS_BAD_INPUT: the family does not exist or
 * does not apply to the problem (and why); the configuration is not in the family's space, or
 * violates a constraint (and which). */
enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct tuned_row *row, struct candidate *candidate,
	bool *refitted, struct error *err);
/* As above, for a family that is bound already; the candidate borrows it. */
enum status row_candidate_bound(struct bound_family *bound, const struct tuned_row *row,
	struct candidate *candidate, bool *refitted, struct error *err);
/* Fills in what is known of a candidate without compiling it: names, kernel hash and the model's
 * score; its time is the prediction. */
enum status candidate_describe(
	const struct candidate *candidate, struct result *result, struct error *err);

enum status row_describe(const struct candidate *candidate, const struct result *result,
	struct tuned_row *row, struct error *err);
/* As above, for a candidate that is not compiled; the row's time is the prediction. */
enum status row_predict(
	const struct candidate *candidate, struct tuned_row *row, struct error *err);
/* A row that was tuned with other sources than the catalogue's, or that was shortened, gets what
 * the candidate, which is row_candidate()'s, is built and launched with: defines, launches with
 * their arguments, buffers. Its times stay. *renewed: whether the sources are others; false if the
 * row has no kernel_hash. */
enum status row_renew(
	const struct candidate *candidate, struct tuned_row *row, bool *renewed, struct error *err);

#endif
