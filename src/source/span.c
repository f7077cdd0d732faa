/* SPDX-License-Identifier: MIT */
#include "source/span.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "source/words.h"

struct span span_of(const char *text)
{
	return (struct span){text, text + strlen(text)};
}

struct span span_word(const char *c)
{
	return (struct span){c, c + text_word_length(c)};
}

struct span span_word_before(const char *begin, const char *end)
{
	struct span word = {end, end};

	while (word.begin > begin && text_is_word(word.begin[-1]))
		word.begin--;
	return word;
}

struct span span_previous(struct span text, const char *c)
{
	return span_word_before(text.begin, span_trim((struct span){text.begin, c}).end);
}

bool span_is(struct span span, const char *text)
{
	return span_equal(span, span_of(text));
}

bool span_equal(struct span a, struct span b)
{
	const size_t length = (size_t)(a.end - a.begin);

	return length == (size_t)(b.end - b.begin) && memcmp(a.begin, b.begin, length) == 0;
}

bool span_has(struct span span, const char *text)
{
	return memmem(span.begin, (size_t)(span.end - span.begin), text, strlen(text)) != NULL;
}

bool span_ends(struct span span, const char *text)
{
	const size_t length = strlen(text);

	return (size_t)(span.end - span.begin) >= length &&
	       memcmp(span.end - length, text, length) == 0;
}

bool span_is_word(struct span span)
{
	while (span.begin < span.end && text_is_word(*span.begin))
		span.begin++;
	return span.begin == span.end;
}

char *span_copy(struct span span)
{
	return string_copy_bytes(span.begin, (size_t)(span.end - span.begin));
}

struct span span_trim(struct span span)
{
	while (span.begin < span.end && isspace((unsigned char)*span.begin))
		span.begin++;
	while (span.end > span.begin && isspace((unsigned char)span.end[-1]))
		span.end--;
	return span;
}

struct span span_bare(struct span span)
{
	span = span_trim(span);
	while (span.begin < span.end && *span.begin == '(' && text_matching(span.begin) == span.end)
		span = span_trim((struct span){span.begin + 1, span.end - 1});
	return span;
}

size_t span_split(
	struct span whole, const char *brackets, char separator, struct span parts[SPAN_PARTS_MAX])
{
	static const char opens[] = "([{<", closes[] = ")]}>";
	size_t count = 0;
	int depth = 0;

	whole = span_trim(whole);
	for (const char *c = whole.begin, *begin = c; c <= whole.end && whole.end > whole.begin;
		c++) {
		const char *close = c < whole.end ? strchr(closes, *c) : NULL;

		if (c < whole.end)
			depth += strchr(brackets, *c) ? 1 : 0;
		depth -= close && strchr(brackets, opens[close - closes]) ? 1 : 0;
		if (c < whole.end && (*c != separator || depth > 0))
			continue;
		if (count < SPAN_PARTS_MAX)
			parts[count++] = span_trim((struct span){begin, c});
		begin = c + 1;
	}
	return count;
}

size_t span_list(const char *open, const char *brackets, struct span parts[SPAN_PARTS_MAX])
{
	const char *close = text_matching(open);

	return close ? span_split((struct span){open + 1, close - 1}, brackets, ',', parts) : 0;
}

const char *span_next(struct span text, struct span word, const char *last)
{
	const size_t length = (size_t)(word.end - word.begin);
	const char *c = last ? text_after_word(last) : text.begin;

	for (; length && c + length <= text.end; c = text_after_word(c))
		if (strncmp(c, word.begin, length) == 0 && !text_is_word(c[length]))
			return c;
	return NULL;
}

const char *span_find(struct span text, struct span word)
{
	return span_next(text, word, NULL);
}

const char *span_next_value(
	struct span text, struct span name, const char *last, struct span *value)
{
	for (const char *c = last; (c = span_next(text, name, c)) != NULL;) {
		const char *after = text_skip(c + (name.end - name.begin)), *end;
		int depth = 0;

		if (*after == '[' && *text_skip(after + 1) == ']')
			after = text_skip(text_skip(after + 1) + 1);
		if (*after != '=' || after[1] == '=' || (c > text.begin && strchr(".>", c[-1])))
			continue;
		for (end = after + 1; *end && *end != ';' && !(*end == ',' && !depth); end++)
			depth += strchr("({", *end) ? 1 : strchr(")}", *end) ? -1 : 0;
		*value = span_trim((struct span){after + 1, end});
		return c;
	}
	return NULL;
}

void span_replace(char **text, const char *word, const char *with)
{
	const struct span all = span_of(*text);
	const char *copied = all.begin;
	struct text made = {0};

	for (const char *c = NULL; (c = span_next(all, span_of(word), c)) != NULL;) {
		const struct span before = {all.begin, c};

		if (span_ends(before, ".") || span_ends(before, "->"))
			continue;
		text_append_bytes(&made, copied, (size_t)(c - copied));
		text_append(&made, with);
		copied = c + strlen(word);
	}
	text_append(&made, copied);
	free(*text);
	*text = text_detach(&made);
}
