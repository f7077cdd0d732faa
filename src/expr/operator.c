/* SPDX-License-Identifier: MIT
 *
 * Results are those of Python, except that results beyond 64 bits or the range of a double are
 * errors.
 */
#include "expr/operator.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/dtype.h"

static const char *opcode_symbol(enum opcode opcode)
{
	static const char *const symbols[OPCODE_COUNT] = {
#define ROW(id, symbol, apply) symbol,
		OPCODES(ROW)
#undef ROW
	};
	return symbols[opcode];
}

static void describe(const struct value *value, struct text *text)
{
	if (value->type == VALUE_LIST)
		text_append(text, value->list->is_tuple ? "a tuple" : "a list");
	else if (value->type == VALUE_STRING)
		text_appendf(text, "'%.40s'", value->string);
	else
		value_format(*value, text);
}

/* An operator and its operands. result may alias an operand. right is NULL for unary operators. */
struct application {
	struct evaluation *evaluation;
	enum opcode opcode;
	const struct value *left, *right;
	struct value *result;
};

static void describe_operands(const struct application *a, struct text *text)
{
	describe(a->left, text);
	if (a->right) {
		text_append(text, " and ");
		describe(a->right, text);
	}
}

/* Refuses operands of the wrong type: "expected <expectation> for <operator>, found <operands>" */
static bool operator_refuse(const struct application *a, const char *expectation)
{
	CLEANUP(text_release) struct text found = {0};
	describe_operands(a, &found);
	error_set(a->evaluation->err, STATUS_BAD_INPUT, "expected %s for '%s', found %s",
		expectation, opcode_symbol(a->opcode), found.data);
	return false;
}

/* Reports operands without a result: "'<operator>' of <operands>: <reason>" */
static bool refuse_result(const struct application *a, const char *reason)
{
	CLEANUP(text_release) struct text operands = {0};
	describe_operands(a, &operands);
	error_set(a->evaluation->err, STATUS_BAD_INPUT, "'%s' of %s: %s", opcode_symbol(a->opcode),
		operands.data, reason);
	return false;
}

bool evaluation_use(struct evaluation *evaluation, size_t steps)
{
	if (evaluation->steps >= steps) {
		evaluation->steps -= steps;
		return true;
	}
	error_set(evaluation->err, STATUS_BAD_INPUT, "the evaluation takes more than %d steps",
		EVALUATION_STEPS_MAX);
	return false;
}

bool evaluation_new_list(struct evaluation *evaluation, struct value_list **list)
{
	if (!evaluation_use(evaluation, 1))
		return false;
	*list = value_arena_take(evaluation->arena, sizeof(**list));
	(*list)->weight = 1;
	return true;
}

static size_t weight_of(const struct value *value)
{
	return value->type == VALUE_LIST ? value->list->weight : 1;
}

bool evaluation_append(
	struct evaluation *evaluation, struct value_list *list, const struct value *value)
{
	const size_t count = list->count;
	if (count >= LIST_COUNT_MAX) {
		error_set(evaluation->err, STATUS_BAD_INPUT, "the list has more than %d values",
			LIST_COUNT_MAX);
		return false;
	}
	if (!evaluation_use(evaluation, weight_of(value)))
		return false;
	list->weight += weight_of(value);
	value_list_push(list, value, evaluation->arena);
	return true;
}

/* Returns the quotient of two integers, rounded only once. The quotient is not an int64. */
static double integer_quotient(int64_t a, int64_t b)
{
	uint64_t dividend = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t divisor = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	if (a == 0)
		return b < 0 ? -0.0 : 0.0;
	const int dividend_shift = __builtin_clzll(dividend);
	const int divisor_shift = __builtin_clzll(divisor);
	const unsigned __int128 shifted = (unsigned __int128)(dividend << dividend_shift) << 62;
	divisor <<= divisor_shift;
	/* The quotient has 62 or 63 bits; its last bit is set if there is a remainder. */
	const uint64_t quotient =
		(uint64_t)(shifted / divisor) | (uint64_t)(shifted % divisor != 0);
	const double size = ldexp((double)quotient, divisor_shift - dividend_shift - 62);
	return (a < 0) != (b < 0) ? -size : size;
}

/* Returns floor(a / b); *remainder has the sign of b, as in Python. */
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

