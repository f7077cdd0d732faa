/* SPDX-License-Identifier: MIT
 *
 * Parts of a source text from which comments and literals were removed (source/scan.h).
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
/* Returns the word that begins at c, or an empty span. */
struct span span_word(const char *c);
/* Returns the word that ends at `end`; the text starts at `begin`. */
struct span span_word_before(const char *begin, const char *end);
/* Returns the word before c, skipping white space. */
struct span span_previous(struct span text, const char *c);
bool span_is(struct span span, const char *text);
bool span_equal(struct span a, struct span b);
bool span_has(struct span span, const char *text);
bool span_ends(struct span span, const char *text);
/* Returns whether the span has only letters, digits and underscores. */
bool span_is_word(struct span span);
char *span_copy(struct span span);
/* Removes white space at both ends. span_bare() also removes enclosing parentheses. */
struct span span_trim(struct span span);
struct span span_bare(struct span span);

/* Splits at a separator outside of brackets ("([{<") into trimmed parts. Returns their number, at
 * most SPAN_PARTS_MAX. */
size_t span_split(
	struct span whole, const char *brackets, char separator, struct span parts[SPAN_PARTS_MAX]);
/* Splits the text in the brackets that begin at `open`. Returns 0 if they are not closed. */
size_t span_list(const char *open, const char *brackets, struct span parts[SPAN_PARTS_MAX]);

/* Finds a word or words ("object.member") after `last`, or from the beginning if `last` is NULL. */
const char *span_next(struct span text, struct span word, const char *last);
const char *span_find(struct span text, struct span word);
/* Finds "name = value" or "name[] = value" after `last`. The value ends at a comma or a
 * semicolon. */
const char *span_next_value(
	struct span text, struct span name, const char *last, struct span *value);
/* Replaces each occurrence of a word or words, except as a member. */
void span_replace(char **text, const char *word, const char *with);

#endif
