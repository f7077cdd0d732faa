/* SPDX-License-Identifier: MIT
 *
 * The expression language: a subset of Python expressions, compiled to a tree once and evaluated
 * millions of times.
 *
 * Integers (64 bits, overflow is an error), floats, strings, booleans, lists, tuples,
 * comprehensions over range(), lists and tuples; + - * / // % ** & | ^ << >> and unary + -;
 * comparisons that chain; and, or, not, in, not in; a if c else b; min max abs int any all ceil_div
 * round_up is_pow2 len range dtype_bytes. `//` and `%` floor as in Python; min and max take two
 * numbers or more, or one list; any, all, min and max also take a generator; `in` also looks for a
 * string in a string; `+` also joins lists. Differences from Python: a result that leaves 64 bits,
 * or a double's range, is an error; lists and strings have no order, strings no escapes; range()
 * makes a list; there are no subscripts, slices, attributes, and no calls of other functions.
 *
 * No code execution, no I/O, bounded time and memory: 65536 characters, 100 levels of nesting,
 * lists of 65536 values, 64 nested loop variables, and 1048576 steps per evaluation. A step is a
 * loop iteration, or a list element that is made or looked at.
 *
 * Names are resolved to indices of a name table when compiled; evaluation reads an array of values
 * by these.
 */
#ifndef EXPR_EXPRESSION_H
#define EXPR_EXPRESSION_H

#include "base/error.h"
#include "expr/value.h"

struct expression;

/* Names in the order of their indices. */
struct name_table {
	const char **names; /* borrowed strings; NULL: an index that no expression may read */
	size_t count;
	size_t capacity;
};
enum {
	NAME_UNKNOWN = -1
};
int name_table_find(const struct name_table *table, const char *name); /* index or NAME_UNKNOWN */
int name_table_add(struct name_table *table, const char *name); /* new index; BUG if present */
void name_table_release(struct name_table *table);
/* Letters, digits, '_', no digit first, no word of the language (and, if, True, ...). */
bool name_is_valid(const char *name);
bool name_is_function(const char *name); /* min, range, ... */

/* Compiles text. `where` is put in front of messages ("mma.json: $.constraints[3].expr"), which
 * read "where: column 7: expected ..., found ..." and offer the nearest name for an unknown one. */
enum status expression_compile(const char *text, const char *where, const struct name_table *names,
	struct expression **expression, struct error *err);
/* As above, but an unknown name is no error: *expression is NULL then (facts of other families). */
enum status expression_compile_optional(const char *text, const char *where,
	const struct name_table *names, struct expression **expression, struct error *err);
void expression_free(struct expression *expression); /* NULL is fine */
/* The expression with the names of values[] that are bound (type != VALUE_NONE) put in and all that
 * follows from them computed; values: one per name of the table. What would fail is left as it is,
 * to fail when evaluated. Strings are borrowed from values and from the expression, which both must
 * outlive it. */
struct expression *expression_specialise(
	const struct expression *expression, const struct value *values);
/* Whether it reads no name and its value was known when it was compiled or specialised; the value
 * is borrowed from the expression. */
bool expression_constant(const struct expression *expression, struct value *value);
const char *expression_text(const struct expression *expression);
const char *expression_where(const struct expression *expression);

/* Indices of the names that the expression reads, ascending; *count of them. Borrowed. */
const int *expression_indices(const struct expression *expression, size_t *count);

/* values[index] must be bound (type != VALUE_NONE) and no list for every name read. The items of a
 * list belong to `lists` or to the expression; NULL: a list is an error. Strings live as long as
 * the expression or the value that they came from. Errors: division by zero, overflow, types,
 * limits; with column. Threads may evaluate one expression at the same time. */
enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value_arena *lists, struct value *result, struct error *err);
/* Python's truth of the result; NULL: a condition that always holds. The fast path for constraints.
 */
enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err);
enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err); /* an integral float is accepted */
enum status expression_int_within(const struct expression *expression, const struct value *values,
	int64_t least, int64_t most, int64_t *result, struct error *err);
enum status expression_uint32(const struct expression *expression, const struct value *values,
	uint32_t least, uint32_t most, uint32_t *result, struct error *err);
enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err);
enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err);

/* ---- bounds ---- */
/* Numbers that a value may be, both bounds included; infinite bounds where nothing is known, which
 * includes values that are no numbers. False is 0, True is 1. */
struct value_range {
	double low, high;
};
struct value_range value_range_of(struct value value);
bool value_range_is_false(struct value_range interval);
typedef struct value_range value_range_find(int index, void *context);
/* Bounds of the result while each name lies in the interval that find() gives for its index. They
 * hold for every evaluation that does not fail. */
struct value_range expression_range(
	const struct expression *expression, value_range_find *find, void *context);

#endif
