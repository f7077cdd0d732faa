/* SPDX-License-Identifier: MIT
 *
 * What the operators and functions of the language do, for all types: the machine's slow path.
 */
#ifndef EXPR_OPERATOR_H
#define EXPR_OPERATOR_H

#include "base/error.h"
#include "expr/list.h"
#include "expr/opcode.h"

/* What one evaluation may use up. */
struct allowance {
	struct list_pool *pool;
	int64_t steps;
};

/* Messages have no place and no column: "expected ..., found ...". right is not read by operators
 * of one operand. */
enum status operator_apply(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct allowance *allowance, struct error *err);

/* A range: its first value, how many there are (at most INT64_MAX), and their distance. */
struct range {
	int64_t start, count, step;
};
/* count arguments of range(). */
enum status range_read(
	const struct value *arguments, size_t count, struct range *range, struct error *err);
/* Whether a value is in range(arguments); no list is made. */
enum status range_contains(const struct value *arguments, size_t count, struct value value,
	bool *contains, struct error *err);
enum status range_list(const struct range *range, struct value *result, struct allowance *allowance,
	struct error *err);

/* Uses up steps; error if there are not so many left. */
enum status allowance_use(struct allowance *allowance, size_t steps, struct error *err);
/* Appends to a list of the pool. */
enum status operator_append(
	struct list *list, struct value value, struct allowance *allowance, struct error *err);
enum status operator_new_list(struct list **list, struct allowance *allowance, struct error *err);

#endif
