/* SPDX-License-Identifier: MIT
 *
 * Interval arithmetic over syntax trees. A bound is an exact integer, the result of one rounded
 * operation on exact integers, or infinite.
 */
#include <math.h>

#include "expr/expression.h"
#include "expr/node.h"

static const struct value_range anything = {-INFINITY, INFINITY};
static const struct value_range is_false = {0, 0}, is_true = {1, 1}, is_either = {0, 1};

bool value_range_is_false(struct value_range interval)
{
	return interval.low == 0 && interval.high == 0;
}

static bool is_surely_true(struct value_range interval)
{
	return interval.low > 0 || interval.high < 0;
}

static bool is_point(struct value_range interval)
{
	return interval.low == interval.high;
}

static bool is_whole(struct value_range interval)
{
	return trunc(interval.low) == interval.low && trunc(interval.high) == interval.high;
}

static struct value_range hull(struct value_range a, struct value_range b)
{
	return (struct value_range){fmin(a.low, b.low), fmax(a.high, b.high)};
}

static struct value_range truth(bool may_hold, bool may_fail)
{
	return may_hold && may_fail ? is_either : may_hold ? is_true : is_false;
}

static struct value_range negated(struct value_range condition)
{
	return truth(!is_surely_true(condition), !value_range_is_false(condition));
}

/* Widens the interval at bounds of 2^53 or more, because doubles round such integers. */
static struct value_range widened(double low, double high)
{
	const double exact = 0x1p53;
	if (isnan(low) || isnan(high))
		return anything;
	return (struct value_range){low >= exact    ? exact
				    : low <= -exact ? -INFINITY
						    : low,
		high <= -exact  ? -exact
		: high >= exact ? INFINITY
				: high};
}

struct value_range value_range_of(struct value value)
{
	double number;
	return value_as_real(value, &number) ? widened(number, number) : anything;
}

static double times(double a, double b)
{
	return a == 0 || b == 0 ? 0 : a * b; /* 0 times infinity is 0 in interval arithmetic */
}

static double divided(double a, double b)
{
	return a / b;
}

/* Computes the range of an operation whose extreme values lie at the bounds of the operands. */
static struct value_range at_corners(
	double (*operation)(double, double), struct value_range a, struct value_range b)
{
	const double corners[] = {operation(a.low, b.low), operation(a.low, b.high),
		operation(a.high, b.low), operation(a.high, b.high)};
	struct value_range result = {corners[0], corners[0]};
	for (int i = 0; i < 4; i++) {
		if (isnan(corners[i]))
			return anything;
		result = hull(result, (struct value_range){corners[i], corners[i]});
	}
	return widened(result.low, result.high);
}

static struct value_range quotient(enum opcode opcode, struct value_range a, struct value_range b)
{
	if (b.low <= 0 && b.high >= 0)
		return anything;
	struct value_range result = at_corners(divided, a, b);
	if (opcode == OPCODE_DIVIDE)
		return result;
	/* Python's // of reals may be 1 below the floor of the rounded quotient. */
	const double slack = is_whole(a) && is_whole(b) ? 0 : 1;
	return opcode == OPCODE_CEIL_DIV
		       ? (struct value_range){ceil(result.low), ceil(result.high)}
		       : (struct value_range){floor(result.low) - slack, floor(result.high)};
}

/* Computes the range of an operator without interval rules, which is exact if both intervals are
 * single points. */
static struct value_range of_points(enum opcode opcode, struct value_range a, struct value_range b)
{
	struct evaluation evaluation = {.where = ""};
	struct value left = value_real(a.low), right = value_real(b.low), result;
	int64_t integer;
	if (!is_point(a) || !is_point(b))
		return anything;
	if (value_whole(left, &integer))
		left = value_int(integer);
	if (value_whole(right, &integer))
		right = value_int(integer);
	if (!operator_apply(&evaluation, opcode, &left, &right, &result))
		return anything;
	return value_range_of(result);
}

static struct value_range comparison(enum opcode opcode, struct value_range a, struct value_range b)
{
	switch (opcode) {
	case OPCODE_LESS:
		return truth(a.low < b.high, a.high >= b.low);
	case OPCODE_LESS_EQUAL:
		return truth(a.low <= b.high, a.high > b.low);
	case OPCODE_GREATER:
		return comparison(OPCODE_LESS, b, a);
	case OPCODE_GREATER_EQUAL:
		return comparison(OPCODE_LESS_EQUAL, b, a);
	case OPCODE_NOT_EQUAL:
		return negated(comparison(OPCODE_EQUAL, a, b));
	default: /* == */
		return truth(a.low <= b.high && b.low <= a.high,
			!is_point(a) || !is_point(b) || a.low != b.low);
	}
}

static struct value_range binary(enum opcode opcode, struct value_range a, struct value_range b)
{
	switch (opcode) {
	case OPCODE_ADD:
		return widened(a.low + b.low, a.high + b.high);
	case OPCODE_SUBTRACT:
		return widened(a.low - b.high, a.high - b.low);
	case OPCODE_MULTIPLY:
		return at_corners(times, a, b);
	case OPCODE_DIVIDE:
	case OPCODE_FLOOR_DIVIDE:
	case OPCODE_CEIL_DIV:
		return quotient(opcode, a, b);
	case OPCODE_ROUND_UP:
		return is_point(a) && is_point(b) ? of_points(opcode, a, b)
		       : b.low > 0                ? widened(a.low, a.high + b.high)
						  : anything;
	case OPCODE_MODULO:
		return is_point(a) && is_point(b)     ? of_points(opcode, a, b)
		       : a.low >= 0 && a.high < b.low ? a
		       : b.low > 0                    ? (struct value_range){0, b.high}
						      : anything;
	case OPCODE_MIN:
		return (struct value_range){fmin(a.low, b.low), fmin(a.high, b.high)};
	case OPCODE_MAX:
		return (struct value_range){fmax(a.low, b.low), fmax(a.high, b.high)};
	case OPCODE_EQUAL:
	case OPCODE_NOT_EQUAL:
	case OPCODE_LESS:
	case OPCODE_LESS_EQUAL:
	case OPCODE_GREATER:
	case OPCODE_GREATER_EQUAL:
		return comparison(opcode, a, b);
	default:
		return of_points(opcode, a, b);
	}
}

