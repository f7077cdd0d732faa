/* SPDX-License-Identifier: MIT
 *
 * The rows of an entry, one per family: what stays of an older entry of the same problem.
 */
#ifndef FORMAT_TUNED_ROWS_H
#define FORMAT_TUNED_ROWS_H

#include "format/tuned.h"

/* Brings the rows of old into entry, which is to replace it, and decides the winner anew. Both
 * measured or both predicted. tuned: lists the runs of both. judge may be NULL. *kept: why the
 * winner is not entry's own; else untouched. */
void tuned_rows_merge(const struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_entry *old, const struct tuned_judge *judge, const char **kept);
/* entry->margin. */
void tuned_rows_margin(struct tuned_entry *entry);

#endif
