/* SPDX-License-Identifier: MIT
 *
 * Memory that is taken piece by piece and given back all at once: the tree of an expression, its
 * constants. A zeroed arena is empty.
 */
#ifndef EXPR_ARENA_H
#define EXPR_ARENA_H

#include <stddef.h>

struct value_arena {
	struct value_arena_block *blocks;
};

void *value_arena_take(struct value_arena *arena, size_t size); /* zeroed, aligned for anything */
char *value_arena_copy_string(struct value_arena *arena, const char *string, size_t length);
void value_arena_release(struct value_arena *arena);

#endif