static bool real_arithmetic(const struct application *a)
{
	double left, right, real, remainder;
	int64_t dividend, divisor;
	if (!value_as_real(*a->left, &left) || !value_as_real(*a->right, &right))
		return operator_refuse(a, "two numbers");
	if (right == 0 && (a->opcode == OPCODE_DIVIDE || a->opcode == OPCODE_FLOOR_DIVIDE ||
				  a->opcode == OPCODE_MODULO))
		return refuse_result(a, "division by zero");
	switch (a->opcode) {
	case OPCODE_ADD:
		real = left + right;
		break;
	case OPCODE_SUBTRACT:
		real = left - right;
		break;
	case OPCODE_MULTIPLY:
		real = left * right;
		break;
	case OPCODE_DIVIDE:
		/* Doubles do not represent all integers beyond 2^53, so divide before rounding. */
		real = (fabs(left) >= 0x1p53 || fabs(right) >= 0x1p53) &&
				       value_as_int(*a->left, &dividend) &&
				       value_as_int(*a->right, &divisor)
			       ? integer_quotient(dividend, divisor)
			       : left / right;
		break;
	case OPCODE_FLOOR_DIVIDE:
		real = real_floor_div(left, right, &remainder);
		break;
	case OPCODE_MODULO:
		real_floor_div(left, right, &real);
		break;
	default: /* ** */
		if (left == 0 && right < 0)
			return refuse_result(a, "a negative power of zero");
		if (left < 0 && right != floor(right))
			return refuse_result(a, "a fractional power of a negative number");
		real = pow(left, right);
	}
	if (!isfinite(real))
		return refuse_result(a, "the result is too large");
	*a->result = value_real(real);
	return true;
}

static bool arithmetic(const struct application *a)
{
	int64_t left, right;
	const enum opcode opcode = a->opcode;
	const bool booleans = a->left->type == VALUE_BOOL && a->right->type == VALUE_BOOL;
	if (!value_as_int(*a->left, &left) || !value_as_int(*a->right, &right) ||
		opcode == OPCODE_DIVIDE || (opcode == OPCODE_POWER && right < 0))
		return real_arithmetic(a);
	if (!integer_apply(opcode, left, right, a->result)) {
		const bool shift = opcode == OPCODE_SHIFT_LEFT || opcode == OPCODE_SHIFT_RIGHT;
		const bool divides = opcode == OPCODE_FLOOR_DIVIDE || opcode == OPCODE_MODULO ||
				     opcode == OPCODE_CEIL_DIV || opcode == OPCODE_ROUND_UP;
		return refuse_result(a, shift && right < 0 ? "a negative shift count"
					: divides && right == 0
						? "division by zero"
						: "the result does not fit into 64 bits");
	}
	if (booleans &&
		(opcode == OPCODE_BIT_AND || opcode == OPCODE_BIT_OR || opcode == OPCODE_BIT_XOR))
		*a->result = value_bool(a->result->integer != 0);
	return true;
}

static bool integer_arithmetic(const struct application *a)
{
	int64_t integer;
	return value_as_int(*a->left, &integer) && value_as_int(*a->right, &integer)
		       ? arithmetic(a)
		       : operator_refuse(a, "two integers");
}

static bool ordering(const struct application *a)
{
	double real;
	if (!value_as_real(*a->left, &real) || !value_as_real(*a->right, &real))
		return operator_refuse(a, "two numbers");
	const enum value_order order = value_compare(*a->left, *a->right);
	const bool greater = a->opcode == OPCODE_GREATER || a->opcode == OPCODE_GREATER_EQUAL;
	const bool or_equal = a->opcode == OPCODE_LESS_EQUAL || a->opcode == OPCODE_GREATER_EQUAL;
	*a->result = value_bool(order == (greater ? VALUE_GREATER : VALUE_LESS) ||
				(or_equal && order == VALUE_EQUAL));
	return true;
}

static bool equality(const struct application *a)
{
	const size_t left = weight_of(a->left), right = weight_of(a->right);
	if (!evaluation_use(a->evaluation, left < right ? left : right))
		return false;
	*a->result = value_bool(value_equal(*a->left, *a->right) == (a->opcode == OPCODE_EQUAL));
	return true;
}

