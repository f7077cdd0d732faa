/* SPDX-License-Identifier: MIT
 *
 * Finds the best configuration that a tuned file has for a problem: its own entry, or else the
 * configuration of another problem for which the model predicts the shortest time here. Sizes
 * are never compared by distance, because the nearest size may have another alignment or number
 * of waves.
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
	LOOKUP_ASSUMED, /* the same within a class; whether it has the class's bits here was not
			   measured */
	LOOKUP_REFUSED, /* the file has nothing better than the family's default */
};
extern const char *const lookup_grade_names[]; /* "exact", "nearest by model", ... */

struct lookup_answer {
	enum lookup_grade grade;
	char *why; /* one line for the user */
	/* Unless refused: a row with launches for this problem. If it is not the file's own
	 * entry, its time is the model's. */
	struct tuned_row result;
	const struct tuned_entry *from; /* an entry of the file; NULL: refused */
	double predicted_us;            /* for the selected configuration; infinite: refused */
	struct prediction_basis basis;  /* of predicted_us */
	double default_us;    /* for the family's default; infinite: it is not legal here */
	double model_best_us; /* the best over all configurations of all families; infinite: not
				 requested */
	double expected_loss_ratio; /* predicted_us over the smallest of these times, minus 1; NaN:
				       refused */
	int64_t considered, legal;  /* number of distinct configurations in the file, and of legal
				       ones for this problem; or -1 */
};

struct lookup_request {
	const struct catalogue *catalogue;
	const struct device_spec *device; /* device that the problem will run on */
	const struct tuned *tuned;
	enum objective objective; /* objective of the entries that are used */
	bool bits; /* use only entries tuned for equal bits over all values of a key (tune --bits),
		      and only if the problem differs in no other key */
	bool assume; /* with bits: also accept configurations whose bits were not measured here;
			otherwise they are refused */
	bool without_best; /* skip scoring the whole space; model_best_us is then infinite */
};

/* The caller releases the answer in any case. Fails if an expression fails. Finding nothing
 * usable is no error but the grade LOOKUP_REFUSED. */
enum status lookup_find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err);
void lookup_answer_release(struct lookup_answer *answer);
/* Converts an answer that is not refused to an entry of a tuned file. The "why" of its winner
 * has the grade, the losses and the entry that was used. The caller releases it. */
struct tuned_entry lookup_entry(const struct lookup_answer *answer, const struct problem *problem);

#endif
