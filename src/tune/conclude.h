/* SPDX-License-Identifier: MIT
 *
 * Ends the search of a problem: selects the winner and writes the entry and the tuned file.
 */
#ifndef TUNE_CONCLUDE_H
#define TUNE_CONCLUDE_H

#include "tune/search.h"
#include "tune/selection.h"

/* Measures the energy of a candidate that was timed in turn. Does nothing if the GPU does not
 * report energy. */
enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* Selects the winner and writes its entry to the tuned file and the journal. Returns
 * STATUS_FAILED if no candidate works. */
enum status search_conclude(struct search *search, struct error *err);
/* Writes the best candidate of an unfinished search to the tuned file, but not to the journal,
 * so that the search continues when it is resumed. */
enum status search_save_best(struct search *search, struct error *err);
/* Calls search_save_best() from time to time during a search, because the run may be killed. It
 * saves only after the first second, if a better candidate was found, and if no other run has an
 * entry, because a finished search is better than half of one. Saving takes at most a hundredth
 * of the time. Failures to save are reported at the end. */
void search_keep_best(struct search *search);

#endif
