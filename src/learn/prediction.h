/* SPDX-License-Identifier: MIT
 *
 * From a candidate to its time: work -> score -> correction by what timings on this device taught,
 * where there is one for the family.
 *
 *	predictor_open -> predict, predict_choices ... -> predictor_close
 */
#ifndef LEARN_PREDICTION_H
#define LEARN_PREDICTION_H

#include "candidate/candidate_work.h"
#include "learn/correction.h"

/* Where the last prediction came from is in it too. One per thread. */
struct predictor {
	const struct bound_family *bound;    /* borrowed */
	const struct correction *correction; /* borrowed; NULL: the model alone */
	struct work_context *context;
	struct value *slots;     /* of the last configuration */
	const struct work *work; /* of the last prediction, borrowed */
	struct score score;      /* of the last prediction: the model's own time */
};

/* corrections may be NULL; both must outlive the predictor. */
void predictor_open(struct predictor *predictor, const struct bound_family *bound,
	const struct corrections *corrections);
void predictor_close(struct predictor *predictor); /* zeroed is fine */

/* slots: of a legal configuration, constants included. resources: of the compiled kernels, one per
 * launch; NULL: not compiled. Infinite where the model sees no block that fits. Errors: expressions
 * that fail. */
enum status predict(struct predictor *predictor, const struct value *slots,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err);
/* The same of choices, before compilation. */
enum status predict_choices(struct predictor *predictor, const choice *choices,
	struct prediction *prediction, struct error *err);

/* The last score, now the caller's to release. */
struct score predictor_take_score(struct predictor *predictor);

/* One candidate's prediction, with a predictor of its own. */
enum status predict_candidate(
	struct candidate *candidate, const struct corrections *corrections, struct error *err);

/* The launch that takes longest; NULL: nothing was launched. */
const struct launch_score *predictor_longest(const struct predictor *predictor);

#endif
