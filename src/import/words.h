/* SPDX-License-Identifier: MIT
 *
 * Words of a source's text.
 */
#ifndef IMPORT_WORDS_H
#define IMPORT_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

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
	return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* Over blanks. */
static inline const char *text_skip(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

#endif
