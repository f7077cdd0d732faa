/* SPDX-License-Identifier: MIT
 *
 * What an interrupted run leaves to the run that resumes it. Problems that were concluded keep
 * their entry; results of other problems are taken one by one. Candidates that were timed in turn
 * are timed again. A resumed run that is interrupted again hands on what it had taken over itself
 * ("resumes" in its run line).
 */
#ifndef TUNE_RESUME_H
#define TUNE_RESUME_H

#include "tune/search.h"

/* Whether an interrupted run has concluded this problem. */
bool resume_is_concluded(const struct tune_run *run, size_t number);
/* If so, puts its entry into the tuned file again and sets *done. */
enum status resume_entry(struct tune_run *run, size_t number, bool *done, struct error *err);
/* Tells the search all results that were recorded, in the order in which they came: the oldest run
 * of the chain first. */
void resume_results(struct search *search);

#endif
