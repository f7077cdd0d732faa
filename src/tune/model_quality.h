/* SPDX-License-Identifier: MIT
 *
 * Model rank and measured rank side by side.
 */
#ifndef TUNE_MODEL_QUALITY_H
#define TUNE_MODEL_QUALITY_H

#include "engine/candidates.h"
#include "engine/evaluated.h"

/* How the model ranked what was measured. */
struct model_quality {
	size_t measured;         /* candidates with outcome ok */
	double rank_correlation; /* Spearman, predicted against measured */
	size_t rank_of_best; /* of the measured best among the measured, by prediction; from 1 */
	double regret[4]; /* of the model's first 1, 4, 8, 16: slower than the best by this ratio */
	double shortlist_regret; /* of its shortlist of 8, one configuration per kernel */
};
extern const size_t model_quality_tops[4];

struct model_quality model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* The model's shortlist among what was measured: the first SHORTLIST_COUNT kernels in the model's
 * order (search/shortlist.h), each with the launch that is predicted to be the fastest. */
enum {
	SHORTLIST_COUNT = 8
};

struct shortlisted {
	size_t index;   /* into evaluated; SIZE_MAX: nothing worked */
	double time_us; /* median */
	double best_us; /* of all that were timed like it */
};

/* is_listed[i]: whether evaluated->items[i] is on the list. */
void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed);
/* The one of them that was measured to be the fastest: after the re-measurement among those that
 * were in it, whose times compare with each other only. */
struct shortlisted shortlisted_fastest(
	const struct candidates *pool, const struct evaluated_list *evaluated);

#endif
