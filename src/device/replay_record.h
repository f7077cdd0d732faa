/* SPDX-License-Identifier: MIT
 *
 * A recorded journal as the replay device looks things up in it: what became of each candidate of
 * each problem, all runs on one device together, the last word on a candidate counting.
 */
#ifndef DEVICE_REPLAY_RECORD_H
#define DEVICE_REPLAY_RECORD_H

#include "format/journal.h"

struct replay_candidate {
	const char *operation, *problem;     /* borrowed from the journal, as are the evaluations */
	const struct evaluation *searched;   /* NULL: only its re-measurement is recorded */
	const struct evaluation *remeasured; /* interleaved with others; NULL: none */
};

struct replay_record {
	struct journal_record journal;
	const struct journal_run *run;       /* the last: whose device it is */
	struct replay_candidate *candidates; /* sorted */
	size_t count;
	bool measured; /* times are a clock's, not a model's */
};

/* Errors: as journal_read(); a journal without a run, or whose last run does not tell its device.
 */
enum status replay_record_open(const char *path, struct replay_record *record, struct error *err);
void replay_record_release(struct replay_record *record);
/* NULL: not recorded. family: "gemm/mma"; problem, configuration: canonical text. */
const struct replay_candidate *replay_record_find(const struct replay_record *record,
	const char *operation, const char *problem, const char *family, const char *configuration);

#endif