static struct value_range unary(enum opcode opcode, struct value_range a)
{
	switch (opcode) {
	case OPCODE_NEGATE:
		return (struct value_range){-a.high, -a.low};
	case OPCODE_PLUS:
		return a;
	case OPCODE_NOT:
		return negated(a);
	case OPCODE_INT:
		return (struct value_range){trunc(a.low), trunc(a.high)};
	case OPCODE_ABS:
		return a.low >= 0   ? a
		       : a.high < 0 ? (struct value_range){-a.high, -a.low}
				    : (struct value_range){0, fmax(-a.low, a.high)};
	default:
		return of_points(opcode, a, a);
	}
}

/* Finds the intervals of names during the walk. */
struct names {
	value_range_find *find;
	void *context;
};

static struct value_range range_of_node(const struct names *names, const struct node *node);

/* `and` and `or` return the value of one operand. */
static struct value_range logical(const struct names *names, const struct node *node)
{
	const bool is_or = node->opcode == OPCODE_OR;
	struct value_range result = {INFINITY, -INFINITY}; /* empty */
	for (size_t i = 0; i < node->count; i++) {
		const struct value_range operand = range_of_node(names, &node->children[i]);
		const bool holds = is_surely_true(operand), fails = value_range_is_false(operand);
		const bool ends = is_or ? holds : fails, is_last = i + 1 == node->count;
		if (ends || is_last)
			return hull(result, operand);
		if (is_or ? !fails : !holds) /* this operand may be the result */
			result = hull(result, is_or ? operand : is_false);
	}
	return result;
}

static struct value_range chain(const struct names *names, const struct node *node)
{
	struct value_range left = range_of_node(names, &node->children[0]), result = is_true;
	for (size_t i = 1; i < node->count && !value_range_is_false(result); i++) {
		const struct node *link = &node->children[i];
		const struct value_range right = range_of_node(names, &link->children[0]);
		const struct value_range step =
			link->opcode == OPCODE_IN || link->opcode == OPCODE_NOT_IN
				? is_either
				: comparison(link->opcode, left, right);
		result = value_range_is_false(step) ? is_false
			 : is_surely_true(step)     ? result
						    : is_either;
		left = right;
	}
	return result;
}

static struct value_range in_list(struct value_range left, const struct node *list)
{
	bool may_hold = false, surely = false;
	if (list->kind != NODE_CONSTANT || list->value.type != VALUE_LIST)
		return is_either;
	for (size_t i = 0; i < list->value.list->count; i++) {
		const struct value_range equal =
			comparison(OPCODE_EQUAL, left, value_range_of(list->value.list->items[i]));
		may_hold |= !value_range_is_false(equal);
		surely |= is_surely_true(equal);
	}
	return truth(may_hold, !surely);
}

static struct value_range in_range(
	const struct names *names, struct value_range left, const struct node *range)
{
	const struct value_range stop = range_of_node(names, &range->children[range->count > 1]);
	const struct value_range start =
		range->count > 1 ? range_of_node(names, &range->children[0]) : is_false;
	if (range->count > 2 && range_of_node(names, &range->children[2]).low <= 0)
		return is_either;
	return truth(left.high >= start.low && left.low < stop.high, true);
}

static struct value_range range_of_node(const struct names *names, const struct node *node)
{
	struct value_range left;
	switch (node->kind) {
	case NODE_CONSTANT:
		return value_range_of(node->value);
	case NODE_VALUE:
		return names->find(node->index, names->context);
	case NODE_UNARY:
		return unary(node->opcode, range_of_node(names, &node->children[0]));
	case NODE_BINARY:
	case NODE_IN_RANGE:
		left = range_of_node(names, &node->children[0]);
		if (node->opcode != OPCODE_IN && node->opcode != OPCODE_NOT_IN)
			return binary(node->opcode, left, range_of_node(names, &node->children[1]));
		left = node->kind == NODE_IN_RANGE ? in_range(names, left, &node->children[1])
						   : in_list(left, &node->children[1]);
		return node->opcode == OPCODE_IN ? left : negated(left);
	case NODE_LOGICAL:
		return logical(names, node);
	case NODE_CHAIN:
		return chain(names, node);
	case NODE_CONDITION:
		left = range_of_node(names, &node->children[1]);
		return is_surely_true(left) ? range_of_node(names, &node->children[0])
		       : value_range_is_false(left)
			       ? range_of_node(names, &node->children[2])
			       : hull(range_of_node(names, &node->children[0]),
					 range_of_node(names, &node->children[2]));
	default: /* loop variables and lists have unknown bounds */
		return anything;
	}
}

struct value_range node_range(const struct node *root, value_range_find *find, void *context)
{
	return range_of_node(&(struct names){find, context}, root);
}
