/* SPDX-License-Identifier: MIT
 *
 * Operators and functions of the language. Integers have 64 bits, overflow checks and Python's
 * rounding; other numbers are reals.
 */
#ifndef EXPR_OPERATOR_H
#define EXPR_OPERATOR_H

#include "base/error.h"
#include "expr/value.h"

/* Columns: id, symbol in messages, function in operator.c that computes the result. */
#define OPCODES(ROW)                                                                               \
	/* binary */                                                                               \
	ROW(ADD, "+", add)                                                                         \
	ROW(SUBTRACT, "-", arithmetic)                                                             \
	ROW(MULTIPLY, "*", arithmetic)                                                             \
	ROW(DIVIDE, "/", arithmetic)                                                               \
	ROW(FLOOR_DIVIDE, "//", arithmetic)                                                        \
	ROW(MODULO, "%", arithmetic)                                                               \
	ROW(POWER, "**", arithmetic)                                                               \
	ROW(BIT_AND, "&", integer_arithmetic)                                                      \
	ROW(BIT_OR, "|", integer_arithmetic)                                                       \
	ROW(BIT_XOR, "^", integer_arithmetic)                                                      \
	ROW(SHIFT_LEFT, "<<", integer_arithmetic)                                                  \
	ROW(SHIFT_RIGHT, ">>", integer_arithmetic)                                                 \
	ROW(EQUAL, "==", equality)                                                                 \
	ROW(NOT_EQUAL, "!=", equality)                                                             \
	ROW(LESS, "<", ordering)                                                                   \
	ROW(LESS_EQUAL, "<=", ordering)                                                            \
	ROW(GREATER, ">", ordering)                                                                \
	ROW(GREATER_EQUAL, ">=", ordering)                                                         \
	ROW(IN, "in", membership)                                                                  \
	ROW(NOT_IN, "not in", membership)                                                          \
	ROW(CEIL_DIV, "ceil_div", integer_arithmetic)                                              \
	ROW(ROUND_UP, "round_up", integer_arithmetic)                                              \
	ROW(MIN, "min", better)                                                                    \
	ROW(MAX, "max", better)                                                                    \
	/* unary */                                                                                \
	ROW(NEGATE, "-", sign)                                                                     \
	ROW(PLUS, "+", sign)                                                                       \
	ROW(NOT, "not", negation)                                                                  \
	ROW(ABS, "abs", sign)                                                                      \
	ROW(IS_POW2, "is_pow2", is_pow2)                                                           \
	ROW(INT, "int", to_integer)                                                                \
	ROW(LEN, "len", length)                                                                    \
	ROW(DTYPE_BYTES, "dtype_bytes", dtype_bytes)                                               \
	ROW(MIN_LIST, "min", best_of_list)                                                         \
	ROW(MAX_LIST, "max", best_of_list)                                                         \
	ROW(ANY, "any", any_or_all)                                                                \
	ROW(ALL, "all", any_or_all)                                                                \
	/* operators with their own node kinds */                                                  \
	ROW(AND, "and", NULL)                                                                      \
	ROW(OR, "or", NULL)                                                                        \
	ROW(RANGE, "range", NULL)                                                                  \
	ROW(TUPLE, "tuple", NULL)

enum opcode {
#define ROW(id, symbol, apply) OPCODE_##id,
	OPCODES(ROW)
#undef ROW
	OPCODE_COUNT
};

enum {
	LIST_COUNT_MAX = 65536,         /* elements of one list */
	EVALUATION_STEPS_MAX = 1 << 20, /* loop iterations, and list elements created or read */
	EVALUATION_LOCALS_MAX = 64      /* loop variables in scope at one place */
};

struct evaluation {
	const struct value *values;
	struct value_arena *arena; /* owns the lists that evaluation creates */
	size_t steps;
	const char *where;
	struct error *err;
	struct value locals[EVALUATION_LOCALS_MAX];
};

/* On failure, these functions return false and set an error without file and column: "expected ...,
 * found ...". */
bool evaluation_use(struct evaluation *evaluation, size_t steps);
bool evaluation_new_list(struct evaluation *evaluation, struct value_list **list);
bool evaluation_append(
	struct evaluation *evaluation, struct value_list *list, const struct value *value);

