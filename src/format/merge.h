/* SPDX-License-Identifier: MIT
 *
 * Two made into one: tuned files of one GPU model (shards of a suite, machines of a kind), and the
 * rows that two entries have of one problem.
 */
#ifndef FORMAT_MERGE_H
#define FORMAT_MERGE_H

#include "format/tuned.h"

/* Which of two entries of one problem, both measured or both predicted, is the base of what stays.
 * Families that only the other one has, of another run, are added to it in any case, and may win.
 */
enum merge_rule {
	MERGE_NEWEST,  /* of the later run; but not of a search that was stopped */
	MERGE_FASTEST, /* with the faster winner */
	MERGE_FIRST,   /* of the file that was named first */
	MERGE_FAIL,    /* neither: an error */
};

/* Entries by what became of them. */
struct merge_summary {
	size_t added;     /* only one file had it */
	size_t equal;     /* both had the same */
	size_t outranked; /* one measured, one predicted: no rule was asked */
	size_t conflicts; /* the rule decided */
};

/* Joins `from` into `into`, and adds to the summary. A measured entry is never replaced by a
 * predicted one, whatever the rule. Errors, STATUS_BAD_INPUT: another GPU model; a conflict under
 * MERGE_FAIL; `into` is then of no use. */
enum status tuned_merge(struct tuned *into, const struct tuned *from, enum merge_rule rule,
	struct merge_summary *summary, struct error *err);
/* Joins what others have written to the file that `into` was read from: their entries are newer
 * than what was read, those of the run that writes (run) are newer than theirs. */
enum status tuned_merge_written(
	struct tuned *into, const struct tuned *written, const char *run, struct error *err);

/* ---- the rows of an entry ---- */
/* Brings the rows of old into entry, which is to replace it, and decides the winner anew. Both
 * measured or both predicted. tuned: lists the runs of both. judge may be NULL. *kept: why the
 * winner is not entry's own; else untouched. */
void tuned_rows_merge(const struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_entry *old, const struct tuned_judge *judge, const char **kept);
/* entry->margin. */
void tuned_rows_margin(struct tuned_entry *entry);

#endif
