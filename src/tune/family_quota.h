/* SPDX-License-Identifier: MIT
 *
 * A quota of evaluations for each family: the search goes where the model and the measurements
 * point, and may leave a family with one or two candidates. These would be no fair account of what
 * the family can do, and every factor over them would be too large.
 */
#ifndef TUNE_FAMILY_QUOTA_H
#define TUNE_FAMILY_QUOTA_H

#include "tune/search.h"

/* The model's first kernels (search/shortlist.h) of each family with fewer evaluations than the
 * effort's of_each_family, as many as lack; only what fits into the rest of the budget's time, by
 * prediction. The caller frees *candidates. None where there is one family, or nothing is measured.
 */
size_t family_quota_candidates(const struct search *search, size_t **candidates);

#endif
