/* SPDX-License-Identifier: MIT
 *
 * A record's single values as columns of a table: members with one value, without the
 * members of nested records.
 */
#ifndef RECORD_RECORD_CELLS_H
#define RECORD_RECORD_CELLS_H

#include "record/record.h"

struct record_cell {
	const struct record_member *member;
	const void *item; /* NULL: there is none */
};
/* In the order of the table. value NULL: names only. */
void record_cells(const struct record *record, const void *value,
	void (*each)(const struct record_cell *cell, void *context), void *context);
/* NaN where there is none, or it is no number. */
double record_cell_number(const struct record_cell *cell);
/* Text, or the name of an enum or a bool; NULL otherwise. */
const char *record_cell_string(const struct record_cell *cell);

/* One field, quoted where it must be. */
void csv_append(struct text *line, const char *field);

#endif
