/* SPDX-License-Identifier: MIT
 *
 * Finds the best configuration that a tuned file has for a problem: its own entry, or else the
 * configuration of another problem that the model predicts to be the fastest. The nearest size
 * does not count, because it may have another alignment or number of waves.
 */
#ifndef ADVISE_LOOKUP_H
#define ADVISE_LOOKUP_H

#include "family/catalogue.h"
#include "format/tuned.h"
#include "score/prediction.h"
#include "spec/device_spec.h"

enum lookup_grade {
	LOOKUP_EXACT,   /* the file has an entry for this problem */
	LOOKUP_NEAREST, /* tuned for another problem, selected by the model */
	LOOKUP_ASSUMED, /* the same, but whether it has the class's bits here was not measured */
	LOOKUP_REFUSED,
};
extern const char *const lookup_grade_names[]; /* "exact", "nearest by model", ... */

struct lookup_answer {
	enum lookup_grade grade;
	char *why;               /* one line for the user */
	struct tuned_row result; /* launches for this problem; the time is predicted unless exact */
	const struct tuned_entry *from; /* an entry of the file; NULL: refused */
	double predicted_us;            /* infinite: refused */
	struct prediction_basis basis;  /* origin of predicted_us */
	double default_us;              /* time of the family's default; infinite: not legal here */
	double model_best_us;       /* best time of all configurations; infinite: not requested */
	double expected_loss_ratio; /* predicted_us / the shortest of these, - 1; NaN: refused */
	int64_t considered, legal;  /* distinct configurations in the file, and those that are
				       legal here; or -1 */
};

struct lookup_request {
	const struct catalogue *catalogue;
	const struct device_spec *device; /* device that the problem will run on */
	const struct tuned *tuned;
	enum objective objective; /* objective of the entries to use */
	bool bits;                /* use only entries of a class of the problem (tune --bits) */
	bool assume;              /* with bits: allow LOOKUP_ASSUMED */
	bool without_best;        /* skip scoring the whole space */
};

/* The caller releases the answer in any case. */
enum status lookup_find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err);
void lookup_answer_release(struct lookup_answer *answer);
/* Converts an answer that is not refused to an entry, which the caller releases. */
struct tuned_entry lookup_entry(const struct lookup_answer *answer, const struct problem *problem);

#endif
