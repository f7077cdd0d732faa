/* SPDX-License-Identifier: MIT
 *
 * Constant folding; see folder.h.
 */
#include "expr/folder.h"

#include "expr/program.h"

enum {
	FOLD_STEPS_MAX = 1 << 14, /* what takes longer is left for the run */
	FOLD_WEIGHT_MAX = 1024    /* values in a folded list */
};

/* A range of constants counts: no list is made of it where none is needed. */
static bool all_constant(const struct node *node)
{
	for (size_t i = 0; i < node->count; i++) {
		const struct node *child = node->children[i];
		if (child->kind == NODE_RANGE ? !all_constant(child) : child->kind != NODE_CONSTANT)
			return false;
	}
	return true;
}

static struct node *make_constant(struct node *node, struct value value)
{
	node->kind = NODE_CONSTANT;
	node->value = value;
	node->count = 0;
	node->height = 1;
	return node;
}

/* Whether a comprehension needs nothing from outside: no slot, no loop variable but its own. What
 * was tried and failed in it would fail in it again. */
static bool is_closed(const struct node *node, const struct node *comprehension)
{
	if (node->kind == NODE_SLOT || node->tried)
		return false;
	if (node->kind == NODE_LOCAL)
		return node->index >= comprehension->index &&
		       node->index < comprehension->local_end;
	for (size_t i = 0; i < node->count; i++)
		if (!is_closed(node->children[i], comprehension))
			return false;
	return true;
}

static struct node *fold_by_running(struct node *node, struct arena *arena)
{
	struct program program;
	const struct value *result;
	node->tried = true;
	if (program_build(&program, node, "", NULL) != STATUS_OK)
		return node;
	if (program_run(&program, NULL, FOLD_STEPS_MAX, &result, "", NULL) == STATUS_OK &&
		value_weight(*result) <= FOLD_WEIGHT_MAX)
		make_constant(node, value_copy_lists(*result, arena));
	program_release(&program);
	return node;
}

static struct node *fold_list(struct node *node, struct arena *arena)
{
	if (node->count > LIST_COUNT_MAX)
		return node;
	struct list *list = parse_arena_take(arena, sizeof(*list));
	list->view.items = parse_arena_take(arena, node->count * sizeof(struct value));
	list->view.count = list->capacity = node->count;
	list->weight = 1;
	for (size_t i = 0; i < node->count; i++) {
		list->view.items[i] = node->children[i]->value;
		list->weight += value_weight(node->children[i]->value);
	}
	if (list->weight > LIST_WEIGHT_MAX)
		return node;
	return make_constant(node, (struct value){.type = VALUE_LIST, .list = &list->view});
}

/* Constant operands of `and` and `or` either are passed over or end it. */
static struct node *fold_logical(struct node *node)
{
	size_t kept = 0;
	for (size_t i = 0; i < node->count; i++) {
		struct node *child = node->children[i];
		bool constant = child->kind == NODE_CONSTANT, last = i + 1 == node->count;
		bool ends = constant && value_truth(child->value) == (node->kind == NODE_OR);
		if (!constant || ends || last)
			node->children[kept++] = child;
		if (ends)
			break;
	}
	node->count = kept;
	return kept == 1 ? node->children[0] : node;
}

struct node *fold(struct node *node, struct arena *arena)
{
	for (size_t i = 0; i < node->count; i++)
		node->children[i] = fold(node->children[i], arena);
	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		return fold_logical(node);
	case NODE_CONDITION:
		if (node->children[1]->kind != NODE_CONSTANT)
			return node;
		return node->children[value_truth(node->children[1]->value) ? 0 : 2];
	case NODE_LIST:
		for (size_t i = 0; i < node->count; i++)
			if (node->children[i]->kind != NODE_CONSTANT)
				return node;
		return fold_list(node, arena);
	case NODE_UNARY:
	case NODE_BINARY:
	case NODE_CHAIN:
	case NODE_RANGE:
		break;
	case NODE_COMPREHENSION:
		return is_closed(node, node) ? fold_by_running(node, arena) : node;
	default:
		return node;
	}
	/* `x in range(...)` and loops over ranges do without the list */
	if (node->kind == NODE_RANGE || !all_constant(node))
		return node;
	return fold_by_running(node, arena);
}

struct node *node_specialise(
	const struct node *root, const struct value *values, struct arena *arena)
{
	struct node *copy = parse_arena_take(arena, sizeof(*copy));
	*copy = *root;
	copy->tried = false;
	if (root->kind == NODE_SLOT && values[root->index].type != VALUE_NONE)
		return make_constant(copy, values[root->index]);
	copy->children = parse_arena_take(arena, root->count * sizeof(struct node *));
	for (size_t i = 0; i < root->count; i++)
		copy->children[i] = node_specialise(root->children[i], values, arena);
	return copy;
}
