/* SPDX-License-Identifier: MIT
 *
 * Arena; see arena.h.
 */
#include "expr/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	BLOCK_BYTES = 4000,
	ALIGNMENT = 16
};

struct value_arena_block {
	struct value_arena_block *next;
	size_t used, size;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

void *value_arena_take(struct value_arena *arena, size_t size)
{
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct value_arena_block *block = arena->blocks;
	if (!block || block->size - block->used < size) {
		size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
		block = memory_zeroed(1, sizeof(*block) + room);
		block->size = room;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	void *piece = block->bytes + block->used;
	block->used += size;
	return piece;
}

char *value_arena_copy_string(struct value_arena *arena, const char *string, size_t length)
{
	char *copy = value_arena_take(arena, length + 1);
	memcpy(copy, string, length);
	return copy;
}

void value_arena_release(struct value_arena *arena)
{
	while (arena->blocks) {
		struct value_arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}
