/* SPDX-License-Identifier: MIT
 *
 * Nodes; see node.h.
 */
#include "expr/node.h"

#include <string.h>

struct node *node_new(struct arena *arena, enum node_kind kind, uint32_t column)
{
	struct node *node = parse_arena_take(arena, sizeof(*node));
	node->kind = kind;
	node->column = column;
	node->height = 1;
	return node;
}

void node_adopt(struct arena *arena, struct node *node, struct node *const *children, size_t count)
{
	node->children = parse_arena_take(arena, count * sizeof(struct node *));
	node->count = count;
	node->height = 1;
	for (size_t i = 0; i < count; i++) {
		node->children[i] = children[i];
		if (children[i]->height >= node->height)
			node->height = children[i]->height + 1;
	}
}
