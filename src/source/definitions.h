/* SPDX-License-Identifier: MIT
 *
 * Definitions of integers in a source, "#define BM 64" and "constexpr int BM = 64;", whose values
 * the command line of the compiler replaces.
 */
#ifndef SOURCE_DEFINITIONS_H
#define SOURCE_DEFINITIONS_H

#include "base/text.h"
#include "source/span.h"

/* Blanks the definitions of these names, so that -DBM=128 neither contradicts nor breaks them. Line
 * numbers do not change. */
void definitions_blank(struct text *source, const struct name_set *names);

/* Calls `found` for each constant "const int BM = 64;" of a text without comments and directives
 * (source/scan.h) that has no other declarator. */
typedef void definition_found(
	void *context, struct span declaration, struct span name, struct span value);
void definitions_find(const char *text, definition_found *found, void *context);

#endif
