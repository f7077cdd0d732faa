/* SPDX-License-Identifier: MIT
 *
 * Converts candidates to rows of a tuned file ("winner" or one of "families"), and rows to
 * candidates, also for problems that they were not tuned for. No space is enumerated, so the
 * time does not depend on its size.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "candidate/candidate.h"
#include "format/tuned.h"

/* Makes the candidate of a row, which owns its bound family and has the model's prediction. If
 * retuned_arguments is NULL, the candidate has the row's configuration, which must be legal.
 * Otherwise the model may change launch arguments for this problem (such as split-K and the order
 * of the tiles) but not constants of the kernel, so that the same binary is launched differently.
 * Their values stay unless others are predicted to be 3% faster, or the row's are illegal;
 * *retuned_arguments says whether a value changed. Errors are STATUS_BAD_INPUT and name the reason:
 * the family does not exist or does not apply to the problem, or the configuration is not in the
 * family's space or violates a constraint. */
enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct tuned_row *row, struct candidate *candidate,
	bool *retuned_arguments, struct error *err);
/* The same for a family that is bound already; the candidate borrows it. */
enum status row_candidate_bound(struct bound_family *bound, const struct tuned_row *row,
	struct candidate *candidate, bool *retuned_arguments, struct error *err);
/* Fills in all that is known of a candidate before it is compiled: names, kernel hash and the
 * model's score. Its time is the prediction. */
enum status candidate_describe(
	const struct candidate *candidate, struct result *result, struct error *err);

enum status row_describe(const struct candidate *candidate, const struct result *result,
	struct tuned_row *row, struct error *err);
/* The same for a candidate that is not compiled; the row's time is the prediction. */
enum status row_predict(
	const struct candidate *candidate, struct tuned_row *row, struct error *err);
/* Updates a row that was tuned with older sources, or that was shortened, from its candidate,
 * which row_candidate() made: defines, launches with their arguments, buffers. Its times do not
 * change. *is_rebuilt says whether the sources differ; it is false if the row has no kernel_hash.
 */
enum status row_rebuild(const struct candidate *candidate, struct tuned_row *row, bool *is_rebuilt,
	struct error *err);

#endif
