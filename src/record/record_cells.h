/* SPDX-License-Identifier: MIT
 *
 * A record's single numbers and texts as columns of CSV, without the members of nested records.
 */
#ifndef RECORD_RECORD_CELLS_H
#define RECORD_RECORD_CELLS_H

#include "record/record.h"

/* Appends a cell for each, with a comma behind it, in the order of the table; value NULL: their
 * names. without: names of members that have no column (NULL-terminated). Empty is what is absent
 * or not finite. */
void record_cells(const struct record *record, const void *value, const char *const *without,
	struct text *line);

/* One field, quoted where it must be. */
void csv_append(struct text *line, const char *field);

#endif
