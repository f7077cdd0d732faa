/* SPDX-License-Identifier: MIT
 *
 * Expressions as members of records (record/record.h). In JSON a string is an expression. A
 * number, a boolean or a list of literals is a literal; strings in such a list are literal.
 */
#ifndef FAMILY_EXPRESSION_JSON_H
#define FAMILY_EXPRESSION_JSON_H

#include "record/record_read.h"
#include "expr/expression.h"

/* ---- scopes ----
 * The names that a family's expressions may read, in the order of their values:
 *
 *	problem keys | device names | extras | parameters | constants
 *
 * All contexts share one numbering, that of the bound space (space/space.h). An extra is a name
 * that only some contexts know (`lane` in shared-memory accesses, `spill_bytes` in prune rules);
 * elsewhere its index has no name.
 */
enum scope_context {
	SCOPE_PLAIN = 0,
	SCOPE_SMEM = 1,
	SCOPE_PRUNE = 2, /* after compilation */
	SCOPE_FACT = 4,
	SCOPE_FIXED = 8, /* reads only keys and device names */
};

/* Names that exist only in some contexts. Columns: id, name, contexts, description. */
#define SCOPE_EXTRAS(ROW)                                                                          \
	ROW(LANE, "lane", SCOPE_SMEM, "thread of a warp, 0 to 31")                                 \
	ROW(SMEM_BYTES, "smem_bytes", SCOPE_PRUNE | SCOPE_FACT, "static and dynamic")              \
	ROW(BLOCKS_PER_SM, "blocks_per_sm", SCOPE_PRUNE | SCOPE_FACT, "resident at once")          \
	ROW(REGS_PER_THREAD, "regs_per_thread", SCOPE_PRUNE, "as the compiler says")               \
	ROW(SPILL_BYTES, "spill_bytes", SCOPE_PRUNE, "stores and loads of spilled registers")      \
	ROW(STACK_BYTES, "stack_bytes", SCOPE_PRUNE,                                               \
		"local memory of a thread, the most of a launch")                                  \
	ROW(WGMMA_SERIALIZED, "wgmma_serialized", SCOPE_PRUNE, "the flag of that name")            \
	ROW(SETMAXNREG_IGNORED, "setmaxnreg_ignored", SCOPE_PRUNE, "the flag of that name")        \
	ROW(DRAM_BYTES_PER_S, "dram_bytes_per_s", SCOPE_FACT, "the sheet's rates from here on")    \
	ROW(L2_BYTES_PER_S, "l2_bytes_per_s", SCOPE_FACT, "whole chip")                            \
	ROW(TENSOR_MMA_FLOP_PER_S, "tensor_mma_flop_per_s", SCOPE_FACT,                            \
		"for the key dtype, whole chip; 0: none")                                          \
	ROW(TENSOR_WGMMA_FLOP_PER_S, "tensor_wgmma_flop_per_s", SCOPE_FACT,                        \
		"for the key dtype, whole chip; 0: none")                                          \
	ROW(LAUNCH_US, "launch_us", SCOPE_FACT, "of one more kernel")

enum scope_extra {
#define ROW(id, name, contexts, summary) EXTRA_##id,
	SCOPE_EXTRAS(ROW)
#undef ROW
	EXTRA_COUNT
};

struct scope {
	struct name_table all; /* a NULL entry hides an extra whose name the family itself uses */
	size_t device_at, extra_at, parameter_at, constant_at; /* first index of each section */
};

void scope_init(struct scope *scope, const char *const *key_names, size_t key_count);
void scope_release(struct scope *scope);
/* Returns whether no key, device name, parameter or constant has this name. Hides an extra of this
 * name, because a macro may be called `blocks_per_sm`. */
bool scope_frees(struct scope *scope, const char *name);
size_t scope_extra_index(const struct scope *scope, enum scope_extra extra);

/* Returns the names that a context may use; release them with name_table_release(). */
struct name_table scope_table(const struct scope *scope, enum scope_context context);

/* ---- reading ---- */
/* Context of all readers in this folder: the object that is read, and the names that it may use. */
struct expression_reading {
	const struct operation *operation;
	struct family *family;     /* NULL while the operation itself is read */
	const struct scope *scope; /* every name that is in use */
	const struct name_table *names;
	struct name_table fixed; /* keys and device names */
	/* names of SCOPE_SMEM and SCOPE_PRUNE; created by reading_names() */
	struct name_table lane, prune;
};
const struct name_table *reading_names(
	struct expression_reading *reading, enum scope_context context);
void reading_release(struct expression_reading *reading);

#define EXPRESSION(type, field, key, ...)                                                          \
	RECORD_CUSTOM(type, field, &expression_member, key, ##__VA_ARGS__)
#define EXPRESSION_OPTIONAL(type, field, key) EXPRESSION(type, field, key, .flags = RECORD_OPTIONAL)
extern const struct record_custom expression_member;
extern const struct record_custom expression_fixed_member; /* reads only `fixed` */
/* Also accepts a list of expressions, whose values are added up. */
extern const struct record_custom expression_sum_member;

/* Defines a member for expressions over other names. `table` is a const struct name_table * and may
 * use `reading`. */
#define EXPRESSION_CUSTOM(storage, id, table)                                                      \
	static enum status id##_read(                                                              \
		const struct json_at *at, void *field, void *context, struct error *err)           \
	{                                                                                          \
		struct expression_reading *reading = context;                                      \
                                                                                                   \
		return expression_json_compile(at, (table), field, err);                           \
	}                                                                                          \
	storage const struct record_custom id = {id##_read, NULL, expression_member_release}

enum status expression_json_compile(const struct json_at *at, const struct name_table *names,
	struct expression **expression, struct error *err);
/* Compiles `text`, which is a part of the member's text. */
enum status expression_text_compile(const struct json_at *at, const char *text,
	const struct name_table *names, struct expression **expression, struct error *err);
/* Compiles a string member of an object. *expression stays NULL if the member is absent or reads an
 * unknown name. */
enum status expression_compile_member(const struct json_at *at, const char *name,
	const struct name_table *names, struct expression **expression, struct error *err);
void expression_member_release(void *field);

struct expression_list {
	struct expression **items;
	size_t count;
};

/* Accepts fewer than 48 letters, digits and _, except words of the expression language. The first
 * must not be a digit. */
extern const struct record_rule name_rule;
/* Also accepts words of the expression language, such as `in`. */
extern const struct record_rule tensor_name_rule;

struct condition {
	struct expression *expression;
	const char *why; /* borrowed from the JSON tree */
};
struct condition_list {
	struct condition *items;
	size_t count;
};
RECORD_DECLARE(struct condition, condition_record);

#endif
