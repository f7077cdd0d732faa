/* SPDX-License-Identifier: MIT
 *
 * The best that a tuned file knows for a problem: its own entry, or else the configuration tuned
 * for another problem that the model predicts best for this one. Never by the distance of sizes:
 * the nearest size can be the wrong one (another alignment, another number of waves).
 */
#ifndef ADVISE_LOOKUP_H
#define ADVISE_LOOKUP_H

#include "family/catalogue.h"
#include "format/tuned.h"
#include "score/prediction.h"
#include "spec/device_spec.h"

enum lookup_grade {
	LOOKUP_EXACT,   /* the file has this problem */
	LOOKUP_NEAREST, /* tuned for another problem, chosen by the model */
	LOOKUP_ASSUMED, /* the same among a class; that it has the class's bits here, too, is not
			 * known */
	LOOKUP_REFUSED, /* nothing that is better than the family's default */
};
extern const char *const lookup_grade_names[]; /* "exact", "nearest by model", ... */

struct lookup_answer {
	enum lookup_grade grade;
	char *why; /* a line for a person */
	/* Unless refused: a row with launches for this very problem; where it is not the file's own
	 * entry, time_us is the model's. */
	struct tuned_row result;
	const struct tuned_entry *from; /* of the file; NULL: refused */
	double predicted_us; /* of the configuration for this problem; infinite: refused */
	struct prediction_basis basis; /* of predicted_us */
	double default_us; /* of the family's default configuration; infinite: it has none here */
	double model_best_us; /* of all configurations of all families; infinite: not asked for */
	double expected_loss_ratio; /* predicted over the least of those, minus 1; NaN: refused */
	int64_t considered, legal;  /* distinct configurations in the file; of those, here; or -1 */
};

struct lookup_request {
	const struct catalogue *catalogue;
	const struct device_spec *device; /* that the problem is to run on */
	const struct tuned *tuned;
	enum objective objective; /* of the entries that may answer */
	bool bits;   /* answer only from entries that were tuned for the same bits for all values
		      * of a key (tune --bits), for problems that differ in that key alone */
	bool assume; /* with bits: also where bits were not measured; else that is a refusal */
	bool without_best; /* do not score the whole space: model_best_us is infinite */
};

/* The caller releases the answer in any case. Errors: expressions that fail. That nothing serves is
 * an answer (refused). */
enum status lookup_find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err);
void lookup_answer_release(struct lookup_answer *answer);
/* An answer that is not refused as an entry of a tuned file; grade, losses and the entry that it is
 * from are the "why" of its winner. The caller releases it. */
struct tuned_entry lookup_entry(const struct lookup_answer *answer, const struct problem *problem);

#endif
