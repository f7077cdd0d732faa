/* SPDX-License-Identifier: MIT
 *
 * Values of expressions. Strings and lists are borrowed from the expression, operation or space.
 */
#ifndef EXPR_VALUE_H
#define EXPR_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"

enum value_type {
	VALUE_NONE, /* not bound */
	VALUE_BOOL,
	VALUE_INT,
	VALUE_REAL,
	VALUE_STRING,
	VALUE_LIST,
};

struct value_list;

struct value {
	enum value_type type;
	union {
		bool boolean;
		int64_t integer;
		double real;
		const char *string;
		const struct value_list *list;
	};
};

struct value_list {
	struct value *items;
	size_t count;
	bool is_tuple; /* a tuple such as (1, 2), which never equals [1, 2] */
	/* Steps to compare or print the list: 1 plus the weights of its values. Set only in lists
	 * created by an expression. */
	size_t weight;
};

static inline struct value value_bool(bool boolean)
{
	return (struct value){.type = VALUE_BOOL, .boolean = boolean};
}
static inline struct value value_int(int64_t integer)
{
	return (struct value){.type = VALUE_INT, .integer = integer};
}
static inline struct value value_real(double real)
{
	return (struct value){.type = VALUE_REAL, .real = real};
}
static inline struct value value_string(const char *string)
{
	return (struct value){.type = VALUE_STRING, .string = string};
}

bool value_equal(struct value a, struct value b); /* equality as in Python: 1 == 1.0 == True */
bool value_truth(struct value value);             /* truth as in Python: 0, '' and [] are false */

/* Converts booleans and integers to an integer, or any number to a double. Returns false for other
 * types. */
bool value_as_int(struct value value, int64_t *integer);
bool value_as_real(struct value value, double *real);
/* Accepts an integer, or a real with an integral value that fits. */
bool value_whole(struct value value, int64_t *integer);

/* Exact order of two numbers, even of an integer and a real. Other types are unordered. */
enum value_order {
	VALUE_LESS,
	VALUE_EQUAL,
	VALUE_GREATER,
	VALUE_UNORDERED,
};
enum value_order value_compare(struct value a, struct value b);

const char *value_type_name(enum value_type type);
/* Appends the value as it is written on the command line: 128, 0.5, true, bf16 (without quotes). */
void value_format(struct value value, struct text *text);

struct json *value_to_json(struct value value);

/* Memory that is allocated in pieces and freed all at once. It holds expression trees, constants
 * and lists. A zeroed arena is empty. */
struct value_arena {
	struct value_arena_block *blocks;
};

/* Returns memory that is zeroed and aligned for any type. */
void *value_arena_take(struct value_arena *arena, size_t size);
/* Returns the array of `count` items, moved if necessary, with space for one more item. */
void *value_arena_extend(struct value_arena *arena, void *items, size_t count, size_t item_size);
char *value_arena_copy_string(struct value_arena *arena, const char *string, size_t length);
void value_arena_release(struct value_arena *arena);
void value_list_push(struct value_list *list, const struct value *value, struct value_arena *arena);

#endif
