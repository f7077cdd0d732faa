/* SPDX-License-Identifier: MIT
 *
 * Two made into one: tuned files of one GPU model (shards of a suite, machines of a kind), and the
 * rows that two entries have of one problem.
 */
#ifndef FORMAT_MERGE_H
#define FORMAT_MERGE_H

#include "format/tuned.h"

/* Entries by what became of them. */
struct merge_summary {
	size_t added;     /* only one file had it */
	size_t equal;     /* both had the same */
	size_t outranked; /* one measured, one predicted */
	size_t conflicts; /* both of a kind: the dates of their runs decided */
};

/* Joins `from` into `into`, and adds to the summary. A measured entry is never replaced by a
 * predicted one. Of two of a kind the entry of the later run stays, but not that of a search that
 * was stopped, nor a free choice where the other entry was tuned for certain bits; families that
 * only the other one has, of another run, are added to it, and may win.
 * run: of a run that writes to the file that `into` was read from, NULL: none. Others have written
 * `from` meanwhile: their entries are newer than what was read, those of the run than theirs.
 * Errors, STATUS_BAD_INPUT: another GPU model; `into` is then as it was. */
enum status tuned_merge(struct tuned *into, const struct tuned *from, const char *run,
	struct merge_summary *summary, struct error *err);

/* ---- the rows of an entry ---- */
/* Adds the rows of old to entry, which is to replace it, and selects the winner of all. Both are
 * measured or both predicted. tuned: lists the runs of both. judge may be NULL. *kept: why the
 * winner is not entry's own; else untouched. */
void tuned_rows_merge(const struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_entry *old, const struct tuned_judge *judge, const char **kept);
/* entry->margin. */
void tuned_rows_margin(struct tuned_entry *entry);

#endif
