/* SPDX-License-Identifier: MIT
 *
 * Formats numbers (`format_time(us).text`), escapes strings, and reads lists of pairs.
 */
#ifndef BASE_FORMAT_TEXT_H
#define BASE_FORMAT_TEXT_H

#include <stdbool.h>

#include "base/text.h"

struct format_text {
	char text[32];
};

/* Four significant digits: "193.7", "0.0123", "12345". */
struct format_text format_number(double value);
/* "193.7 µs", "14.69 ms" */
struct format_text format_time(double time_us);
/* "1.4 KiB", "208 KiB" */
struct format_text format_bytes(double bytes);

/* Escapes a string for an element or attribute of XML or HTML. Forbidden characters become question
 * marks. */
void format_xml(struct text *text, const char *string);

/* Escapes a string to one line for a terminal or a log. */
void format_shown(struct text *text, const char *string);
/* Escapes a string as plain text of Markdown, also in table cells. */
void format_markdown(struct text *text, const char *string);

/* Works like printf into text. `escape` writes the strings of %s. */
typedef void format_escape(struct text *text, const char *string);
void format_put(struct text *text, format_escape *escape, const char *format, ...)
	PRINTF_LIKE(3, 4);
void format_put_args(struct text *text, format_escape *escape, const char *format, va_list args)
	PRINTF_LIKE(3, 0);

/* ---- forms ---- */
/* In a form, @NAME@ is replaced by the value of the part with that name. The last part has name
 * NULL. */
struct text_part {
	const char *name, *value;
};
void text_fill(const char *form, const struct text_part *parts, struct text *text);

/* ---- lists ---- */
/* The strings are not terminated: print them with %.*s. */
struct pair {
	const char *name, *value;
	int name_length, value_length;
};

/* Reads a pair and advances *list. Returns false at the end. */
bool pair_next(const char **list, struct pair *pair);
bool pair_find(const char *list, const char *name, struct pair *pair);

#endif
