/* SPDX-License-Identifier: MIT
 *
 * Comparisons: equality of anything, order of numbers, membership in lists.
 */
#include <string.h>

#include "expr/operands.h"

enum status operands_equality(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct allowance *allowance,
	struct error *err)
{
	size_t left_weight = value_weight(*left), right_weight = value_weight(*right);
	enum status status = allowance_use(
		allowance, left_weight < right_weight ? left_weight : right_weight, err);
	*result = value_bool(value_equal(*left, *right) == (opcode == OPCODE_EQUAL));
	return status;
}

enum status operands_ordering(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err)
{
	double real;
	if (!value_as_real(*left, &real) || !value_as_real(*right, &real))
		return operands_refuse("two numbers", opcode, left, right, err);
	enum value_order order = value_compare(*left, *right);
	bool less = order == VALUE_LESS, greater = order == VALUE_GREATER;
	bool equal = order == VALUE_EQUAL;
	*result = value_bool(opcode == OPCODE_LESS         ? less
			     : opcode == OPCODE_LESS_EQUAL ? less || equal
			     : opcode == OPCODE_GREATER    ? greater
							   : greater || equal);
	return STATUS_OK;
}

enum status operands_membership(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct allowance *allowance,
	struct error *err)
{
	bool found = false;
	if (left->type == VALUE_STRING && right->type == VALUE_STRING) {
		found = strstr(right->string, left->string) != NULL;
	} else if (right->type == VALUE_LIST) {
		enum status status = allowance_use(allowance, value_weight(*right), err);
		if (status)
			return status;
		for (size_t i = 0; i < right->list->count && !found; i++)
			found = value_equal(*left, right->list->items[i]);
	} else {
		return operands_refuse("a list on the right", opcode, left, right, err);
	}
	*result = value_bool(found == (opcode == OPCODE_IN));
	return STATUS_OK;
}

/* The first of the smallest or largest, as Python's min and max. */
enum status operands_better(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct error *err)
{
	double real;
	if (!value_as_real(*left, &real) || !value_as_real(*right, &real))
		return operands_refuse("numbers", opcode, left, right, err);
	enum value_order wanted =
		opcode == OPCODE_MIN || opcode == OPCODE_MIN_LIST ? VALUE_LESS : VALUE_GREATER;
	*result = value_compare(*right, *left) == wanted ? *right : *left;
	return STATUS_OK;
}
