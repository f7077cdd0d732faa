/* SPDX-License-Identifier: MIT
 *
 * Where a compiler sees a preprocessor's directives in a source, whatever comments, strings and
 * spliced lines make of it: an include that we do not see would let the compiler read any file, and
 * show it in its log.
 */
#ifndef SOURCE_DIRECTIVE_H
#define SOURCE_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

/* Begins with at 0. */
struct directive_scan {
	const char *text;
	size_t at, size;
};

/* The next line that is a directive: from where it begins to where it is known what it is.
 * *includes: whether it makes the compiler read a file. False: there is none. */
bool directive_next(struct directive_scan *scan, size_t *hash, bool *includes);

/* The file of a line `#include "file"` or, *is_system, `#include <file>`, written without frills
 * (caller frees); NULL: it is anything else. */
char *directive_include(const char *line, const char *end, bool *is_system);
bool directive_is_pragma_once(const char *line, const char *end);

/* folder/include without "." and ".."; NULL if it would leave the folder that all is relative to.
 * The caller frees it. */
char *include_normalized(const char *folder, const char *include);

#endif
