/* SPDX-License-Identifier: MIT
 *
 * Merges tuned files of one GPU model (shards of a suite, machines of one kind), and the rows of
 * two entries for one problem.
 */
#ifndef FORMAT_MERGE_H
#define FORMAT_MERGE_H

#include "format/tuned.h"

/* The variation between two runs of one binary on one GPU, even if the interval within a run is
 * narrower. Times within this ratio are tied. */
#define TUNED_TIE_RATIO 0.01

/* Counts the decisions of a merge. */
struct merge_summary {
	size_t added;     /* only one file has the problem */
	size_t equal;     /* both files have the same entry */
	size_t outranked; /* one entry was measured, the other predicted */
	size_t conflicts; /* both were measured or both predicted, and the later run won */
};

/* Merges `from` into `into` and adds to the summary. A measured entry is never replaced by a
 * predicted one. Of two measured entries, or two predicted ones, an entry that was tuned for
 * certain bits stays before a free choice, then that of a finished search before an unfinished one,
 * then that of the later run. Families that only the other entry has are added and may win, if they
 * are of another run and have the required bits.
 *
 * `run` is the run that is writing to the file, or NULL. Then `from` holds what other processes
 * wrote since `into` was read: their entries replace those that were read, and entries of `run`
 * replace theirs. If the GPU models differ, `into` is unchanged and the error is
 * STATUS_BAD_INPUT. */
enum status tuned_merge(struct tuned *into, const struct tuned *from, const char *run,
	struct merge_summary *summary, struct error *err);

/* Merges a file into `into`, which may be empty. Entries that were written before their operation
 * had all of its keys are completed, if there is a catalogue; it may be NULL. */
enum status tuned_merge_file(struct tuned *into, const char *path,
	const struct catalogue *catalogue, struct merge_summary *summary, struct error *err);

/* ---- the rows of an entry ---- */
/* Adds the rows of `old` to `entry`, which will replace it, and selects the winner among all
 * rows. Both entries are measured, or both are predicted. `tuned` lists the runs of both; judge
 * may be NULL. *kept is set only if the winner is not entry's own, and says why. */
void tuned_rows_merge(const struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_entry *old, const struct tuned_judge *judge, const char **kept);

#endif
