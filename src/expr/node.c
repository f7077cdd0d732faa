/* SPDX-License-Identifier: MIT */
#include "expr/node.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "expr/expression.h"

struct node *node_new(struct value_arena *arena, enum node_kind kind, uint32_t column)
{
	struct node *node = value_arena_take(arena, sizeof(*node));
	node->kind = (uint8_t)kind;
	node->column = column;
	node->height = 1;
	return node;
}

void node_push(struct value_arena *arena, struct node *node, const struct node *child)
{
	node->children = value_arena_extend(arena, node->children, node->count, sizeof(*node));
	node->children[node->count++] = *child;
	if (child->height >= node->height)
		node->height = (uint16_t)(child->height + 1);
}

/* ---- names: as in Python, a loop variable is visible from its `for` on and in the element, and
 * hides outer names ---- */
struct resolver {
	const char *where;
	const struct name_table *names;
	/* visible loop variables, the innermost last */
	const char *variables[EVALUATION_LOCALS_MAX];
	int count;
	bool optional, unknown;
	struct error *err;
};

static enum status unknown_name(struct resolver *resolver, const struct node *node)
{
	resolver->unknown = true;
	if (resolver->optional)
		return STATUS_BAD_INPUT;
	CLEANUP(memory_free)
	const char **near =
		memory_zeroed(resolver->names->count + EVALUATION_LOCALS_MAX + 3, sizeof(*near));
	size_t near_count = 0;
	if (function_find(node->name, strlen(node->name)))
		return error_set(resolver->err, STATUS_BAD_INPUT,
			"%s: column %u: '%s' is a function, so '(' must follow it", resolver->where,
			node->column, node->name);
	for (int i = 0; i < resolver->count; i++)
		near[near_count++] = resolver->variables[i];
	const struct name_table *names = resolver->names;
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->names[(names->first_hinted + i) % names->count];
		if (name)
			near[near_count++] = name;
	}
	near[near_count++] = "True";
	near[near_count++] = "False";
	error_set(resolver->err, STATUS_BAD_INPUT, "%s: column %u: unknown name '%s'",
		resolver->where, node->column, node->name);
	return name_hint_or_list(node->name, near, resolver->err);
}

static enum status resolve_name(struct resolver *resolver, struct node *node)
{
	for (int i = resolver->count; i-- > 0;)
		if (!strcmp(resolver->variables[i], node->name)) {
			node->kind = NODE_LOCAL;
			node->index = i;
			return STATUS_OK;
		}
	node->index = name_table_find(resolver->names, node->name);
	if (node->index == NAME_UNKNOWN)
		return unknown_name(resolver, node);
	node->kind = NODE_VALUE;
	return STATUS_OK;
}

static enum status resolve_node(struct resolver *resolver, struct node *node)
{
	if (node->kind == NODE_NAME)
		return resolve_name(resolver, node);
	if (node->kind != NODE_COMPREHENSION) {
		for (size_t i = 0; i < node->count; i++)
			TRY(resolve_node(resolver, &node->children[i]));
		return STATUS_OK;
	}
	node->index = resolver->count;
	for (size_t i = 1; i < node->count; i++) {
		struct node *clause = &node->children[i];
		TRY(resolve_node(resolver, &clause->children[0]));
		if (clause->kind != NODE_FOR)
			continue;
		if (resolver->count == EVALUATION_LOCALS_MAX)
			return error_set(resolver->err, STATUS_BAD_INPUT,
				"%s: column %u: more than %d nested loop variables",
				resolver->where, clause->column, EVALUATION_LOCALS_MAX);
		clause->index = resolver->count;
		resolver->variables[resolver->count++] = clause->name;
	}
	TRY(resolve_node(resolver, &node->children[0]));
	resolver->count = node->index;
	return STATUS_OK;
}

enum status node_resolve(struct node *root, const char *where, const struct name_table *names,
	bool *unknown, struct error *err)
{
	struct resolver resolver = {
		.where = where, .names = names, .optional = unknown != NULL, .err = err};
	const enum status status = resolve_node(&resolver, root);
	if (!unknown || !resolver.unknown)
		return status;
	*unknown = true;
	return STATUS_OK;
}

enum {
	FOLD_STEPS_MAX = 1 << 12 /* longer computations are left to evaluation */
};

static void make_constant(struct node *node, struct value value)
{
	node->kind = NODE_CONSTANT;
	node->value = value;
	node->count = 0;
	node->height = 1;
}

static void make_child(struct node *node, size_t child)
{
	const struct node copy = node->children[child];
	*node = copy;
}

/* A constant operand of `and` or `or` is dropped or ends the chain. */
static void fold_logical(struct node *node)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < node->count; i++) {
		const struct node child = node->children[i];
		const bool constant = child.kind == NODE_CONSTANT, last = i + 1 == node->count;
		const bool ends =
			constant && value_truth(child.value) == (node->opcode == OPCODE_OR);
		if (!constant || ends || last)
			node->children[kept++] = child;
		if (ends)
			break;
	}
	node->count = kept;
	if (kept == 1)
		make_child(node, 0);
}

static void fold_by_evaluation(struct node *node, struct value_arena *arena)
{
	struct evaluation evaluation; /* loop variables need no initialisation */
	struct value room;
	evaluation.values = NULL;
	evaluation.arena = arena;
	evaluation.steps = FOLD_STEPS_MAX;
	evaluation.where = "";
	evaluation.err = NULL;
	const struct value *value = node_evaluate(&evaluation, node, &room);
	if (value)
		make_constant(node, *value);
}

/* Folds a subtree. Returns the smallest index of an outer loop variable that it reads, -1 if it
 * reads a name, and INT_MAX if it reads neither. */
static int fold(struct node *node, struct value_arena *arena)
{
	int outer = node->kind == NODE_VALUE   ? -1
		    : node->kind == NODE_LOCAL ? node->index
					       : INT_MAX;
	for (uint32_t i = 0; i < node->count; i++) {
		const int of_child = fold(&node->children[i], arena);
		if (of_child < outer)
			outer = of_child;
	}
	if (node->kind == NODE_COMPREHENSION && outer >= node->index)
		outer = INT_MAX; /* the subtree reads only its own loop variables and those of inner
				    lists */
	switch (node->kind) {
	case NODE_LOGICAL:
		fold_logical(node);
		break;
	case NODE_CONDITION:
		if (node->children[1].kind == NODE_CONSTANT) {
			const size_t chosen = value_truth(node->children[1].value) ? 0 : 2;
			make_child(node, chosen);
		}
		break;
	case NODE_UNARY:
	case NODE_BINARY:
	case NODE_IN_RANGE:
	case NODE_CHAIN:
	case NODE_LIST:
	case NODE_COMPREHENSION:
		if (outer == INT_MAX)
			fold_by_evaluation(node, arena);
		break;
	default: /* `x in range(...)` and loops use a range without creating its list */
		break;
	}
	return node->kind == NODE_CONSTANT ? INT_MAX : outer;
}

void node_fold(struct node *root, struct value_arena *arena)
{
	fold(root, arena);
}

void node_specialise(const struct node *root, const struct value *values, struct value_arena *arena,
	struct node *copy)
{
	*copy = *root;
	if (root->kind == NODE_VALUE && values[root->index].type != VALUE_NONE)
		make_constant(copy, values[root->index]);
	if (!root->count)
		return;
	copy->children = value_arena_take(arena, root->count * sizeof(struct node));
	for (uint32_t i = 0; i < root->count; i++)
		node_specialise(&root->children[i], values, arena, &copy->children[i]);
}
