/* SPDX-License-Identifier: MIT
 *
 * The model's shortlist, the quality of its ranking, and a quota of evaluations for each family.
 */
#ifndef TUNE_SHORTLIST_H
#define TUNE_SHORTLIST_H

#include "engine/candidates.h"

/* ---- model quality ---- */
struct tuned_model model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* The shortlist has the first kernels in the model's order (search/order.h), each with its fastest
 * predicted launch. */
enum {
	SHORTLIST_COUNT = 8
};

/* Finds the first `wanted` untried kernels among `count` candidates from `first` on, with one
 * launch each. `launches` is the assumed number of launches per kernel. Returns the number found.
 */
struct search;
size_t shortlist_first(const struct search *search, size_t first, size_t count, size_t wanted,
	size_t launches, size_t *candidates);
void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed);
/* Returns SIZE_MAX if no candidate of the shortlist works. */
size_t shortlisted_fastest(const struct candidates *pool, const struct evaluated_list *evaluated);

/* ---- the quota of evaluations: one or two per family would overstate the winner's lead ---- */
/* Lists the model's first kernels of families with fewer evaluations than of_each_family, as time
 * allows. Returns 0 for a single family, or if nothing is measured. The caller frees *candidates.
 */
size_t family_quota_candidates(const struct search *search, size_t **candidates);

#endif