/* Applies an operator or built-in function to values of any type. Unary operators ignore right.
 * result may be one of the operands. */
bool operator_apply(struct evaluation *evaluation, enum opcode opcode, const struct value *left,
	const struct value *right, struct value *result);

/* A range: first value, step and number of values. */
struct value_bounds {
	int64_t start, step;
	uint64_t count;
};
static inline struct value range_at(const struct value_bounds *range, uint64_t index)
{
	return value_int((int64_t)((uint64_t)range->start + index * (uint64_t)range->step));
}
bool range_read(struct evaluation *evaluation, const struct value *arguments, size_t count,
	struct value_bounds *range);
bool range_contains(const struct value_bounds *range, const struct value *value);

/* Returns false for overflow, division by 0, a negative shift count, or an operator that is not for
 * integers. Inline, because enumeration and scoring depend on its speed. */
static inline __attribute__((always_inline)) bool integer_apply(
	enum opcode opcode, int64_t a, int64_t b, struct value *result)
{
	/* 32-bit division is several times faster than 64-bit division. */
	const bool is_short = (((uint64_t)a | (uint64_t)b) >> 32) == 0;
	int64_t integer = 0;

/* CHECKED is for results that may overflow, TRUTH for boolean results. */
#define CHECKED(id, overflows)                                                                     \
	case OPCODE_##id:                                                                          \
		if (overflows)                                                                     \
			return false;                                                              \
		break;
#define TRUTH(id, truth)                                                                           \
	case OPCODE_##id:                                                                          \
		result->type = VALUE_BOOL;                                                         \
		result->boolean = (truth);                                                         \
		return true;
	switch (opcode) {
		CHECKED(ADD, __builtin_add_overflow(a, b, &integer))
		CHECKED(SUBTRACT, __builtin_sub_overflow(a, b, &integer))
		CHECKED(MULTIPLY, __builtin_mul_overflow(a, b, &integer))
		CHECKED(SHIFT_LEFT,
			b < 0 || (a != 0 && b > 63) ||
				__builtin_mul_overflow(a, (uint64_t)1 << (b & 63), &integer))
		CHECKED(SHIFT_RIGHT, b < 0 || (integer = a >> (b < 63 ? b : 63), false))
		TRUTH(EQUAL, a == b)
		TRUTH(NOT_EQUAL, a != b)
		TRUTH(LESS, a < b)
		TRUTH(LESS_EQUAL, a <= b)
		TRUTH(GREATER, a > b)
		TRUTH(GREATER_EQUAL, a >= b)
#undef CHECKED
#undef TRUTH
	case OPCODE_FLOOR_DIVIDE:
	case OPCODE_MODULO:
	case OPCODE_CEIL_DIV:
	case OPCODE_ROUND_UP: {
		int64_t quotient, remainder; /* The quotient is rounded down; the remainder has the
						sign of b. */

		if (b == 0 || (b == -1 && a == INT64_MIN && opcode != OPCODE_MODULO))
			return false;
		if (is_short) {
			quotient = (uint32_t)a / (uint32_t)b;
			remainder = (uint32_t)a % (uint32_t)b;
		} else {
			quotient = b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
			remainder = b == -1 ? 0 : a % b;
			if (remainder != 0 && (remainder < 0) != (b < 0)) {
				quotient--;
				remainder += b;
			}
		}
		if (opcode == OPCODE_MODULO)
			integer = remainder;
		else if (opcode == OPCODE_FLOOR_DIVIDE)
			integer = quotient;
		else
			integer = quotient + (remainder != 0);
		if (opcode == OPCODE_ROUND_UP && __builtin_mul_overflow(integer, b, &integer))
			return false;
		break;
	}
	case OPCODE_MIN:
		integer = a < b ? a : b;
		break;
	case OPCODE_MAX:
		integer = a > b ? a : b;
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
	case OPCODE_POWER:
		if (b < 0)
			return false;
		for (integer = 1;; b >>= 1) {
			if ((b & 1) && __builtin_mul_overflow(integer, a, &integer))
				return false;
			if (b < 2)
				break;
			if (__builtin_mul_overflow(a, a, &a))
				return false;
		}
		break;
	default:
		return false;
	}
	result->type = VALUE_INT;
	result->integer = integer;
	return true;
}

#endif
