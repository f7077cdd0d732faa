/* SPDX-License-Identifier: MIT
 *
 * A subset of Python's expressions, compiled to a tree and evaluated millions of times.
 *
 * Integers (64 bits, overflow is an error), floats, strings, booleans, lists, tuples,
 * comprehensions over range(), lists and tuples; + - * / // % ** & | ^ << >> and unary + -;
 * comparisons that chain; and, or, not, in, not in; a if c else b; min max abs int any all ceil_div
 * round_up is_pow2 len range dtype_bytes. Unlike Python: a result beyond 64 bits or a double is an
 * error; lists and strings have no order; strings have no escapes; range() gives a list; there are
 * no subscripts, attributes and other calls.
 *
 * Bounds: 65536 characters, 100 levels of nesting, lists of 65536 values, 64 nested loop variables,
 * 1048576 steps (a loop iteration, or a list element made or read).
 */
#ifndef EXPR_EXPRESSION_H
#define EXPR_EXPRESSION_H

#include "base/error.h"
#include "expr/value.h"

struct expression;

struct name_table {
	const char **names; /* borrowed; if a name is NULL, no expression may read its index */
	size_t count;
	size_t capacity;
	size_t first_hinted; /* hints list the names from this index first, e.g. the parameters */
};
enum {
	NAME_UNKNOWN = -1
};
int name_table_find(const struct name_table *table, const char *name); /* index or NAME_UNKNOWN */
/* Returns the new index. The name must not be in the table yet. */
int name_table_add(struct name_table *table, const char *name);
void name_table_release(struct name_table *table);
/* Returns whether name consists of letters, digits and '_', does not begin with a digit, and is no
 * keyword (and, if, True, ...). */
bool name_is_valid(const char *name);
bool name_is_function(const char *name);

/* Compiles text. Messages begin with `where` ("mma.json: $.constraints[3].expr") and the column,
 * and suggest the nearest name for an unknown one. */
enum status expression_compile(const char *text, const char *where, const struct name_table *names,
	struct expression **expression, struct error *err);
/* Compiles text, but sets *expression to NULL if a name is unknown. Used for facts that other
 * families define. */
enum status expression_compile_optional(const char *text, const char *where,
	const struct name_table *names, struct expression **expression, struct error *err);
void expression_free(struct expression *expression); /* NULL is fine */
/* Returns a copy in which bound names are constants, and folds it. Strings are borrowed from values
 * and the expression. An operation that fails is retained and fails when it is evaluated. */
struct expression *expression_specialise(
	const struct expression *expression, const struct value *values);
/* Returns whether the expression reads no name and has a known value. The value is borrowed from
 * the expression. */
bool expression_constant(const struct expression *expression, struct value *value);
const char *expression_text(const struct expression *expression);
const char *expression_where(const struct expression *expression);

/* Returns the ascending indices of the names that the expression reads, and their number in *count.
 * Borrowed. */
const int *expression_indices(const struct expression *expression, size_t *count);

/* Names must be bound to values other than lists. Items of a result list belong to `lists` or to
 * the expression; without `lists`, a list is an error. Strings belong to the expression or to the
 * bound values. Errors name the column. Threads may share an expression. */
enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value_arena *lists, struct value *result, struct error *err);
/* Evaluates the truth of the result as in Python. A NULL expression is true. */
enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err);
enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err); /* accepts a float with an integral value */
enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err);
enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err);

/* ---- bounds ---- */
/* An interval that includes both bounds. Unknown bounds are infinite. False is 0, True is 1. */
struct value_range {
	double low, high;
};
struct value_range value_range_of(struct value value);
bool value_range_is_false(struct value_range interval);
typedef struct value_range value_range_find(int index, void *context);
/* Returns bounds of the results of all evaluations that do not fail. find() returns the interval of
 * a name. */
struct value_range expression_range(
	const struct expression *expression, value_range_find *find, void *context);

#endif
