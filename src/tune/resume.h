/* SPDX-License-Identifier: MIT
 *
 * Continues an interrupted run. Concluded problems keep their entry; of other problems the
 * recorded results are reused. Candidates that were timed in turn are timed again. If the
 * resumed run is interrupted too, its run line ("resumes") leads to the earlier runs, whose
 * results are also reused.
 */
#ifndef TUNE_RESUME_H
#define TUNE_RESUME_H

#include "tune/search.h"

/* Whether one of the interrupted runs concluded this problem. */
bool resume_is_concluded(const struct tune_run *run, size_t number);
/* If so, puts its entry into the tuned file again and sets *done. */
enum status resume_entry(struct tune_run *run, size_t number, bool *done, struct error *err);
/* Tells the search all results that were recorded, in the order in which they came: the oldest run
 * of the chain first. */
void resume_results(struct search *search);

#endif
