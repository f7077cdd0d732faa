/* SPDX-License-Identifier: MIT
 *
 * Results are Python's, except that whatever leaves 64 bits, or a double's range, is an error.
 */
#include "expr/operands.h"

#include <math.h>
#include <string.h>

const char *opcode_symbol(enum opcode opcode)
{
	static const char *const symbols[OPCODE_COUNT] = {
#define ROW(id, symbol) symbol,
		OPCODES(ROW)
#undef ROW
	};
	return symbols[opcode];
}

static void describe(struct value value, struct text *text)
{
	if (value.type == VALUE_LIST) {
		text_append(text, "a list");
	} else if (value.type == VALUE_STRING) {
		text_appendf(text, "'%.40s'", value.string);
	} else {
		value_format(value, text);
	}
}

/* "expected <expectation> for <operator>, found <left> and <right>" */
enum status operands_refuse(const char *expectation, enum opcode opcode, const struct value *left,
	const struct value *right, struct error *err)
{
	struct text found = {0};
	describe(*left, &found);
	if (right) {
		text_append(&found, " and ");
		describe(*right, &found);
	}
	error_set(err, STATUS_BAD_INPUT, "expected %s for '%s', found %s", expectation,
		opcode_symbol(opcode), found.data);
	text_release(&found);
	return STATUS_BAD_INPUT;
}

/* ---- arithmetic ---- */
static enum status int_arithmetic(
	enum opcode opcode, int64_t a, int64_t b, struct value *result, struct error *err)
{
	const struct value left = value_int(a), right = value_int(b);
	int64_t integer = 0;
	bool fits = true;
	switch (opcode) {
	case OPCODE_ADD:
		fits = !__builtin_add_overflow(a, b, &integer);
		break;
	case OPCODE_SUBTRACT:
		fits = !__builtin_sub_overflow(a, b, &integer);
		break;
	case OPCODE_MULTIPLY:
		fits = !__builtin_mul_overflow(a, b, &integer);
		break;
	case OPCODE_POWER:
		fits = integer_power(a, b, &integer);
		break;
	case OPCODE_SHIFT_LEFT:
	case OPCODE_SHIFT_RIGHT:
		if (b < 0)
			return operands_refuse("a count of at least 0", opcode, &left, &right, err);
		if (opcode == OPCODE_SHIFT_LEFT)
			fits = integer_shift_left(a, b, &integer);
		else
			integer = integer_shift_right(a, b);
		break;
	case OPCODE_BIT_AND:
		integer = a & b;
		break;
	case OPCODE_BIT_OR:
		integer = a | b;
		break;
	case OPCODE_BIT_XOR:
		integer = a ^ b;
		break;
	default: /* the divisions */
		if (b == 0)
			return operands_refuse(
				"a divisor other than 0", opcode, &left, &right, err);
		if (opcode == OPCODE_FLOOR_DIVIDE)
			fits = integer_floor_div(a, b, &integer);
		else if (opcode == OPCODE_MODULO)
			fits = integer_modulo(a, b, &integer);
		else if (opcode == OPCODE_CEIL_DIV)
			fits = integer_ceil_div(a, b, &integer);
		else
			fits = integer_round_up(a, b, &integer);
	}
	if (!fits)
		return operands_refuse("a result within 64 bits", opcode, &left, &right, err);
	*result = value_int(integer);
	return STATUS_OK;
}

/* floor(a / b) and the remainder with the sign of b, as Python computes them. */
static double real_floor_div(double a, double b, double *remainder)
{
	double rest = fmod(a, b), quotient = (a - rest) / b;
	if (rest != 0 && (b < 0) != (rest < 0)) {
		rest += b;
		quotient -= 1;
	}
	*remainder = rest != 0 ? rest : copysign(0, b);
	if (quotient == 0)
		return copysign(0, a / b);
	double whole = floor(quotient);
	return quotient - whole > 0.5 ? whole + 1 : whole;
}

static enum status real_arithmetic(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err)
{
	double a = 0, b = 0, real, remainder;
	value_as_real(*left, &a);
	value_as_real(*right, &b);
	bool divides =
		opcode == OPCODE_DIVIDE || opcode == OPCODE_FLOOR_DIVIDE || opcode == OPCODE_MODULO;
	if (divides && b == 0)
		return operands_refuse("a divisor other than 0", opcode, left, right, err);
	switch (opcode) {
	case OPCODE_ADD:
		real = a + b;
		break;
	case OPCODE_SUBTRACT:
		real = a - b;
		break;
	case OPCODE_MULTIPLY:
		real = a * b;
		break;
	case OPCODE_DIVIDE:
		real = a / b;
		/* integers that a double cannot hold: divide before rounding */
		if (left->type == VALUE_INT && right->type == VALUE_INT &&
			(fabs(a) > 0x1p53 || fabs(b) > 0x1p53))
			real = (double)((long double)left->integer / (long double)right->integer);
		break;
	case OPCODE_FLOOR_DIVIDE:
		real = real_floor_div(a, b, &remainder);
		break;
	case OPCODE_MODULO:
		real_floor_div(a, b, &real);
		break;
	default: /* ** */
		if (a == 0 && b < 0)
			return operands_refuse("a base other than 0", opcode, left, right, err);
		if (a < 0 && b != floor(b))
			return operands_refuse("a base of at least 0", opcode, left, right, err);
		real = pow(a, b);
	}
	if (!isfinite(real))
		return operands_refuse(
			"a result within a double's range", opcode, left, right, err);
	*result = value_real(real);
	return STATUS_OK;
}

enum status operands_arithmetic(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err)
{
	int64_t a, b;
	double real;
	bool whole = value_as_int(*left, &a) && value_as_int(*right, &b);
	if (whole && opcode != OPCODE_DIVIDE && !(opcode == OPCODE_POWER && b < 0))
		return int_arithmetic(opcode, a, b, result, err);
	if (!value_as_real(*left, &real) || !value_as_real(*right, &real))
		return operands_refuse("two numbers", opcode, left, right, err);
	return real_arithmetic(opcode, left, right, result, err);
}

/* & | ^ << >> ceil_div round_up */
enum status operands_integer(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err)
{
	int64_t a, b;
	if (!value_as_int(*left, &a) || !value_as_int(*right, &b))
		return operands_refuse("two integers", opcode, left, right, err);
	enum status status = int_arithmetic(opcode, a, b, result, err);
	bool bitwise =
		opcode == OPCODE_BIT_AND || opcode == OPCODE_BIT_OR || opcode == OPCODE_BIT_XOR;
	if (!status && bitwise && left->type == VALUE_BOOL && right->type == VALUE_BOOL)
		*result = value_bool(result->integer != 0);
	return status;
}

/* ---- comparisons ---- */
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
