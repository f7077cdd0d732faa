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
 * or a double's range, is an error; lists and strings cannot be ordered; strings have no escapes;
 * range() returns a list; there are no subscripts, slices, attributes, and no calls of other
 * functions.
 *
 * Evaluation has no side effects and is bounded in time and memory: 65536 characters, 100 levels of
 * nesting, lists of 65536 values, 64 nested loop variables, and 1048576 steps per evaluation. A
 * step is a loop iteration, or the creation of or access to a list element.
 *
 * Compilation resolves names to indices of a name table. Evaluation reads an array of values with
 * these indices.
 */
#ifndef EXPR_EXPRESSION_H
#define EXPR_EXPRESSION_H

#include "base/error.h"
#include "expr/value.h"

struct expression;

struct name_table {
	const char **names; /* borrowed; NULL: no expression may read this index */
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
/* Returns a copy in which bound names (type other than VALUE_NONE) are replaced by their values and
 * constants are folded. values has one entry per name of the table. Subexpressions that would fail
 * stay and fail when evaluated. Strings are borrowed from values and from the expression, which
 * must outlive the copy. */
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

/* Every name that the expression reads must be bound (type other than VALUE_NONE) to a value that
 * is not a list. Items of a result list belong to `lists` or to the expression; if `lists` is NULL,
 * a list is an error. Strings live as long as the expression or their source value. Errors
 * (division by zero, overflow, wrong types, limits) name the column. Threads may evaluate one
 * expression concurrently. */
enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value_arena *lists, struct value *result, struct error *err);
/* Evaluates a condition by Python's rules of truth. A NULL expression is always true. This is the
 * fast path for constraints. */
enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err);
enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err); /* an integral float is accepted */
enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err);
enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err);

/* ---- bounds ---- */
/* An interval that contains a numeric value, both bounds included. False counts as 0 and True as 1.
 * Bounds are infinite if nothing is known or the value may not be a number. */
struct value_range {
	double low, high;
};
struct value_range value_range_of(struct value value);
bool value_range_is_false(struct value_range interval);
typedef struct value_range value_range_find(int index, void *context);
/* Returns bounds of the result when each name is in the interval that find() returns for its index.
 * They hold for every evaluation that does not fail. */
struct value_range expression_range(
	const struct expression *expression, value_range_find *find, void *context);

#endif
