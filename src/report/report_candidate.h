/* SPDX-License-Identifier: MIT
 *
 * What a run evaluated, for one entry: candidates in their order, ranked by clock and by model.
 */
#ifndef REPORT_REPORT_CANDIDATE_H
#define REPORT_REPORT_CANDIDATE_H

#include "report/report.h"

/* The search's median; infinite for a candidate without one. */
double report_time_us(const struct report_candidate *candidate);
/* The model's; infinite where it has none. */
double report_predicted_us(const struct report_candidate *candidate);
/* The value of a parameter in "BM=128,BN=256"; false if it is not there or no integer. */
bool report_parameter(const char *configuration, const char *name, int64_t *value);

/* Takes the evaluations of a run (and of those that it resumed) over: candidates, families,
 * outcomes, ranks, quality. */
void report_candidates_take(struct report_entry *entry, const struct journal_record *journal,
	const struct journal_run *run);

#endif
