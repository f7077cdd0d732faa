/* SPDX-License-Identifier: MIT
 *
 * Writes journal lines with a valid checksum, for any content.
 */
#ifndef TESTS_CHECKED_LINE_H
#define TESTS_CHECKED_LINE_H

#include <string.h>
#include <zlib.h>

#include "base/text.h"

/* Appends the checksum in place of the line's last character (usually its closing brace). */
static inline void checked_line_append(struct text *text, const char *line, size_t length)
{
	const size_t content = length ? length - 1 : 0;

	text_appendf(text, "%.*s,\"checksum\":\"%08lx\"}\n", (int)content, line,
		crc32(0, (const unsigned char *)line, (unsigned)content));
}

/* Appends each line of the text that ends with a newline. An unfinished last line is copied
 * unchanged. */
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
