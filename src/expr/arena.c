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

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

void *parse_arena_take(struct arena *arena, size_t size)
{
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct arena_block *block = arena->blocks;
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

char *arena_copy_string(struct arena *arena, const char *string, size_t length)
{
	char *copy = parse_arena_take(arena, length + 1);
	memcpy(copy, string, length);
	return copy;
}

void parse_arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}
