/* SPDX-License-Identifier: MIT
 *
 * What a killed run has measured already, by family and configuration.
 */
#ifndef TUNE_RESUME_H
#define TUNE_RESUME_H

#include "results/journal.h"
#include "tune/candidates.h"

struct resume {
	const struct evaluation **sorted; /* borrowed from the journal's record */
	size_t count;
};

/* run may be NULL: nothing to resume. */
void resume_open(
	struct resume *resume, const struct journal_run *run, const struct problem *problem);
void resume_release(struct resume *resume);
/* A copy of the recorded evaluation of this candidate, if there is one. Outcomes that say more of
 * the machine than of the candidate (device lost, too noisy) are not taken over. */
bool resume_take(const struct resume *resume, const struct candidates *pool, size_t candidate,
	struct evaluation *evaluation, struct error *err);

#endif
