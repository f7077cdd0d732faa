/* SPDX-License-Identifier: MIT */
#include "expr/node.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/expression.h"
#include "expr/machine.h"

struct node *node_new(struct value_arena *arena, enum node_kind kind, uint32_t column)
{
	struct node *node = value_arena_take(arena, sizeof(*node));
	node->kind = kind;
	node->column = column;
	node->height = 1;
	return node;
}

void node_adopt(
	struct value_arena *arena, struct node *node, struct node *const *children, size_t count)
{
	node->children = value_arena_take(arena, count * sizeof(struct node *));
	node->count = count;
	node->height = 1;
	for (size_t i = 0; i < count; i++) {
		node->children[i] = children[i];
		if (children[i]->height >= node->height)
			node->height = children[i]->height + 1;
	}
}

/* ---- names: as in Python, a loop variable is known from its `for` on and in the element of the
 * comprehension, and hides what has its name outside ---- */
struct resolver {
	const char *where;
	const struct name_table *names;
	struct variable {
		const char *name;
		int index;
	} * variables; /* in scope; the last hides those before it */
	size_t count, capacity;
	int next_index;
	bool unknown;
	struct error *err;
};

static enum status unknown_name(struct resolver *resolver, const struct node *node)
{
	CLEANUP(memory_free)
	const char **near =
		memory_zeroed(resolver->names->count + resolver->count + 3, sizeof(*near));
	size_t near_count = 0;
	resolver->unknown = true;
	if (function_find(node->name, strlen(node->name)))
		return error_set(resolver->err, STATUS_BAD_INPUT,
			"%s: column %u: expected '(' after the function '%s', found none",
			resolver->where, node->column, node->name);
	for (size_t i = 0; i < resolver->count; i++)
		near[near_count++] = resolver->variables[i].name;
	for (size_t i = 0; i < resolver->names->count; i++)
		near[near_count++] = resolver->names->names[i];
	near[near_count++] = "True";
	near[near_count++] = "False";
	error_set(resolver->err, STATUS_BAD_INPUT,
		"%s: column %u: expected a known name, found '%s'", resolver->where, node->column,
		node->name);
	const char *nearest = name_nearest(node->name, near);
	if (nearest)
		error_hint(resolver->err, "did you mean %s?", nearest);
	return STATUS_BAD_INPUT;
}

static enum status resolve_name(struct resolver *resolver, struct node *node)
{
	for (size_t i = resolver->count; i-- > 0;)
		if (!strcmp(resolver->variables[i].name, node->name)) {
			node->kind = NODE_LOCAL;
			node->index = resolver->variables[i].index;
			return STATUS_OK;
		}
	node->index = name_table_find(resolver->names, node->name);
	if (node->index == NAME_UNKNOWN)
		return unknown_name(resolver, node);
	node->kind = NODE_SLOT;
	return STATUS_OK;
}

static enum status resolve_node(struct resolver *resolver, struct node *node)
{
	if (node->kind == NODE_NAME)
		return resolve_name(resolver, node);
	if (node->kind != NODE_COMPREHENSION) {
		for (size_t i = 0; i < node->count; i++)
			TRY(resolve_node(resolver, node->children[i]));
		return STATUS_OK;
	}
	size_t outside = resolver->count;
	node->index = resolver->next_index;
	for (size_t i = 1; i < node->count; i++) {
		struct node *clause = node->children[i];
		TRY(resolve_node(resolver, clause->children[0]));
		if (clause->kind != NODE_FOR)
			continue;
		clause->index = resolver->next_index++;
		ARRAY_GROW(resolver->variables, resolver->count, resolver->capacity);
		resolver->variables[resolver->count++] =
			(struct variable){clause->name, clause->index};
	}
	TRY(resolve_node(resolver, node->children[0]));
	node->local_end = resolver->next_index;
	resolver->count = outside;
	return STATUS_OK;
}

enum status node_resolve(struct node *root, const char *where, const struct name_table *names,
	bool *unknown, struct error *err)
{
	struct resolver resolver = {.where = where, .names = names, .err = unknown ? NULL : err};
	enum status status = resolve_node(&resolver, root);
	free(resolver.variables);
	if (!unknown)
		return status;
	*unknown = resolver.unknown;
	return STATUS_OK;
}

/* ---- constant folding ---- */
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

static struct node *fold_by_running(struct node *node, struct value_arena *arena)
{
	struct program program;
	struct run run;
	node->tried = true;
	if (program_build(&program, node, "", NULL) != STATUS_OK)
		return node;
	if (run_program(&run, &program, NULL, FOLD_STEPS_MAX, "", NULL) == STATUS_OK &&
		value_weight(*run.result) <= FOLD_WEIGHT_MAX)
		make_constant(node, value_copy_lists(*run.result, arena));
	run_end(&run);
	program_release(&program);
	return node;
}

static struct node *fold_list(struct node *node, struct value_arena *arena)
{
	if (node->count > LIST_COUNT_MAX)
		return node;
	struct list *list = value_arena_take(arena, sizeof(*list));
	list->view.items = value_arena_take(arena, node->count * sizeof(struct value));
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

struct node *node_fold(struct node *node, struct value_arena *arena)
{
	for (size_t i = 0; i < node->count; i++)
		node->children[i] = node_fold(node->children[i], arena);
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
	const struct node *root, const struct value *values, struct value_arena *arena)
{
	struct node *copy = value_arena_take(arena, sizeof(*copy));
	*copy = *root;
	copy->tried = false;
	if (root->kind == NODE_SLOT && values[root->index].type != VALUE_NONE)
		return make_constant(copy, values[root->index]);
	copy->children = value_arena_take(arena, root->count * sizeof(struct node *));
	for (size_t i = 0; i < root->count; i++)
		copy->children[i] = node_specialise(root->children[i], values, arena);
	return copy;
}
