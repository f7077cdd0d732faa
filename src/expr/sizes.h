/* SPDX-License-Identifier: MIT
 *
 * Sizes that a file gives, as one value: how many rows each group has, in one draw or in several.
 * As a string "sizes:8 0 3/5 5 1", which results keep; texts name it by its hash.
 */
#ifndef EXPR_SIZES_H
#define EXPR_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum {
	SIZES_DRAWS_MAX = 64
};

/* Whether a value's string is sizes; what sizes_check() may refuse. */
bool sizes_are(const char *string);

/* A line is a draw: numbers with blanks or a comma between them; # begins a comment. Errors: the
 * line of what is no size, no draw, too many. */
enum status sizes_read(const char *path, struct text *string, struct error *err);

/* What each draw must be: so many sizes of at most `most` with this sum. */
enum status sizes_check(
	const char *string, int64_t count, int64_t sum, int64_t most, struct error *err);

/* As texts name it: "sizes_0123456789abcdef". */
void sizes_format(const char *string, struct text *text);

/* Of a string that sizes_check() passed. */
size_t sizes_draw_count(const char *string);
/* Appends int32s: the sizes of a draw, or where each begins and the last one's end. */
void sizes_draw(const char *string, size_t draw, bool begins, struct text *elements);

#endif
