/* SPDX-License-Identifier: MIT
 *
 * All candidates of an entry as columns of compact JSON, for the page's script: one row per
 * evaluation, in order. Values of a column that repeat are written once, in a dictionary, and each
 * row as one or two characters of HTML_ALPHABET:
 *
 *	{"d": [128, 256], "w": 1, "s": "##$#"}
 *
 * A column whose values hardly repeat is a plain array.
 */
#ifndef HTML_HTML_DATA_H
#define HTML_HTML_DATA_H

#include "report/report.h"

/* Printable, without what JSON or HTML would have to escape; the same in the script. */
#define HTML_ALPHABET                                                                              \
	"#$%()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"

struct html_column {
	struct text cells; /* JSON tokens, zero-terminated, one after the other */
	size_t *offsets;
	size_t count, capacity;
};

void html_column_number(struct html_column *column, double value);      /* not finite: null */
void html_column_string(struct html_column *column, const char *value); /* NULL: null */
/* Appends the JSON; false, and nothing, if every value is null. Empties the column. */
bool html_column_write(struct html_column *column, const char *name, struct text *json);
void html_column_release(struct html_column *column);

/* A JSON string in quotes; safe inside <script>. */
void html_json_string(struct text *json, const char *value);

/* A <script> element with the columns' names and meanings, [name, meaning] each. */
void html_data_names(struct text *page);
/* The <script> element of an entry; index: of the entry. */
void html_data(const struct report_entry *entry, size_t index, struct text *page);

#endif
