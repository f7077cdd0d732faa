/* SPDX-License-Identifier: MIT */
#include "source/span.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "source/words.h"

struct span span_trim(struct span span)
{
	while (span.begin < span.end && isspace((unsigned char)*span.begin))
		span.begin++;
	while (span.end > span.begin && isspace((unsigned char)span.end[-1]))
		span.end--;
	return span;
}

bool span_is(struct span span, const char *word)
{
	return (size_t)(span.end - span.begin) == strlen(word) &&
	       strncmp(span.begin, word, strlen(word)) == 0;
}

char *span_copy(struct span span)
{
	return string_copy_bytes(span.begin, (size_t)(span.end - span.begin));
}

size_t span_split(struct span whole, bool has_angles, struct span parts[SPAN_PARTS_MAX])
{
	const char *opens = has_angles ? "([{<" : "([{", *closes = has_angles ? ")]}>" : ")]}";
	size_t count = 0;
	int depth = 0;

	whole = span_trim(whole);
	for (const char *c = whole.begin, *begin = c; c <= whole.end && whole.end > whole.begin;
		c++) {
		if (c < whole.end) {
			depth += strchr(opens, *c) != NULL;
			depth -= strchr(closes, *c) != NULL;
		}
		if (c < whole.end && (*c != ',' || depth > 0))
			continue;
		if (count < SPAN_PARTS_MAX)
			parts[count++] = span_trim((struct span){begin, c});
		begin = c + 1;
	}
	return count;
}
