/* SPDX-License-Identifier: MIT
 *
 * The end of a problem: winner, entry, tuned file.
 */
#ifndef TUNE_CONCLUDE_H
#define TUNE_CONCLUDE_H

#include "tune/search.h"
#include "tune/select.h"

/* The candidates whose times may be compared, and the winner of them. */
struct selection {
	struct comparable *comparables; /* paired by rounds where they were timed side by side */
	size_t *indices;                /* into evaluated */
	bool *tied;
	size_t count;  /* 0: nothing works */
	size_t winner; /* into comparables */
};
struct selection selection_of(const struct search *search);
void selection_release(struct selection *selection);
/* Whether it is in the selection or not. */
struct comparable comparable_of(const struct search *search, const struct evaluated *evaluated);
/* What code placement may add to a time that is the mean of this number of loads. */
double conclude_place_us(const struct score *score, const struct device_spec *device, size_t loads);

/* The energy of a candidate that was timed in turn; where the card does not say, nothing. */
enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* Selects the winner, writes the entry into tuned file and journal. STATUS_FAILED if nothing that
 * was evaluated is ok. */
enum status search_conclude(struct search *search, struct error *err);
/* Of a search that is not at its end: the best so far into the tuned file; the journal says nothing
 * of it, so that the search goes on when it is resumed. */
enum status search_save_best(struct search *search, struct error *err);
/* The same now and then, as the run may be killed: after the first second, where something better
 * was found and no other run has an entry, which is better than half a search; for at most a
 * hundredth of the time. That it cannot be saved is said at the end. */
void search_keep_best(struct search *search);

/* ---- whether a row of the tuned file still stands after a run over its family that did not end
 * with it: the sources make the same kernel of it as when it was measured, and the run did not try
 * it (what it said of it would be newer) ---- */
/* What the run tried of this problem; the context of row_validity_row(). */
struct row_validity {
	const struct context *context;
	const struct problem *problem;
	const struct evaluated_list *evaluated; /* or NULL */
	const struct evaluation *recorded;      /* of a journal; recorded_count of them */
	size_t recorded_count;
};

/* For struct tuned_judge. */
bool row_validity_row(const struct tuned_row *row, void *row_validity);

#endif
