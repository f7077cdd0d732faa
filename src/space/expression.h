/* SPDX-License-Identifier: MIT
 *
 * The expression language: a subset of Python expressions, compiled to bytecode once and
 * evaluated millions of times.
 *
 * Integers (64 bits, overflow is an error), floats, strings, booleans, lists, comprehensions over
 * range() and lists; + - * / // % ** & | ^ << >> and unary + -; comparisons that chain; and, or,
 * not, in, not in; a if c else b; min max abs ceil_div round_up is_pow2 len dtype_bytes. `//` and
 * `%` floor as Python's. No code execution, no I/O, bounded time and memory (a list has at most
 * 65536 elements, a program a bounded stack).
 *
 * Names are resolved to slots of a name table when compiled; evaluation reads an array of values
 * indexed by slot.
 */
#ifndef SPACE_EXPRESSION_H
#define SPACE_EXPRESSION_H

#include "base/error.h"
#include "space/value.h"

struct expression;

/* Names in the order of their slots. */
struct name_table {
	const char **names; /* borrowed strings */
	size_t count;
	size_t capacity;
};
enum {
	NAME_UNKNOWN = -1
};
int name_table_find(const struct name_table *table, const char *name); /* slot or NAME_UNKNOWN */
int name_table_add(struct name_table *table, const char *name); /* new slot; BUG if present */
void name_table_release(struct name_table *table);

/* Compiles text. `where` is put in front of messages ("mma.json: $.constraints[3].expr"), which
 * read "where: column 7: expected ..., found ..." and offer the nearest name for an unknown one. */
enum status expression_compile(const char *text, const char *where, const struct name_table *names,
	struct expression **expression, struct error *err);
/* As above, but an unknown name is no error: *expression is NULL then (facts of other families). */
enum status expression_compile_optional(const char *text, const char *where,
	const struct name_table *names, struct expression **expression, struct error *err);
void expression_free(struct expression *expression);
const char *expression_text(const struct expression *expression);
const char *expression_where(const struct expression *expression);

/* Slots that the expression reads, ascending; *count of them. Borrowed. */
const int *expression_slots(const struct expression *expression, size_t *count);

/* values[slot] must be bound (type != VALUE_NONE) for every slot read. A list result is borrowed
 * from the expression and valid until its next evaluation; copy it to keep it. Errors: division
 * by zero, overflow, types; with column. Not thread-safe for one expression. */
enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value *result, struct error *err);
/* Python's truth of the result. The fast path for constraints. */
enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err);
enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err); /* an integral float is accepted */
enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err);
enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err);

#endif
