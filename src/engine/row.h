/* SPDX-License-Identifier: MIT
 *
 * Converts candidates to rows of a tuned file, and rows to candidates, also for problems other than
 * the tuned one.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "candidate/candidate.h"
#include "format/tuned.h"

/* Makes the candidate of a row, which owns its bound family and has the model's prediction. If
 * retuned_arguments is NULL, the row's configuration must be legal. Otherwise the model may change
 * launch arguments (split-K, the order of tiles) if it predicts a gain of 3% or the row's arguments
 * are illegal; *retuned_arguments tells whether one changed. STATUS_BAD_INPUT: the family does not
 * exist or apply, or the configuration is illegal. */
enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct tuned_row *row, struct candidate *candidate,
	bool *retuned_arguments, struct error *err);
/* The candidate borrows the bound family. */
enum status row_candidate_bound(struct bound_family *bound, const struct tuned_row *row,
	struct candidate *candidate, bool *retuned_arguments, struct error *err);
/* Fills in names, kernel hash and the score before compilation, with the predicted time. */
enum status candidate_describe(
	const struct candidate *candidate, struct result *result, struct error *err);

enum status row_describe(const struct candidate *candidate, const struct result *result,
	struct tuned_row *row, struct error *err);
/* Fills in a row without compiling the candidate, so the time is predicted. */
enum status row_predict(
	const struct candidate *candidate, struct tuned_row *row, struct error *err);
/* Updates defines, launches and buffers, but not times, of a shortened row or a row of older
 * sources. *is_rebuilt tells whether the sources differ; it is false without a kernel_hash. */
enum status row_rebuild(const struct candidate *candidate, struct tuned_row *row, bool *is_rebuilt,
	struct error *err);

#endif
