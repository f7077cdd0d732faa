/* SPDX-License-Identifier: MIT
 *
 * Expands calls of macros and of small functions without a compiler.
 */
#ifndef SOURCE_CALL_H
#define SOURCE_CALL_H

#include "base/text.h"
#include "source/span.h"

/* Appends the text of a macro, or the expression that a function returns: "((n) + 255) / 256" for
 * BLOCKS(n) and "#define BLOCKS(x) ((x) + 255) / 256". open is the call's parenthesis. Returns
 * false without a definition, or if the value depends on branches or loops. */
bool call_inline(struct span text, struct span name, const char *open, struct text *made);

/* Returns a copy of the text in which macros that launch kernels are expanded, to any depth. The
 * caller frees the copy. */
char *call_inline_launches(const char *text);

bool call_is_in_directive(struct span text, const char *c);

/* Returns whether `name` is the NAME of a "#define NAME". */
bool call_defines(struct span text, const char *name);

#endif
