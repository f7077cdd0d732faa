/* SPDX-License-Identifier: MIT
 *
 * Values of the expression language. Strings and lists are borrowed: they live as long as the
 * expression, operation or space that they came from.
 */
#ifndef EXPR_VALUE_H
#define EXPR_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"

enum value_type {
	VALUE_NONE, /* not bound yet */
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
	bool is_tuple; /* written (1, 2), which does not equal [1, 2] */
	/* Steps that comparing or printing the list takes: 1 and those of its values. Set only in
	 * lists that an expression made. */
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

bool value_equal(struct value a, struct value b); /* Python's ==: 1 == 1.0 == True */
bool value_truth(struct value value);             /* Python's truth: 0, '', [] are false */

/* Booleans and integers as integers, or any number as a double; false for other types. */
bool value_as_int(struct value value, int64_t *integer);
bool value_as_real(struct value value, double *real);
/* An integer, or a real that is one and fits. */
bool value_whole(struct value value, int64_t *integer);

/* The order of two numbers, exact between integers and reals; unordered for anything else. */
enum value_order {
	VALUE_LESS,
	VALUE_EQUAL,
	VALUE_GREATER,
	VALUE_UNORDERED,
};
enum value_order value_compare(struct value a, struct value b);

const char *value_type_name(enum value_type type);
/* As the command line writes it: 128, 0.5, true, bf16 (no quotes).
 */
void value_format(struct value value, struct text *text);

struct json *value_to_json(struct value value);

/* Memory that is taken piece by piece and given back all at once: the tree of an expression, its
 * constants, lists. A zeroed arena is empty. */
struct value_arena {
	struct value_arena_block *blocks;
};

void *value_arena_take(struct value_arena *arena, size_t size); /* zeroed, aligned for anything */
char *value_arena_copy_string(struct value_arena *arena, const char *string, size_t length);
void value_arena_release(struct value_arena *arena);
/* Appends to a list whose items lie in the arena. */
void value_list_push(struct value_list *list, const struct value *value, struct value_arena *arena);

#endif
