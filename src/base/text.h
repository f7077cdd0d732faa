/* SPDX-License-Identifier: MIT
 *
 * Growing text, and functions for strings. A zeroed struct text is empty. Once something was
 * appended, data is terminated.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct text {
	char *data; /* NULL while empty */
	size_t length;
	size_t capacity;
};

void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const void *data, size_t size);
void text_append_char(struct text *text, char c);
void text_appendf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_append_args(struct text *text, const char *format, va_list args) PRINTF_LIKE(2, 0);
/* Appends the shortest digits that read back as the same number, without a point for an integer. */
void text_append_real(struct text *text, double real);
/* Appends "a, b, c". */
void text_append_names(struct text *text, const char *const *names);
/* Appends ", " first, unless text is empty. */
void text_append_listed(struct text *text, const char *string);
void text_cut(struct text *text, size_t length); /* shortens text to an earlier length */
void text_clear(struct text *text);
const char *text_string(const struct text *text); /* never NULL */
/* Returns the data (never NULL), which the caller frees, and empties text. */
char *text_detach(struct text *text);
void text_release(struct text *text);

/* Returns the length of the UTF-8 character at text, or 0 if no valid one fits into size. */
size_t utf8_length(const char *text, size_t size);
/* Escapes control characters (as "\x1b") except those in `kept`, invalid UTF-8, and commands of CI
 * systems: "::" at the beginning of a line, "##[", "##vso[". */
void text_append_shown(struct text *text, const char *string, const char *kept);

char *string_copy(const char *string); /* NULL gives NULL */
char *string_copy_bytes(const char *data, size_t length);
char *string_format(const char *format, ...) PRINTF_LIKE(1, 2);
bool string_starts_with(const char *string, const char *prefix);
bool string_ends_with(const char *string, const char *suffix);
int string_compare(const void *a, const void *b); /* for qsort() of strings */

/* Copies at most size - 1 bytes. size > 0. */
void string_put(char *destination, size_t size, const char *source);

/* Returns the name's index, or -1. names is NULL-terminated. */
int name_find(const char *name, const char *const *names);
/* Returns the name with the smallest edit distance (a transposition counts 1), or NULL if none is
 * near. */
const char *name_nearest(const char *name, const char *const *names);
/* Sets the hint `did you mean "NAME"?` if a name is near. Returns STATUS_BAD_INPUT. */
enum status name_hint(const char *name, const char *const *names, struct error *err);
/* Sets the hint of name_hint(), or one that lists the names. */
enum status name_hint_or_list(const char *name, const char *const *names, struct error *err);
/* Sets the error `unknown WHAT "NAME"; known names: NAMES` and the hint of name_hint(). */
enum status name_unknown(
	const char *what, const char *name, const char *const *names, struct error *err);

/* A set that owns its names. */
struct name_set {
	char **items; /* NULL-terminated; NULL if empty */
	size_t count, capacity;
	uint32_t *slots; /* 1 + index of an item; 0 if free */
	size_t slot_count;
};
/* Returns the index. */
size_t name_set_add(struct name_set *set, const char *name, size_t length);
/* Returns 1 + the index of the name, or 0. */
size_t name_set_has(const struct name_set *set, const char *name, size_t length);
void name_set_release(struct name_set *set);

/* Read a non-negative number with its unit: "5%" is 0.05; "30s", "2m", "1h" and "500ms" become
 * seconds. */
enum status text_parse_ratio(const char *string, double *ratio, struct error *err);
enum status text_parse_duration(const char *string, double *seconds, struct error *err);

#endif
