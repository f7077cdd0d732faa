/* SPDX-License-Identifier: MIT
 *
 * Converts candidates to rows of a tuned file and rows to candidates, also for problems that they
 * were not tuned for.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "candidate/candidate.h"
#include "format/tuned.h"

/* Makes the candidate of a row, which owns its bound family and has the model's prediction. If
 * retuned_arguments is NULL, the row's configuration must be legal. Otherwise the model may change
 * launch arguments (split-K, the order of tiles), if others are predicted to be 3% faster or the
 * row's are illegal; *retuned_arguments says whether one changed. STATUS_BAD_INPUT: the family does
 * not exist or apply, or the configuration is illegal. */
enum status row_candidate(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct tuned_row *row, struct candidate *candidate,
	bool *retuned_arguments, struct error *err);
/* The candidate borrows the bound family. */
enum status row_candidate_bound(struct bound_family *bound, const struct tuned_row *row,
	struct candidate *candidate, bool *retuned_arguments, struct error *err);
/* Names, kernel hash and score before compilation. Its time is the prediction. */
enum status candidate_describe(
	const struct candidate *candidate, struct result *result, struct error *err);

enum status row_describe(const struct candidate *candidate, const struct result *result,
	struct tuned_row *row, struct error *err);
/* The candidate is not compiled, so its time is the prediction. */
enum status row_predict(
	const struct candidate *candidate, struct tuned_row *row, struct error *err);
/* Updates a row of older sources, or a shortened one, from its candidate: defines, launches,
 * buffers. Its times stay. *is_rebuilt: the sources differ; false without a kernel_hash. */
enum status row_rebuild(const struct candidate *candidate, struct tuned_row *row, bool *is_rebuilt,
	struct error *err);

#endif
