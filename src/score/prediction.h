/* SPDX-License-Identifier: MIT
 *
 * From a candidate to its time: work -> score -> what timings on this device taught, where there
 * is something for the family.
 *
 *	predictor_open -> predict, predict_choices ... -> predictor_close
 */
#ifndef SCORE_PREDICTION_H
#define SCORE_PREDICTION_H

#include "candidate/candidate_work.h"
#include "score/learned.h"
#include "score/score.h"

/* Where the last prediction came from is in it too. One per thread. */
struct predictor {
	const struct bound_family *bound; /* borrowed */
	const struct trees *trees;        /* borrowed; NULL: nothing was learned of the family */
	float *features;
	bool is_physics; /* set by the caller, between predictions: without them */
	struct work_context *context;
	struct value *values; /* of the last configuration */
	bool follows;         /* there was one: these are its choices */
	choice choices[SPACE_PARAMETERS_MAX];
	const struct work *work; /* of the last prediction, borrowed */
	struct score score;      /* of the last prediction: physics alone */
};

/* bound, with its device and what was learned of it, must outlive the predictor. */
void predictor_open(struct predictor *predictor, const struct bound_family *bound);
void predictor_close(struct predictor *predictor); /* zeroed is fine */

/* values: of a legal configuration, constants included. resources: of the compiled kernels, one per
 * launch; NULL: not compiled. Infinite where the model sees no block that fits. Errors: expressions
 * that fail. */
enum status predict(struct predictor *predictor, const struct value *values,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err);
/* As above, for choices, before compilation. */
enum status predict_choices(struct predictor *predictor, const choice *choices,
	struct prediction *prediction, struct error *err);

/* The last score, now the caller's to release. */
struct score predictor_take_score(struct predictor *predictor);

/* One candidate's prediction, with a predictor of its own. */
enum status predict_candidate(struct candidate *candidate, struct error *err);

/* Where predictions of a bound family come from. */
enum prediction_source {
	PREDICTION_PHYSICS,
	PREDICTION_SHIPPED, /* times what is shipped with the program */
	PREDICTION_LENT,    /* times what is shipped for another card of the compute capability */
	PREDICTION_NAMED,   /* times what is in a file that the user named */
};
struct prediction_basis {
	enum prediction_source source;
	uint64_t timings; /* learned from */
};
RECORD_DECLARE(struct prediction_basis, prediction_basis_record);
struct prediction_basis prediction_basis(const struct bound_family *bound);
/* "physics", "shipped (17201 timings)"; caller frees. */
char *prediction_basis_text(struct prediction_basis basis);

#endif
