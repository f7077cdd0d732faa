/* SPDX-License-Identifier: MIT
 *
 * Lines of a journal with the checksum that they need, whatever they say.
 */
#ifndef TESTS_CHECKED_LINE_H
#define TESTS_CHECKED_LINE_H

#include <string.h>
#include <zlib.h>

#include "base/text.h"

/* line: up to its closing brace, which becomes the end of the checksum, or any other character. */
static inline void checked_line_append(struct text *text, const char *line, size_t length)
{
	const size_t content = length ? length - 1 : 0;

	text_appendf(text, "%.*s,\"checksum\":\"%08lx\"}\n", (int)content, line,
		crc32(0, (const unsigned char *)line, (unsigned)content));
}

/* Each line of the text that ends with a newline; what follows is kept as it is. */
static inline void checked_lines_append(struct text *text, const char *lines, size_t length)
{
	const char *newline;

	while ((newline = memchr(lines, '\n', length)) != NULL) {
		checked_line_append(text, lines, (size_t)(newline - lines));
		length -= (size_t)(newline - lines) + 1;
		lines = newline + 1;
	}
	text_appendf(text, "%.*s", (int)length, lines);
}

#endif
