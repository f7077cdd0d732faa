/* SPDX-License-Identifier: MIT
 *
 * Selects the winner of a search and writes its entry.
 */
#ifndef TUNE_CONCLUDE_H
#define TUNE_CONCLUDE_H

#include "tune/search.h"
#include "tune/selection.h"

/* The candidate was timed in turn. Does nothing if the GPU reports no energy. */
enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* STATUS_FAILED if no candidate works. */
enum status search_conclude(struct search *search, struct error *err);
/* Writes only the tuned file, so that the search can be resumed. */
enum status search_save_best(struct search *search, struct error *err);
/* Saves after the first second, if a better candidate was found and no other run has an entry,
 * because the run may be killed. Saving takes at most a hundredth of the time. Failures are
 * reported at the end. */
void search_keep_best(struct search *search);

#endif
