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
/* The word that begins here, or an empty span. */
struct span span_word(const char *c);
/* The word that ends here, in a text from `begin`. */
struct span span_word_before(const char *begin, const char *end);
/* The word before the place, with white space between them. */
struct span span_previous(struct span text, const char *c);
bool span_is(struct span span, const char *text);
bool span_equal(struct span a, struct span b);
bool span_has(struct span span, const char *text);
bool span_ends(struct span span, const char *text);
/* Whether it has only letters, digits and underscores. */
bool span_is_word(struct span span);
char *span_copy(struct span span);
/* Removes white space at both ends; span_bare() also removes parentheses around the whole. */
struct span span_trim(struct span span);
struct span span_bare(struct span span);

/* Splits at a separator outside of brackets ("([{<") into trimmed parts. Returns their number, at
 * most SPAN_PARTS_MAX. */
size_t span_split(
	struct span whole, const char *brackets, char separator, struct span parts[SPAN_PARTS_MAX]);
/* Splits what is in the brackets that open here; 0 if they stay open. */
size_t span_list(const char *open, const char *brackets, struct span parts[SPAN_PARTS_MAX]);

/* Finds a word or words ("object.member") behind `last`, or from the beginning if it is NULL. */
const char *span_next(struct span text, struct span word, const char *last);
const char *span_find(struct span text, struct span word);
/* Finds "name = value" or "name[] = value" up to a comma or a semicolon, in the same way. */
const char *span_next_value(
	struct span text, struct span name, const char *last, struct span *value);
/* Replaces each place of a word or of words that is no member. */
void span_replace(char **text, const char *word, const char *with);

#endif
