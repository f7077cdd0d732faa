/* SPDX-License-Identifier: MIT
 *
 * Predicts the time of a candidate: its work gives a score, which learned corrections of this
 * device and family adjust if there are any.
 *
 *	predictor_open -> predict, predict_choices ... -> predictor_close
 */
#ifndef SCORE_PREDICTION_H
#define SCORE_PREDICTION_H

#include "candidate/candidate_work.h"
#include "score/learned.h"
#include "score/score.h"

/* Holds the last prediction and its inputs. Used by one thread. */
struct predictor {
	const struct bound_family *bound; /* borrowed */
	const struct trees *trees;        /* borrowed; NULL: nothing was learned for the family */
	float *features;
	bool is_physics; /* set by the caller between predictions to ignore the trees */
	struct work_context *context;
	struct value *values; /* values of the last configuration */
	bool follows;         /* `choices` holds the last configuration */
	choice choices[SPACE_PARAMETERS_MAX];
	const struct work *work; /* work of the last prediction; borrowed */
	struct score score;      /* score of the last prediction, without learned corrections */
};

/* bound, its device and its learned corrections must outlive the predictor. */
void predictor_open(struct predictor *predictor, const struct bound_family *bound);
void predictor_close(struct predictor *predictor); /* a zeroed one is valid */

/* values belong to a legal configuration and include constants. resources has one item per launch;
 * NULL: not compiled. The time is infinite if no block fits. Errors: an expression fails. */
enum status predict(struct predictor *predictor, const struct value *values,
	const struct kernel_resources *resources, struct prediction *prediction, struct error *err);
/* Predicts a configuration before compilation. */
enum status predict_choices(struct predictor *predictor, const choice *choices,
	struct prediction *prediction, struct error *err);

/* Returns the last score, which the caller releases. */
struct score predictor_take_score(struct predictor *predictor);

/* Predicts a single candidate with a temporary predictor. */
enum status predict_candidate(struct candidate *candidate, struct error *err);

/* Source of predictions for a bound family. */
enum prediction_source {
	PREDICTION_PHYSICS,
	PREDICTION_SHIPPED, /* corrected by the shipped file */
	/* corrected by the shipped file of another device with this compute capability */
	PREDICTION_LENT,
	PREDICTION_NAMED, /* corrected by a file that the user named */
};
struct prediction_basis {
	enum prediction_source source;
	uint64_t timings; /* number of timings learned from */
};
RECORD_DECLARE(struct prediction_basis, prediction_basis_record);
struct prediction_basis prediction_basis(const struct bound_family *bound);
/* Returns e.g. "physics" or "shipped (17201 timings)"; the caller frees it. */
char *prediction_basis_text(struct prediction_basis basis);

#endif
