/* SPDX-License-Identifier: MIT
 *
 * Replaces calls of macros and of small functions by their text, without a compiler.
 */
#ifndef SOURCE_CALL_H
#define SOURCE_CALL_H

#include "base/text.h"
#include "source/span.h"

/* Appends the text of the macro or function with these arguments: "((n) + 255) / 256" for
 * "#define BLOCKS(x) (((x) + 255) / 256)" and BLOCKS(n). open is the call's parenthesis. Of a
 * function it is the value that it returns, with the values of its variables. Returns false if the
 * text has no such function, or if its value depends on branches or loops. */
bool call_inline(struct span text, struct span name, const char *open, struct text *made);

/* Returns a copy of the text in which calls of macros that launch kernels are replaced by the text
 * of the macros, to any depth. The caller frees it. */
char *call_inline_launches(const char *text);

/* Whether the place is in a line that begins with '#'. */
bool call_is_in_directive(struct span text, const char *c);

#endif
