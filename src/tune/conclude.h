/* SPDX-License-Identifier: MIT
 *
 * The end of a problem: winner, entry, tuned file.
 */
#ifndef TUNE_CONCLUDE_H
#define TUNE_CONCLUDE_H

#include "tune/search.h"
#include "tune/selection.h"

/* Measures the energy of a candidate that was timed in turn. Does nothing if the GPU does not
 * report energy. */
enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* Selects the winner and writes its entry to the tuned file and the journal. STATUS_FAILED if no
 * candidate works. */
enum status search_conclude(struct search *search, struct error *err);
/* Writes the best candidate of an unfinished search to the tuned file. The journal does not get it,
 * so that the search goes on when it is resumed. */
enum status search_save_best(struct search *search, struct error *err);
/* Does the same from time to time, because the run may be killed: after the first second, if a
 * better candidate was found and no other run has an entry, which is better than half a search. It
 * takes at most a hundredth of the time. Failures to save are reported at the end. */
void search_keep_best(struct search *search);

#endif
