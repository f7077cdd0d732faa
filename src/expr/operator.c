/* SPDX-License-Identifier: MIT
 *
 * Results are Python's, except that whatever leaves 64 bits, or a double's range, is an error.
 */
#include "expr/operator.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/dtype.h"

static const char *opcode_symbol(enum opcode opcode)
{
	static const char *const symbols[OPCODE_COUNT] = {
#define ROW(id, symbol) symbol,
		OPCODES(ROW)
#undef ROW
	};
	return symbols[opcode];
}

/* ---- functions ---- */
static const struct function functions[] = {
	{"min", "1 argument or more", 1, SIZE_MAX, OPCODE_MIN},
	{"max", "1 argument or more", 1, SIZE_MAX, OPCODE_MAX},
	{"abs", "1 argument", 1, 1, OPCODE_ABS},
	{"ceil_div", "2 arguments", 2, 2, OPCODE_CEIL_DIV},
	{"round_up", "2 arguments", 2, 2, OPCODE_ROUND_UP},
	{"is_pow2", "1 argument", 1, 1, OPCODE_IS_POW2},
	{"len", "1 argument", 1, 1, OPCODE_LEN},
	{"range", "1 to 3 arguments", 1, 3, OPCODE_RANGE_LIST},
	{"dtype_bytes", "1 argument", 1, 1, OPCODE_DTYPE_BYTES},
};

const struct function *function_find(const char *name, size_t length)
{
	for (size_t f = 0; f < ARRAY_COUNT(functions); f++)
		if (strlen(functions[f].name) == length &&
			memcmp(functions[f].name, name, length) == 0)
			return &functions[f];
	return NULL;
}

const char *function_nearest(const char *name, size_t length)
{
	CLEANUP(memory_free) char *copy = string_copy_bytes(name, length);
	const char *names[ARRAY_COUNT(functions) + 1] = {NULL};
	for (size_t f = 0; f < ARRAY_COUNT(functions); f++)
		names[f] = functions[f].name;
	return name_nearest(copy, names);
}

/* ---- operators ---- */
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
static enum status refuse(const char *expectation, enum opcode opcode, const struct value *left,
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
			return refuse("a count of at least 0", opcode, &left, &right, err);
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
			return refuse("a divisor other than 0", opcode, &left, &right, err);
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
		return refuse("a result within 64 bits", opcode, &left, &right, err);
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
		return refuse("a divisor other than 0", opcode, left, right, err);
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
			return refuse("a base other than 0", opcode, left, right, err);
		if (a < 0 && b != floor(b))
			return refuse("a base of at least 0", opcode, left, right, err);
		real = pow(a, b);
	}
	if (!isfinite(real))
		return refuse("a result within a double's range", opcode, left, right, err);
	*result = value_real(real);
	return STATUS_OK;
}

static enum status arithmetic(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err)
{
	int64_t a, b;
	double real;
	bool whole = value_as_int(*left, &a) && value_as_int(*right, &b);
	if (whole && opcode != OPCODE_DIVIDE && !(opcode == OPCODE_POWER && b < 0))
		return int_arithmetic(opcode, a, b, result, err);
	if (!value_as_real(*left, &real) || !value_as_real(*right, &real))
		return refuse("two numbers", opcode, left, right, err);
	return real_arithmetic(opcode, left, right, result, err);
}

/* & | ^ << >> ceil_div round_up, of two integers */
static enum status integer_operator(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct error *err)
{
	int64_t a, b;
	if (!value_as_int(*left, &a) || !value_as_int(*right, &b))
		return refuse("two integers", opcode, left, right, err);
	TRY(int_arithmetic(opcode, a, b, result, err));
	bool bitwise =
		opcode == OPCODE_BIT_AND || opcode == OPCODE_BIT_OR || opcode == OPCODE_BIT_XOR;
	if (bitwise && left->type == VALUE_BOOL && right->type == VALUE_BOOL)
		*result = value_bool(result->integer != 0);
	return STATUS_OK;
}

/* ---- comparisons ---- */
static enum status equality(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct allowance *allowance, struct error *err)
{
	size_t left_weight = value_weight(*left), right_weight = value_weight(*right);
	enum status status = allowance_use(
		allowance, left_weight < right_weight ? left_weight : right_weight, err);
	*result = value_bool(value_equal(*left, *right) == (opcode == OPCODE_EQUAL));
	return status;
}

static enum status ordering(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct error *err)
{
	double real;
	if (!value_as_real(*left, &real) || !value_as_real(*right, &real))
		return refuse("two numbers", opcode, left, right, err);
	enum value_order order = value_compare(*left, *right);
	bool less = order == VALUE_LESS, greater = order == VALUE_GREATER;
	bool equal = order == VALUE_EQUAL;
	*result = value_bool(opcode == OPCODE_LESS         ? less
			     : opcode == OPCODE_LESS_EQUAL ? less || equal
			     : opcode == OPCODE_GREATER    ? greater
							   : greater || equal);
	return STATUS_OK;
}