static bool membership(const struct application *a)
{
	bool found = false;
	if (a->left->type == VALUE_STRING && a->right->type == VALUE_STRING) {
		found = strstr(a->right->string, a->left->string) != NULL;
	} else if (a->right->type == VALUE_LIST) {
		if (!evaluation_use(a->evaluation, a->right->list->weight))
			return false;
		for (size_t i = 0; i < a->right->list->count && !found; i++)
			found = value_equal(*a->left, a->right->list->items[i]);
	} else {
		return operator_refuse(a, "a list on the right");
	}
	*a->result = value_bool(found == (a->opcode == OPCODE_IN));
	return true;
}

/* Selects the first of equal values, as min and max of Python do. */
static bool better(const struct application *a)
{
	const bool least = a->opcode == OPCODE_MIN || a->opcode == OPCODE_MIN_LIST;
	double real;
	if (!value_as_real(*a->left, &real) || !value_as_real(*a->right, &real))
		return operator_refuse(a, "numbers");
	const bool second =
		value_compare(*a->right, *a->left) == (least ? VALUE_LESS : VALUE_GREATER);
	*a->result = second ? *a->right : *a->left;
	return true;
}

static bool append_all(
	struct evaluation *evaluation, struct value_list *list, const struct value_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (!evaluation_append(evaluation, list, &from->items[i]))
			return false;
	return true;
}

static bool concatenate(const struct application *a)
{
	struct value_list *list;
	if (a->left->list->is_tuple != a->right->list->is_tuple)
		return operator_refuse(a, "two lists or two tuples");
	if (!evaluation_new_list(a->evaluation, &list) ||
		!append_all(a->evaluation, list, a->left->list) ||
		!append_all(a->evaluation, list, a->right->list))
		return false;
	list->is_tuple = a->left->list->is_tuple;
	*a->result = (struct value){.type = VALUE_LIST, .list = list};
	return true;
}

static bool add(const struct application *a)
{
	return a->left->type == VALUE_LIST && a->right->type == VALUE_LIST ? concatenate(a)
									   : arithmetic(a);
}

static bool any_or_all(const struct application *a)
{
	const bool is_any = a->opcode == OPCODE_ANY;
	bool found = false;
	if (a->left->type != VALUE_LIST)
		return operator_refuse(a, "a list");
	if (!evaluation_use(a->evaluation, a->left->list->count))
		return false;
	for (size_t i = 0; i < a->left->list->count && !found; i++)
		found = value_truth(a->left->list->items[i]) == is_any;
	*a->result = value_bool(found == is_any);
	return true;
}

static bool best_of_list(const struct application *a)
{
	if (a->left->type != VALUE_LIST)
		return operator_refuse(a, "a list or at least two numbers");
	const struct value_list *list = a->left->list;
	if (list->count == 0) {
		error_set(a->evaluation->err, STATUS_BAD_INPUT, "'%s' of an empty list",
			opcode_symbol(a->opcode));
		return false;
	}
	struct value best = list->items[0];
	if (!evaluation_use(a->evaluation, list->count))
		return false;
	/* a single element must also be a number */
	for (size_t i = list->count > 1; i < list->count; i++)
		if (!better(&(struct application){
			    a->evaluation, a->opcode, &best, &list->items[i], &best}))
			return false;
	*a->result = best;
	return true;
}

static bool range_argument(
	struct evaluation *evaluation, const struct value *argument, int64_t *integer)
{
	if (value_as_int(*argument, integer))
		return true;
	error_set(evaluation->err, STATUS_BAD_INPUT,
		"expected integers as arguments of range(), found %s",
		value_type_name(argument->type));
	return false;
}

bool range_read(struct evaluation *evaluation, const struct value *arguments, size_t count,
	struct value_bounds *range)
{
	int64_t stop;
	*range = (struct value_bounds){.step = 1};
	if ((count > 1 && !range_argument(evaluation, &arguments[0], &range->start)) ||
		!range_argument(evaluation, &arguments[count > 1], &stop) ||
		(count > 2 && !range_argument(evaluation, &arguments[2], &range->step)))
		return false;
	if (range->step == 0) {
		error_set(evaluation->err, STATUS_BAD_INPUT, "the step of range() is 0");
		return false;
	}
	/* Unsigned arithmetic gives the exact count even if the difference exceeds int64. */
	if (range->step > 0 && range->start < stop)
		range->count =
			((uint64_t)stop - (uint64_t)range->start - 1) / (uint64_t)range->step + 1;
	if (range->step < 0 && range->start > stop)
		range->count = ((uint64_t)range->start - (uint64_t)stop - 1) /
				       (0 - (uint64_t)range->step) +
			       1;
	return true;
}

