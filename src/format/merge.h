/* SPDX-License-Identifier: MIT
 *
 * Merges tuned files, and the rows of two entries for one problem.
 */
#ifndef FORMAT_MERGE_H
#define FORMAT_MERGE_H

#include "format/tuned.h"

/* The variation between two runs of one binary on one GPU. Times within this ratio are tied. */
#define TUNED_TIE_RATIO 0.01

struct merge_summary {
	size_t added; /* problems that only one file has */
	size_t equal;
	size_t outranked; /* one entry was measured, the other predicted */
	size_t conflicts; /* the later run won */
};

/* A prediction never replaces a measurement. Otherwise an entry that was tuned for certain bits is
 * preferred to a free choice, then a finished search to an unfinished one, then the later run.
 * Families that only the other entry has are added and may win, if they have the required bits.
 *
 * If `run` is given, `from` holds what other processes wrote since `into` was read, and replaces
 * all entries but those of `run`. STATUS_BAD_INPUT if the GPU models differ. */
enum status tuned_merge(struct tuned *into, const struct tuned *from, const char *run,
	struct merge_summary *summary, struct error *err);

/* Merges a file. `into` may be empty. catalogue is used by tuned_complete() and may be NULL. */
enum status tuned_merge_file(struct tuned *into, const char *path,
	const struct catalogue *catalogue, struct merge_summary *summary, struct error *err);

/* Adds the rows of `old` to `entry`, which will replace it, and selects the winner. Both must be
 * measured, or both predicted. judge may be NULL. Sets *kept to a reason if an old row wins. */
void tuned_rows_merge(const struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_entry *old, const struct tuned_judge *judge, const char **kept);

#endif
