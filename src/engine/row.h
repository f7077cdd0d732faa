/* SPDX-License-Identifier: MIT
 *
 * Rows of a tuned file, "winner" or one of "families": a candidate as a row, and a row made into a
 * candidate again, for a problem that need not be the one it was tuned for. Nothing is enumerated,
 * so that the time does not depend on the size of the space.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "candidate/candidate.h"
#include "format/tuned.h"

/* The candidate owns its bound family and has the model's prediction. refitted NULL: it has the
 * row's configuration, which must be legal. Else those parameters that are arguments of the launch,
 * not constants of the kernel (split-K, the walk over the tiles), are chosen by the model for this
 * problem: the same binary, started otherwise. Values stay as they are unless others are predicted
 * 3% faster or are needed to be legal here; *refitted: whether any is another. Errors,
 * STATUS_BAD_INPUT: the family is gone, does not apply here (and why), the configuration is not one
 * of its, or violates a constraint (and which). */
enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct tuned_row *row, struct candidate *candidate,
	bool *refitted, struct error *err);
/* As above, for the row's family, which is bound: the candidate borrows it. */
enum status row_candidate_bound(struct bound_family *bound, const struct tuned_row *row,
	struct candidate *candidate, bool *refitted, struct error *err);
/* What can be said of a candidate without compiling it: names, hash, the model's score; its
 * prediction is its time. */
enum status candidate_describe(
	const struct candidate *candidate, struct result *result, struct error *err);

enum status row_describe(const struct candidate *candidate, const struct result *result,
	struct tuned_row *row, struct error *err);
/* As above, for a candidate that is not compiled: the row's time is predicted. */
enum status row_predict(
	const struct candidate *candidate, struct tuned_row *row, struct error *err);
/* A row that was tuned with other sources than the catalogue's gets what the candidate, which is
 * row_candidate()'s, is built and launched with: defines, launches with their arguments, buffers.
 * Its times stay. *renewed: whether it was; not if the row has no kernel_hash. */
enum status row_renew(
	const struct candidate *candidate, struct tuned_row *row, bool *renewed, struct error *err);

#endif
