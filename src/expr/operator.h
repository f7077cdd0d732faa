/* SPDX-License-Identifier: MIT
 *
 * What the operators and functions of the language do, for all types: the machine's slow path.
 */
#ifndef EXPR_OPERATOR_H
#define EXPR_OPERATOR_H

#include "base/error.h"
#include "expr/operands.h"

/* Messages have no place and no column: "expected ..., found ...". right is not read by operators
 * of one operand. */
enum status operator_apply(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct allowance *allowance, struct error *err);

#endif
