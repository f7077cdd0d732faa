/* SPDX-License-Identifier: MIT
 *
 * Predicts the time of a candidate from its work, its score and learned corrections.
 *
 *	predictor_open -> predict, predict_choices ... -> predictor_close
 */
#ifndef SCORE_PREDICTION_H
#define SCORE_PREDICTION_H

#include "candidate/candidate_work.h"
#include "score/learned.h"
#include "score/score.h"

/* Last prediction and its inputs. Each thread needs its own predictor. */
struct predictor {
	const struct bound_family *bound; /* borrowed */
	const struct trees *trees;        /* borrowed; may be NULL */
	float *features;
	bool is_physics; /* the caller sets this to ignore the trees */
	struct work_context *context;
	struct value *values;
	bool follows;
	choice choices[SPACE_PARAMETERS_MAX];
	const struct work *work; /* borrowed */
	struct score score;      /* score without corrections */
};

/* bound and its device must outlive the predictor. */
void predictor_open(struct predictor *predictor, const struct bound_family *bound);
void predictor_close(struct predictor *predictor); /* accepts a zeroed predictor */

/* `values` include constants. `resources` has one item per launch, or is NULL before compilation.
 * The time is infinite if no block fits. */
enum status predict(struct predictor *predictor, const struct value *values,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err);
enum status predict_choices(struct predictor *predictor, const choice *choices,
	struct prediction *prediction, struct error *err);

/* The caller releases the score. */
struct score predictor_take_score(struct predictor *predictor);

enum status predict_candidate(struct candidate *candidate, struct error *err);

enum prediction_source {
	PREDICTION_PHYSICS,
	PREDICTION_SHIPPED, /* file shipped for this device */
	/* file of a device with the same compute capability */
	PREDICTION_LENT,
	PREDICTION_NAMED,
};
struct prediction_basis {
	enum prediction_source source;
	uint64_t timings;
};
RECORD_DECLARE(struct prediction_basis, prediction_basis_record);
struct prediction_basis prediction_basis(const struct bound_family *bound);
/* Returns a text such as "physics", which the caller frees. */
char *prediction_basis_text(struct prediction_basis basis);

#endif
