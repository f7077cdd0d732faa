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

/* Names that only some contexts know: id, name, the contexts, summary. */
#define SCOPE_EXTRAS(ROW)                                                                          \
	ROW(LANE, "lane", SCOPE_SMEM, "thread of a warp, 0 to 31")                                 \
	ROW(LOOP, "<loop variable>", SCOPE_RULE, "the value that a rule tries; the rule names it") \
	ROW(SMEM_BYTES, "smem_bytes", SCOPE_PRUNE | SCOPE_FACT | SCOPE_RULE, "static and dynamic") \
	ROW(BLOCKS_PER_SM, "blocks_per_sm", SCOPE_PRUNE | SCOPE_FACT | SCOPE_RULE,                 \
		"resident at once")                                                                \
	ROW(REGS_PER_THREAD, "regs_per_thread", SCOPE_PRUNE, "as the compiler says")               \
	ROW(SPILL_BYTES, "spill_bytes", SCOPE_PRUNE, "stores and loads of spilled registers")      \
	ROW(WGMMA_SERIALIZED, "wgmma_serialized", SCOPE_PRUNE, "the flag of that name")            \
	ROW(SETMAXNREG_IGNORED, "setmaxnreg_ignored", SCOPE_PRUNE, "the flag of that name")        \
	ROW(DRAM_BYTES_PER_S, "dram_bytes_per_s", SCOPE_FACT | SCOPE_RULE,                         \
		"the sheet's rates from here on")                                                  \
	ROW(L2_BYTES_PER_S, "l2_bytes_per_s", SCOPE_FACT | SCOPE_RULE, "whole chip")               \
	ROW(TENSOR_MMA_FLOP_PER_S, "tensor_mma_flop_per_s", SCOPE_FACT | SCOPE_RULE,               \
		"for the key dtype, whole chip; 0: none")                                          \
	ROW(TENSOR_WGMMA_FLOP_PER_S, "tensor_wgmma_flop_per_s", SCOPE_FACT | SCOPE_RULE,           \
		"for the key dtype, whole chip; 0: none")                                          \
	ROW(LAUNCH_US, "launch_us", SCOPE_FACT | SCOPE_RULE, "of one more kernel")

enum scope_extra {
#define ROW(id, name, contexts, summary) EXTRA_##id,
	SCOPE_EXTRAS(ROW)
#undef ROW
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
