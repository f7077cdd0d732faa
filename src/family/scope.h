/* SPDX-License-Identifier: MIT
 *
 * Which names the expressions of a family may read, and in which slots their values stand:
 *
 *	problem keys | device names | extras | parameters | constants
 *
 * All contexts share one numbering, that of the bound space (space/space.h). An extra is a name
 * that only some contexts know (`lane` in shared-memory accesses, `spill_bytes` in prune rules);
 * elsewhere its slot has a name that nobody writes.
 */
#ifndef FAMILY_SCOPE_H
#define FAMILY_SCOPE_H

#include "expr/expression.h"

enum scope_context {
	SCOPE_PLAIN = 0,
	SCOPE_SMEM = 1,  /* addresses of shared-memory accesses */
	SCOPE_PRUNE = 2, /* after compilation */
	SCOPE_FACT = 4,
	SCOPE_RULE = 8,
};

enum scope_extra {
#define EXTRA(id, name, contexts, summary) EXTRA_##id,
#include "family/extra.def"
#undef EXTRA
	EXTRA_COUNT
};

struct scope {
	const char **names; /* borrowed strings; extras hold their visible names */
	size_t count, capacity;
	size_t device_at, extra_at, parameter_at, constant_at; /* first slot of each section */
};

/* Keys and device names; parameters and constants are added in order with scope_add(). */
void scope_init(struct scope *scope, const char *const *key_names, size_t key_count);
void scope_release(struct scope *scope);
/* The next slot. The caller has seen to it that the name is not in use (scope_find()). */
size_t scope_add(struct scope *scope, const char *name);
/* The slot of a name in any context, or -1. */
int scope_find(const struct scope *scope, const char *name);
size_t scope_extra_slot(const struct scope *scope, enum scope_extra extra);
/* The name that an extra has where nobody may see it. */
const char *scope_hidden_name(enum scope_extra extra);

/* The names of a context among the first `count` slots (SIZE_MAX: all); loop: the name of the loop
 * variable in SCOPE_RULE, else NULL. Release with name_table_release(). */
struct name_table scope_table(
	const struct scope *scope, enum scope_context context, size_t count, const char *loop);

#endif
