/* SPDX-License-Identifier: MIT
 *
 * Scans the words of source text.
 */
#ifndef SOURCE_WORDS_H
#define SOURCE_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the length of the name at the beginning of the text, or 0. */
static inline size_t text_word_length(const char *text)
{
	size_t length = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (text_is_word(text[length]))
		length++;
	return length;
}

static inline bool text_word_is(const char *text, size_t length, const char *word)
{
	return *text == *word && strncmp(text, word, length) == 0 && !word[length];
}

/* words is NULL-terminated. */
static inline bool text_word_among(const char *text, size_t length, const char *const *words)
{
	for (; *words; words++)
		if (text_word_is(text, length, *words))
			return true;
	return false;
}

/* Returns the position after the word or number at c, or after one character. */
static inline const char *text_after_word(const char *c)
{
	do
		c++;
	while (text_is_word(c[-1]) && text_is_word(*c));
	return c;
}

static inline const char *text_skip(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Returns the position after the bracket that closes the one at `open`, or NULL. A `>` in
 * parentheses does not close a `<`. */
static inline const char *text_matching(const char *open)
{
	static const char opens[] = "([{<", closes[] = ")]}>";
	const char close = closes[strchr(opens, *open) - opens];
	int depth = 0, round = 0;

	for (const char *c = open; *c; c++) {
		if (*open == '<') {
			round += (*c == '(') - (*c == ')');
			if (round)
				continue;
		}
		depth += (*c == *open) - (*c == close);
		if (depth == 0)
			return c + 1;
	}
	return NULL;
}

#endif