static enum status membership(enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result, struct allowance *allowance,
	struct error *err)
{
	bool found = false;
	if (left->type == VALUE_STRING && right->type == VALUE_STRING) {
		found = strstr(right->string, left->string) != NULL;
	} else if (right->type == VALUE_LIST) {
		TRY(allowance_use(allowance, value_weight(*right), err));
		for (size_t i = 0; i < right->list->count && !found; i++)
			found = value_equal(*left, right->list->items[i]);
	} else {
		return refuse("a list on the right", opcode, left, right, err);
	}
	*result = value_bool(found == (opcode == OPCODE_IN));
	return STATUS_OK;
}

/* The first of the smallest or largest, as Python's min and max. */
static enum status better(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct error *err)
{
	double real;
	if (!value_as_real(*left, &real) || !value_as_real(*right, &real))
		return refuse("numbers", opcode, left, right, err);
	const bool least = opcode == OPCODE_MIN || opcode == OPCODE_MIN_LIST;
	*result = value_compare(*right, *left) == (least ? VALUE_LESS : VALUE_GREATER) ? *right
										       : *left;
	return STATUS_OK;
}

/* ---- lists ---- */
static enum status concatenate(const struct value_list *left, const struct value_list *right,
	struct value *result, struct allowance *allowance, struct error *err)
{
	struct list *list;
	TRY(operator_new_list(&list, allowance, err));
	for (size_t i = 0; i < left->count; i++)
		TRY(operator_append(list, left->items[i], allowance, err));
	for (size_t i = 0; i < right->count; i++)
		TRY(operator_append(list, right->items[i], allowance, err));
	*result = (struct value){.type = VALUE_LIST, .list = &list->view};
	return STATUS_OK;
}

static enum status best_of_list(enum opcode opcode, const struct value *operand,
	struct value *result, struct allowance *allowance, struct error *err)
{
	if (operand->type != VALUE_LIST)
		return refuse("a list, or two numbers or more", opcode, operand, NULL, err);
	const struct value_list *list = operand->list;
	if (list->count == 0)
		return error_set(err, STATUS_BAD_INPUT,
			"expected a list with a value for '%s', found an empty one",
			opcode_symbol(opcode));
	*result = list->items[0];
	TRY(allowance_use(allowance, list->count, err));
	for (size_t i = list->count > 1; i < list->count;
		i++) /* a single one must be a number, too */
		TRY(better(opcode, result, &list->items[i], result, err));
	return STATUS_OK;
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
		return refuse("a number", opcode, operand, NULL, err);
	if ((opcode == OPCODE_NEGATE || (opcode == OPCODE_ABS && integer < 0)) &&
		__builtin_sub_overflow((int64_t)0, integer, &integer))
		return refuse("a result within 64 bits", opcode, operand, NULL, err);
	*result = value_int(integer);
	return STATUS_OK;
}

static enum status dtype_bytes(const struct value *operand, struct value *result, struct error *err)
{
	const int dtype = operand->type == VALUE_STRING ? dtype_find(operand->string) : -1;
	if (dtype >= 0) {
		*result = value_int((int64_t)dtype_size((enum dtype)dtype));
		return STATUS_OK;
	}
	refuse("the name of a dtype", OPCODE_DTYPE_BYTES, operand, NULL, err);
	const char *near =
		operand->type == VALUE_STRING ? name_nearest(operand->string, dtype_names) : NULL;
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
		return refuse("a list or a string", OPCODE_LEN, operand, NULL, err);
	return STATUS_OK;
}

static enum status is_pow2(const struct value *operand, struct value *result, struct error *err)
{
	int64_t integer;
	if (!value_as_int(*operand, &integer))
		return refuse("an integer", OPCODE_IS_POW2, operand, NULL, err);
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
		return arithmetic(opcode, left, right, result, err);
	case OPCODE_SUBTRACT:
	case OPCODE_MULTIPLY:
	case OPCODE_DIVIDE:
	case OPCODE_FLOOR_DIVIDE:
	case OPCODE_MODULO:
	case OPCODE_POWER:
		return arithmetic(opcode, left, right, result, err);
	case OPCODE_BIT_AND:
	case OPCODE_BIT_OR:
	case OPCODE_BIT_XOR:
	case OPCODE_SHIFT_LEFT:
	case OPCODE_SHIFT_RIGHT:
	case OPCODE_CEIL_DIV:
	case OPCODE_ROUND_UP:
		return integer_operator(opcode, left, right, result, err);
	case OPCODE_EQUAL:
	case OPCODE_NOT_EQUAL:
		return equality(opcode, left, right, result, allowance, err);
	case OPCODE_LESS:
	case OPCODE_LESS_EQUAL:
	case OPCODE_GREATER:
	case OPCODE_GREATER_EQUAL:
		return ordering(opcode, left, right, result, err);
	case OPCODE_IN:
	case OPCODE_NOT_IN:
		return membership(opcode, left, right, result, allowance, err);
	case OPCODE_MIN:
	case OPCODE_MAX:
		return better(opcode, left, right, result, err);
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
