/* SPDX-License-Identifier: MIT
 *
 * Model rank and measured rank side by side.
 */
#ifndef TUNE_MODEL_QUALITY_H
#define TUNE_MODEL_QUALITY_H

#include "engine/candidates.h"
#include "engine/evaluated.h"
#include "format/tuned_entry.h"

/* How the model ranked what was measured. */
struct tuned_model model_quality(
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
