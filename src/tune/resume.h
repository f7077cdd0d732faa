/* SPDX-License-Identifier: MIT
 *
 * Continues an interrupted run, and those that it resumed: keeps concluded entries, reuses
 * results, and repeats final measurements.
 */
#ifndef TUNE_RESUME_H
#define TUNE_RESUME_H

#include "tune/search.h"

/* Whether an interrupted run concluded this problem. */
bool resume_is_concluded(const struct tune_run *run, size_t number);
/* If so, saves its entry and sets *done. */
enum status resume_entry(struct tune_run *run, size_t number, bool *done, struct error *err);
/* All recorded results, the oldest run first. */
void resume_results(struct search *search);

#endif
