/* SPDX-License-Identifier: MIT
 *
 * What the files behind operator_apply() share: one function per kind of operator, with the
 * arguments of operator_apply().
 */
#ifndef EXPR_OPERANDS_H
#define EXPR_OPERANDS_H

#include "expr/operator.h"

/* "expected <expectation> for '<operator>', found <left> and <right>"; right may be NULL. */
enum status operands_refuse(const char *expectation, enum opcode opcode, const struct value *left,
	const struct value *right, struct error *err);

/* + - * / // % ** of two numbers */
enum status operands_arithmetic(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err);
/* & | ^ << >> ceil_div round_up, of two integers */
enum status operands_integer(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err);
/* == != of anything */
enum status operands_equality(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct allowance *allowance,
	struct error *err);
/* < <= > >= of two numbers */
enum status operands_ordering(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err);
/* in, not in */
enum status operands_membership(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct allowance *allowance,
	struct error *err);
/* min, max of two numbers: the first of the smallest or largest, as Python's */
enum status operands_better(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct error *err);

#endif