bool range_contains(const struct value_bounds *range, const struct value *value)
{
	int64_t integer;
	if (!value_whole(*value, &integer) || range->count == 0)
		return false;
	const bool up = range->step > 0;
	if (up ? integer < range->start : integer > range->start)
		return false;
	const uint64_t distance = up ? (uint64_t)integer - (uint64_t)range->start
				     : (uint64_t)range->start - (uint64_t)integer;
	const uint64_t step = up ? (uint64_t)range->step : 0 - (uint64_t)range->step;
	return distance % step == 0 && distance / step < range->count;
}

/* ---- operators of one operand ---- */
static bool sign(const struct application *a)
{
	const bool negates = a->opcode == OPCODE_NEGATE;
	const struct value *operand = a->left;
	int64_t integer;
	if (operand->type == VALUE_REAL) {
		*a->result = value_real(negates                   ? -operand->real
					: a->opcode == OPCODE_ABS ? fabs(operand->real)
								  : operand->real);
		return true;
	}
	if (!value_as_int(*operand, &integer))
		return operator_refuse(a, "a number");
	if ((negates || (a->opcode == OPCODE_ABS && integer < 0)) &&
		__builtin_sub_overflow((int64_t)0, integer, &integer))
		return refuse_result(a, "the result does not fit into 64 bits");
	*a->result = value_int(integer);
	return true;
}

static bool negation(const struct application *a)
{
	*a->result = value_bool(!value_truth(*a->left));
	return true;
}

static bool string_to_int(const char *string, int64_t *integer)
{
	char *end;
	errno = 0;
	*integer = strtoll(string, &end, 10);
	return end != string && !end[strspn(end, " \t\r\n")] && errno == 0;
}

/* Implements Python's int(), which truncates towards 0 and parses decimal strings. */
static bool to_integer(const struct application *a)
{
	const struct value *operand = a->left;
	int64_t integer;
	if (operand->type == VALUE_REAL) {
		if (!value_whole(value_real(trunc(operand->real)), &integer))
			return refuse_result(a, "the result does not fit into 64 bits");
	} else if (operand->type == VALUE_STRING) {
		if (!string_to_int(operand->string, &integer))
			return operator_refuse(a, "a string that holds an integer");
	} else if (!value_as_int(*operand, &integer)) {
		return operator_refuse(a, "a number or a string");
	}
	*a->result = value_int(integer);
	return true;
}

static bool dtype_bytes(const struct application *a)
{
	const char *name = a->left->type == VALUE_STRING ? a->left->string : NULL;
	const int dtype = name ? dtype_find(name) : -1;
	if (dtype >= 0) {
		*a->result = value_int((int64_t)dtype_size((enum dtype)dtype));
		return true;
	}
	operator_refuse(a, "the name of an element type");
	const char *near = name ? name_nearest(name, dtype_names) : NULL;
	if (near)
		error_hint(a->evaluation->err, "did you mean %s?", near);
	return false;
}

static bool length(const struct application *a)
{
	if (a->left->type != VALUE_LIST && a->left->type != VALUE_STRING)
		return operator_refuse(a, "a list or a string");
	*a->result = value_int((int64_t)(a->left->type == VALUE_LIST ? a->left->list->count
								     : strlen(a->left->string)));
	return true;
}

static bool is_pow2(const struct application *a)
{
	int64_t integer;
	if (!value_as_int(*a->left, &integer))
		return operator_refuse(a, "an integer");
	*a->result = value_bool(integer > 0 && (integer & (integer - 1)) == 0);
	return true;
}

bool operator_apply(struct evaluation *evaluation, enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result)
{
	static bool (*const functions[OPCODE_COUNT])(const struct application *) = {
#define ROW(id, symbol, apply) apply,
		OPCODES(ROW)
#undef ROW
	};
	return functions[opcode](&(struct application){evaluation, opcode, left, right, result});
}
