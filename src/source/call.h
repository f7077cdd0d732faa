/* SPDX-License-Identifier: MIT
 *
 * Replaces calls of macros and of small functions by their text, without a compiler.
 */
#ifndef SOURCE_CALL_H
#define SOURCE_CALL_H

#include "base/text.h"
#include "source/span.h"

/* Appends the text of a macro, or the value that a function returns: "((n) + 255) / 256" for
 * BLOCKS(n) and "#define BLOCKS(x) ((x) + 255) / 256". open is the call's parenthesis. Returns
 * false if the text does not define it, or if its value depends on branches or loops. */
bool call_inline(struct span text, struct span name, const char *open, struct text *made);

/* Returns a copy of the text with the text of macros that launch kernels in the place of their
 * calls, to any depth. The caller frees it. */
char *call_inline_launches(const char *text);

/* Whether the place is in a line that begins with '#'. */
bool call_is_in_directive(struct span text, const char *c);

/* Whether "#define NAME" has its name here. */
bool call_defines(struct span text, const char *name);

#endif
