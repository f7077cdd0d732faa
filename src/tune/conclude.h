/* SPDX-License-Identifier: MIT
 *
 * The end of a problem: winner, entry, tuned file.
 */
#ifndef TUNE_CONCLUDE_H
#define TUNE_CONCLUDE_H

#include "tune/search.h"
#include "tune/selection.h"

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

#endif
