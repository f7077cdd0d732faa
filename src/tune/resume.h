/* SPDX-License-Identifier: MIT
 *
 * What a killed run leaves to the run that goes on with it: problems that were concluded are taken
 * over whole, evaluations and complete re-measurements one by one. A run that was resumed and
 * killed again hands on what it had taken over itself ("resumes" in its run line).
 */
#ifndef TUNE_RESUME_H
#define TUNE_RESUME_H

#include "tune/search.h"

/* If the interrupted run has concluded this problem: its entry is put into the tuned file again,
 * and *done is set. */
enum status resume_entry(struct session *session, size_t number, bool *done, struct error *err);

/* Tells the search everything that was evaluated, in the order in which it came. Outcomes that say
 * more of the machine than of the candidate (device lost, too noisy) are not taken over. */
enum status resume_evaluations(struct search *search, struct error *err);

/* The recorded re-measurement of this problem, if all of these are in it: its samples belong
 * together. remeasurements (count of them) borrow from the journal. */
bool resume_remeasurements(const struct search *search, struct evaluated *const *remeasured,
	size_t count, const struct evaluation **remeasurements);

#endif
