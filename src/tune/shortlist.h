/* SPDX-License-Identifier: MIT
 *
 * The model's shortlist, the quality of the model's ranking, and a quota of evaluations for each
 * family.
 */
#ifndef TUNE_SHORTLIST_H
#define TUNE_SHORTLIST_H

#include "engine/candidates.h"
#include "format/tuned_entry.h"

/* ---- model quality ---- */
/* How the model ranked the candidates that were measured. */
struct tuned_model model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* The model's shortlist has the first SHORTLIST_COUNT kernels in the model's order
 * (search/order.h), each with the launch that is predicted to be the fastest. */
enum {
	SHORTLIST_COUNT = 8
};

/* Lists the first `wanted` kernels among `count` candidates from `first` on, without candidates
 * that were tried. For each kernel the launch is chosen among `launches` launches on average.
 * candidates has room for `wanted`; returns the number of candidates. */
struct search;
size_t shortlist_first(const struct search *search, size_t first, size_t count, size_t wanted,
	size_t launches, size_t *candidates);
/* Sets is_listed[i] if evaluated->items[i] is on the shortlist of the measured candidates. */
void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed);
/* The index of the fastest measured candidate of that shortlist; SIZE_MAX: no candidate works. */
size_t shortlisted_fastest(const struct candidates *pool, const struct evaluated_list *evaluated);

/* ---- a quota of evaluations for each family. The search follows the model and the
 * measurements, so it may try only one or two candidates of a family. These would not show what
 * the family can do, and the winner's lead would be overstated. ---- */
/* Lists the model's first kernels (search/order.h) of each family that has fewer evaluations
 * than the effort's of_each_family: as many as are missing, if their predicted time fits
 * into the rest of the budget. The caller frees *candidates. Returns 0 if there is only one
 * family, or nothing is measured. */
size_t family_quota_candidates(const struct search *search, size_t **candidates);

#endif
