/* SPDX-License-Identifier: MIT
 *
 * What a record's JSON looks like, for others: its JSON Schema (draft-07), and its single values as
 * columns of a table.
 */
#ifndef BASE_RECORD_SCHEMA_H
#define BASE_RECORD_SCHEMA_H

#include "base/record.h"

/* The schema of a document. Nested records stand in "definitions" by their names. */
struct json *record_schema(const struct record *record, const char *title);
/* {"$ref": "#/definitions/NAME"}; adds the definition if it is not there yet. */
struct json *record_schema_reference(const struct record *record, struct json *definitions);
/* The same for what a custom member's schema function makes by hand; takes schema. */
struct json *record_schema_define(const char *name, struct json *schema, struct json *definitions);

/* For refine: "allOf" of the record's schema, as JSON text. */
void record_schema_require(struct json *schema, const char *rules);

/* ---- columns: members with one value, those of nested and owned records as "score.waves" ---- */
struct record_cell {
	const struct record_member *member;
	const char *prefix; /* "score." of a nested record's member */
	const void *item;   /* NULL: there is none */
};
/* In the order of the table. value NULL: names only. */
void record_cells(const struct record *record, const void *value,
	void (*each)(const struct record_cell *cell, void *context), void *context);
/* NaN where there is none, or it is no number. */
double record_cell_number(const struct record_cell *cell);
/* Text, or the name of an enum or a bool; NULL otherwise. */
const char *record_cell_string(const struct record_cell *cell);

void record_csv_header(const struct record *record, struct text *line); /* without newline */
void record_csv_row(const struct record *record, const void *value, struct text *line);
/* One field, quoted where it must be. */
void csv_append(struct text *line, const char *field);

#endif
