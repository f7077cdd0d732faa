/* SPDX-License-Identifier: MIT
 *
 * Memory that is taken piece by piece and given back all at once: the tree of an expression, its
 * constants. A zeroed arena is empty.
 */
#ifndef EXPR_ARENA_H
#define EXPR_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *blocks;
};

void *parse_arena_take(struct arena *arena, size_t size); /* zeroed, aligned for anything */
char *arena_copy_string(struct arena *arena, const char *string, size_t length);
void parse_arena_release(struct arena *arena);

#endif
