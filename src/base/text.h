/* SPDX-License-Identifier: MIT
 *
 * Text that grows, and small helpers on strings. A zeroed struct text is an empty text; data is
 * always terminated once something was appended.
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
/* The shortest digits that read back as the same number, without a point where there is none. */
void text_append_real(struct text *text, double real);
/* "a, b, c" */
void text_append_names(struct text *text, const char *const *names);
/* Appends one of a list: ", " before it unless the text is empty. */
void text_append_listed(struct text *text, const char *string);
void text_cut(struct text *text, size_t length);  /* to a length that it had before */
void text_clear(struct text *text);               /* empties it, keeps the memory */
const char *text_string(const struct text *text); /* "" while empty */
char *text_detach(struct text *text); /* never NULL; the caller frees it; text is empty */
void text_release(struct text *text);

/* How many bytes the character of UTF-8 takes that begins at text; 0: there is none within size. */
size_t utf8_length(const char *text, size_t size);
/* For terminals and logs: control characters but the ones in `kept`, and what is no UTF-8, as
 * "\x1b"; so is what a CI takes for a command: "::" at the begin of a line, "##[", "##vso[". */
void text_append_shown(struct text *text, const char *string, const char *kept);

char *string_copy(const char *string); /* NULL gives NULL */
char *string_copy_bytes(const char *data, size_t length);
char *string_format(const char *format, ...) PRINTF_LIKE(1, 2);
bool string_starts_with(const char *string, const char *prefix);
bool string_ends_with(const char *string, const char *suffix);

/* Copies with termination; truncates. size is that of the destination and must not be 0. */
void string_put(char *destination, size_t size, const char *source);

/* The index of `name` among names, which ends with NULL; -1 if it is none of them. */
int name_find(const char *name, const char *const *names);
/* The name nearest to `name` by edit distance (transpositions count 1), or NULL where none is
 * near enough to be a typing error. names ends with NULL. */
const char *name_nearest(const char *name, const char *const *names);
/* Hints at the nearest of names, if one is near: `did you mean "NAME"?`. Returns STATUS_BAD_INPUT.
 */
enum status name_hint(const char *name, const char *const *names, struct error *err);
/* As above, without quotes: "did you mean NAME?"; where none is near "there are NAMES". */
enum status name_hint_or_list(const char *name, const char *const *names, struct error *err);
/* "WHAT: expected one of NAMES, found NAME", with the nearest of them as the hint. */
enum status name_unknown(
	const char *what, const char *name, const char *const *names, struct error *err);

/* Owned names, each once. */
struct name_set {
	char **items; /* NULL-terminated once there is one */
	size_t count, capacity;
	uint32_t *slots; /* hash table of 1 + index of an item; 0: free */
	size_t slot_count;
};
/* Adds the name unless it is there; returns its index in items. */
size_t name_set_add(struct name_set *set, const char *name, size_t length);
bool name_set_has(const struct name_set *set, const char *name, size_t length);
void name_set_release(struct name_set *set);

/* A non-negative number with one of the suffixes: "5%" -> 0.05 ; "30s", "2m", "1h", "500ms" ->
 * seconds */
enum status text_parse_ratio(const char *string, double *ratio, struct error *err);
enum status text_parse_duration(const char *string, double *seconds, struct error *err);

#endif
