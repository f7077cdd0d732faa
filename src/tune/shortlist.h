/* SPDX-License-Identifier: MIT
 *
 * The model's shortlist, how the model ranked what was measured, and a quota of evaluations for
 * each family.
 */
#ifndef TUNE_SHORTLIST_H
#define TUNE_SHORTLIST_H

#include "engine/candidates.h"
#include "format/tuned_entry.h"

/* ---- Model rank and measured rank side by side ---- */
/* How the model ranked what was measured. */
struct tuned_model model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* The model's shortlist among what was measured: the first SHORTLIST_COUNT kernels in the model's
 * order (search/order.h), each with the launch that is predicted to be the fastest. */
enum {
	SHORTLIST_COUNT = 8
};

/* The first `wanted` kernels of the candidates from `first` on that were not asked for yet;
 * `launches`: how many of each kernel there may be among those that one is chosen of. candidates
 * has room for `wanted`; returns how many there are. */
struct search;
size_t shortlist_first(const struct search *search, size_t first, size_t count, size_t wanted,
	size_t launches, size_t *candidates);
/* is_listed[i]: whether evaluated->items[i] is on the list. */
void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed);
/* The one of them that was measured to be the fastest: its index, SIZE_MAX: nothing worked. */
size_t shortlisted_fastest(const struct candidates *pool, const struct evaluated_list *evaluated);

/* ---- a quota of evaluations for each family: the search goes where the model and the measurements
 * point, and may leave a family with one or two candidates. These would be no fair account of what
 * the family can do, and every factor over them would be too large. ---- */
/* The model's first kernels (search/order.h) of each family with fewer evaluations than the
 * effort's of_each_family, as many as lack; only what fits into the rest of the budget's time, by
 * prediction. The caller frees *candidates. None where there is one family, or nothing is measured.
 */
size_t family_quota_candidates(const struct search *search, size_t **candidates);

#endif
