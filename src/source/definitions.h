/* SPDX-License-Identifier: MIT
 *
 * Definitions of integers that the compiler's command line replaces: "#define BM 64" and
 * "constexpr int BM = 64;".
 */
#ifndef SOURCE_DEFINITIONS_H
#define SOURCE_DEFINITIONS_H

#include "base/text.h"
#include "source/span.h"

/* Blanks the definitions of these names, which would contradict options such as -DBM=128. */
void definitions_blank(struct text *source, const struct name_set *names);

/* Calls `found` for each "const int BM = 64;" of a view (source/scan.h). */
typedef void definition_found(
	void *context, struct span declaration, struct span name, struct span value);
void definitions_find(const char *text, definition_found *found, void *context);

#endif
