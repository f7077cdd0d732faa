/* SPDX-License-Identifier: MIT
 *
 * Slots and names of a family's expressions.
 */
#include "family/scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "spec/device_spec.h"

static const struct {
	const char *name;
	const char *hidden;
	unsigned contexts;
} extras[EXTRA_COUNT] = {
#define ROW(id, name, contexts, summary)                                                           \
	[EXTRA_##id] = {name, "model_" #id "_of_some_expressions", contexts},
	SCOPE_EXTRAS(ROW)
#undef ROW
};

size_t scope_add(struct scope *scope, const char *name)
{
	ARRAY_GROW(scope->names, scope->count, scope->capacity);
	scope->names[scope->count] = name;
	return scope->count++;
}

void scope_init(struct scope *scope, const char *const *key_names, size_t key_count)
{
	*scope = (struct scope){0};
	for (size_t i = 0; i < key_count; i++)
		scope_add(scope, key_names[i]);
	scope->device_at = scope->count;
	for (size_t i = 0; i < device_spec_name_count(); i++)
		scope_add(scope, device_spec_name(i));
	scope->extra_at = scope->count;
	for (size_t i = 0; i < EXTRA_COUNT; i++)
		scope_add(scope, extras[i].name);
	scope->parameter_at = scope->constant_at = scope->count;
}

void scope_release(struct scope *scope)
{
	free(scope->names);
	*scope = (struct scope){0};
}

int scope_find(const struct scope *scope, const char *name)
{
	for (size_t i = 0; i < scope->count; i++)
		if (strcmp(scope->names[i], name) == 0)
			return (int)i;
	return -1;
}

size_t scope_extra_slot(const struct scope *scope, enum scope_extra extra)
{
	return scope->extra_at + (size_t)extra;
}

const char *scope_hidden_name(enum scope_extra extra)
{
	return extras[extra].hidden;
}

struct name_table scope_table(
	const struct scope *scope, enum scope_context context, size_t count, const char *loop)
{
	struct name_table table = {0};

	if (count > scope->count)
		count = scope->count;
	for (size_t i = 0; i < count; i++) {
		size_t extra = i - scope->extra_at;
		const char *name = scope->names[i];

		if (i >= scope->extra_at && extra < EXTRA_COUNT) {
			if (!(extras[extra].contexts & (unsigned)context))
				name = extras[extra].hidden;
			else if (extra == EXTRA_LOOP && loop)
				name = loop;
		}
		name_table_add(&table, name);
	}
	return table;
}
