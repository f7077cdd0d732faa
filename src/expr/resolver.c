/* SPDX-License-Identifier: MIT
 *
 * Names and their scopes; see resolver.h. As in Python, a loop variable is known from its `for` on
 * and in the element of the comprehension, and hides what has its name outside.
 */
#include "expr/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/parser.h"

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
	const char *const *functions = function_names();
	size_t function_count = 0, near_count = 0;
	const char **near =
		memory_zeroed(resolver->names->count + resolver->count + 3, sizeof(*near));
	while (functions[function_count] && strcmp(functions[function_count], node->name) != 0)
		function_count++;
	for (size_t i = 0; i < resolver->count; i++)
		near[near_count++] = resolver->variables[i].name;
	for (size_t i = 0; i < resolver->names->count; i++)
		near[near_count++] = resolver->names->names[i];
	near[near_count++] = "True";
	near[near_count++] = "False";
	resolver->unknown = true;
	if (functions[function_count]) {
		error_set(resolver->err, STATUS_BAD_INPUT,
			"%s: column %u: expected '(' after the function '%s', found none",
			resolver->where, node->column, node->name);
	} else {
		error_set(resolver->err, STATUS_BAD_INPUT,
			"%s: column %u: expected a known name, found '%s'", resolver->where,
			node->column, node->name);
		const char *nearest = name_nearest(node->name, near);
		if (nearest)
			error_hint(resolver->err, "did you mean %s?", nearest);
	}
	free(near);
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
	enum status status = STATUS_OK;
	if (node->kind == NODE_NAME)
		return resolve_name(resolver, node);
	if (node->kind != NODE_COMPREHENSION) {
		for (size_t i = 0; i < node->count && !status; i++)
			status = resolve_node(resolver, node->children[i]);
		return status;
	}
	size_t outside = resolver->count;
	node->index = resolver->next_index;
	for (size_t i = 1; i < node->count && !status; i++) {
		struct node *clause = node->children[i];
		status = resolve_node(resolver, clause->children[0]);
		if (clause->kind != NODE_FOR)
			continue;
		clause->index = resolver->next_index++;
		ARRAY_GROW(resolver->variables, resolver->count, resolver->capacity);
		resolver->variables[resolver->count++] =
			(struct variable){clause->name, clause->index};
	}
	if (!status)
		status = resolve_node(resolver, node->children[0]);
	node->local_end = resolver->next_index;
	resolver->count = outside;
	return status;
}

enum status resolve(struct node *root, const char *where, const struct name_table *names,
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
