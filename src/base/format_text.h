/* SPDX-License-Identifier: MIT
 *
 * Text: numbers as people read them (`format_time(us).text`), strings escaped, and lists as
 * journals have them.
 */
#ifndef BASE_FORMAT_TEXT_H
#define BASE_FORMAT_TEXT_H

#include <stdbool.h>

#include "base/text.h"

struct format_text {
	char text[32];
};

/* Four significant digits without an exponent: "193.7", "0.0123", "12345". */
struct format_text format_number(double value);
/* "193.7 µs", "14.69 ms" */
struct format_text format_time(double time_us);
/* "1.4 KiB", "208 KiB" */
struct format_text format_bytes(double bytes);

/* A string inside an element or an attribute of XML or HTML; what XML 1.0 does not allow becomes a
 * question mark. */
void format_xml(struct text *text, const char *string);

/* One line of text for a terminal or a log. */
void format_shown(struct text *text, const char *string);
/* Plain words of Markdown, in a cell of a table, too. */
void format_markdown(struct text *text, const char *string);

/* printf into the text; what %s brings is written by `escape`, the format is written unchanged. */
typedef void format_escape(struct text *text, const char *string);
void format_put(struct text *text, format_escape *escape, const char *format, ...)
	PRINTF_LIKE(3, 4);
void format_put_args(struct text *text, format_escape *escape, const char *format, va_list args)
	PRINTF_LIKE(3, 0);

/* ---- forms ---- */
/* A form is a text in which @NAME@ stands for a part. */
struct text_part {
	const char *name, *value; /* the last: NULL */
};
void text_fill(const char *form, const struct text_part *parts, struct text *text);

/* ---- lists ---- */
/* Not terminated: print with %.*s. */
struct pair {
	const char *name, *value;
	int name_length, value_length;
};

/* The next pair; false at the end. */
bool pair_next(const char **list, struct pair *pair);
bool pair_find(const char *list, const char *name, struct pair *pair);

#endif
