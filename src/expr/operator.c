/* SPDX-License-Identifier: MIT
 *
 * Operators of one operand and those on lists; what two operands do is in operands.c.
 */
#include "expr/operator.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const struct {
	const char *name;
	int64_t bytes;
} dtypes[] = {
	{"fp32", 4},
	{"tf32", 4},
	{"fp16", 2},
	{"bf16", 2},
	{"fp8_e4m3", 1},
	{"i32", 4},
};

static enum status concatenate(const struct value_list *left, const struct value_list *right,
	struct value *result, struct allowance *allowance, struct error *err)
{
	struct list *list;
	enum status status = operator_new_list(&list, allowance, err);
	for (size_t i = 0; i < left->count && !status; i++)
		status = operator_append(list, left->items[i], allowance, err);
	for (size_t i = 0; i < right->count && !status; i++)
		status = operator_append(list, right->items[i], allowance, err);
	if (!status)
		*result = (struct value){.type = VALUE_LIST, .list = &list->view};
	return status;
}

static enum status best_of_list(enum opcode opcode, const struct value *operand,
	struct value *result, struct allowance *allowance, struct error *err)
{
	if (operand->type != VALUE_LIST)
		return operands_refuse(
			"a list, or two numbers or more", opcode, operand, NULL, err);
	const struct value_list *list = operand->list;
	if (list->count == 0)
		return error_set(err, STATUS_BAD_INPUT,
			"expected a list with a value for '%s', found an empty one",
			opcode_symbol(opcode));
	struct value best = list->items[0];
	enum status status = allowance_use(allowance, list->count, err);
	if (list->count == 1 && !status)
		status = operands_better(opcode, &best, &best, &best, err);
	for (size_t i = 1; i < list->count && !status; i++)
		status = operands_better(opcode, &best, &list->items[i], &best, err);
	*result = best;
	return status;
}

/* ---- operators of one operand ---- */
static enum status sign(
	enum opcode opcode, const struct value *operand, struct value *result, struct error *err)
{
	int64_t integer;
	if (operand->type == VALUE_REAL) {
		*result = value_real(opcode == OPCODE_NEGATE ? -operand->real
				     : opcode == OPCODE_ABS  ? fabs(operand->real)
							     : operand->real);
		return STATUS_OK;
	}
	if (!value_as_int(*operand, &integer))
		return operands_refuse("a number", opcode, operand, NULL, err);
	if ((opcode == OPCODE_NEGATE || (opcode == OPCODE_ABS && integer < 0)) &&
		__builtin_sub_overflow((int64_t)0, integer, &integer))
		return operands_refuse("a result within 64 bits", opcode, operand, NULL, err);
	*result = value_int(integer);
	return STATUS_OK;
}

static enum status dtype_bytes(const struct value *operand, struct value *result, struct error *err)
{
	const char *names[ARRAY_COUNT(dtypes) + 1] = {0};
	if (operand->type != VALUE_STRING)
		return operands_refuse(
			"the name of a dtype", OPCODE_DTYPE_BYTES, operand, NULL, err);
	for (size_t i = 0; i < ARRAY_COUNT(dtypes); i++) {
		names[i] = dtypes[i].name;
		if (!strcmp(operand->string, dtypes[i].name)) {
			*result = value_int(dtypes[i].bytes);
			return STATUS_OK;
		}
	}
	operands_refuse("the name of a dtype", OPCODE_DTYPE_BYTES, operand, NULL, err);
	const char *near = name_nearest(operand->string, names);
	if (near)
		error_hint(err, "did you mean %s?", near);
	return STATUS_BAD_INPUT;
}

static enum status length(const struct value *operand, struct value *result, struct error *err)
{
	if (operand->type == VALUE_LIST)
		*result = value_int((int64_t)operand->list->count);
	else if (operand->type == VALUE_STRING)
		*result = value_int((int64_t)strlen(operand->string));
	else
		return operands_refuse("a list or a string", OPCODE_LEN, operand, NULL, err);
	return STATUS_OK;
}

static enum status is_pow2(const struct value *operand, struct value *result, struct error *err)
{
	int64_t integer;
	if (!value_as_int(*operand, &integer))
		return operands_refuse("an integer", OPCODE_IS_POW2, operand, NULL, err);
	*result = value_bool(integer_is_pow2(integer));
	return STATUS_OK;
}

enum status operator_apply(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct allowance *allowance, struct error *err)
{
	switch (opcode) {
	case OPCODE_ADD:
		if (left->type == VALUE_LIST && right->type == VALUE_LIST)
			return concatenate(left->list, right->list, result, allowance, err);
		return operands_arithmetic(opcode, left, right, result, err);
	case OPCODE_SUBTRACT:
	case OPCODE_MULTIPLY:
	case OPCODE_DIVIDE:
	case OPCODE_FLOOR_DIVIDE:
	case OPCODE_MODULO:
	case OPCODE_POWER:
		return operands_arithmetic(opcode, left, right, result, err);
	case OPCODE_BIT_AND:
	case OPCODE_BIT_OR:
	case OPCODE_BIT_XOR:
	case OPCODE_SHIFT_LEFT:
	case OPCODE_SHIFT_RIGHT:
	case OPCODE_CEIL_DIV:
	case OPCODE_ROUND_UP:
		return operands_integer(opcode, left, right, result, err);
	case OPCODE_EQUAL:
	case OPCODE_NOT_EQUAL:
		return operands_equality(opcode, left, right, result, allowance, err);
	case OPCODE_LESS:
	case OPCODE_LESS_EQUAL:
	case OPCODE_GREATER:
	case OPCODE_GREATER_EQUAL:
		return operands_ordering(opcode, left, right, result, err);
	case OPCODE_IN:
	case OPCODE_NOT_IN:
		return operands_membership(opcode, left, right, result, allowance, err);
	case OPCODE_MIN:
	case OPCODE_MAX:
		return operands_better(opcode, left, right, result, err);
	case OPCODE_MIN_LIST:
	case OPCODE_MAX_LIST:
		return best_of_list(opcode, left, result, allowance, err);
	case OPCODE_NEGATE:
	case OPCODE_PLUS:
	case OPCODE_ABS:
		return sign(opcode, left, result, err);
	case OPCODE_NOT:
		*result = value_bool(!value_truth(*left));
		return STATUS_OK;
	case OPCODE_IS_POW2:
		return is_pow2(left, result, err);
	case OPCODE_LEN:
		return length(left, result, err);
	case OPCODE_DTYPE_BYTES:
		return dtype_bytes(left, result, err);
	default:
		BUG("%s is no operator", opcode_symbol(opcode));
	}
}
