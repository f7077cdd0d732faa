/* SPDX-License-Identifier: MIT
 *
 * Parts of a source text without comments and literals (source/scan.h).
 */
#ifndef SOURCE_SPAN_H
#define SOURCE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *begin, *end;
};

enum {
	SPAN_PARTS_MAX = 48
};

struct span span_of(const char *text);
/* The word that begins here, which is empty if none does. */
struct span span_word(const char *c);
/* The word that ends here. begin is the beginning of the text. */
struct span span_word_before(const char *begin, const char *end);
/* The word before the place, with white space between them. */
struct span span_previous(struct span text, const char *c);
bool span_is(struct span span, const char *text);
bool span_equal(struct span a, struct span b);
bool span_has(struct span span, const char *text);
/* Whether the span has only letters, digits and underscores. */
bool span_is_word(struct span span);
char *span_copy(struct span span);
/* Removes white space at both ends; span_bare() also removes parentheses around the whole. */
struct span span_trim(struct span span);
struct span span_bare(struct span span);

/* Splits at a separator outside of brackets ("([{" and others) into trimmed parts. Returns the
 * number of parts, at most SPAN_PARTS_MAX. */
size_t span_split(
	struct span whole, const char *brackets, char separator, struct span parts[SPAN_PARTS_MAX]);
/* Splits what is in the brackets that open here; 0 if they stay open. */
size_t span_list(const char *open, const char *brackets, struct span parts[SPAN_PARTS_MAX]);

/* Returns the first place of a word or of words ("object.member") in the text, or NULL. */
const char *span_find(struct span text, struct span word);
/* Finds the first "name = value", "name.x = value" or "name[] = value" in the text, where a comma
 * or a semicolon ends the value. Returns its place, or NULL. */
const char *span_find_value(struct span text, struct span name, struct span *value);

#endif
