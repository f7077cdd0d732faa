/* SPDX-License-Identifier: MIT
 *
 * The operators and functions of the language, and the machine's other instructions: integers of 64
 * bits, checked, with Python's rounding, reals otherwise. The functions on integers are inline,
 * because the machine's fast path lives from them; they return false on overflow.
 */
#ifndef EXPR_OPERATOR_H
#define EXPR_OPERATOR_H

#include "base/error.h"
#include "expr/list.h"

/* Instructions of the machine: id, and what messages call it. Operators take one or two registers
 * and write one; the others move data and control. */
#define OPCODES(ROW)                                                                               \
	/* operators of two operands */                                                            \
	ROW(ADD, "+")                                                                              \
	ROW(SUBTRACT, "-")                                                                         \
	ROW(MULTIPLY, "*")                                                                         \
	ROW(DIVIDE, "/")                                                                           \
	ROW(FLOOR_DIVIDE, "//")                                                                    \
	ROW(MODULO, "%")                                                                           \
	ROW(POWER, "**")                                                                           \
	ROW(BIT_AND, "&")                                                                          \
	ROW(BIT_OR, "|")                                                                           \
	ROW(BIT_XOR, "^")                                                                          \
	ROW(SHIFT_LEFT, "<<")                                                                      \
	ROW(SHIFT_RIGHT, ">>")                                                                     \
	ROW(EQUAL, "==")                                                                           \
	ROW(NOT_EQUAL, "!=")                                                                       \
	ROW(LESS, "<")                                                                             \
	ROW(LESS_EQUAL, "<=")                                                                      \
	ROW(GREATER, ">")                                                                          \
	ROW(GREATER_EQUAL, ">=")                                                                   \
	ROW(IN, "in")                                                                              \
	ROW(NOT_IN, "not in")                                                                      \
	ROW(CEIL_DIV, "ceil_div")                                                                  \
	ROW(ROUND_UP, "round_up")                                                                  \
	ROW(MIN, "min")                                                                            \
	ROW(MAX, "max")                                                                            \
	/* operators of one operand */                                                             \
	ROW(NEGATE, "-")                                                                           \
	ROW(PLUS, "+")                                                                             \
	ROW(NOT, "not")                                                                            \
	ROW(ABS, "abs")                                                                            \
	ROW(IS_POW2, "is_pow2")                                                                    \
	ROW(LEN, "len")                                                                            \
	ROW(DTYPE_BYTES, "dtype_bytes")                                                            \
	ROW(MIN_LIST, "min")                                                                       \
	ROW(MAX_LIST, "max")                                                                       \
	/* left: the first of `right` registers with the arguments of range() */                   \
	ROW(RANGE_LIST, "range")  /* out = the list */                                             \
	ROW(RANGE_BEGIN, "range") /* out, out+1, out+2 = next value, how many are left, step */    \
	ROW(IN_RANGE, "range")    /* as above, but `left` holds what is looked for, then come the  \
				     arguments */                                                  \
	/* control */                                                                              \
	ROW(COPY, "copy")                   /* out = left */                                       \
	ROW(JUMP, "jump")                   /* to right */                                         \
	ROW(JUMP_IF_FALSE, "jump_if_false") /* to right, unless left is true */                    \
	ROW(JUMP_IF_TRUE, "jump_if_true")   /* to right, if left is true */                        \
	ROW(LIST_NEW, "list")               /* out = [] */                                         \
	ROW(LIST_APPEND, "list")            /* append right to left */                             \
	ROW(LIST_BEGIN, "for") /* left is a list; left+1 = 0, the index of the next */             \
	ROW(LIST_NEXT, "for")  /* out = the next of left, or jump to right */                      \
	ROW(RANGE_NEXT, "for") /* out = the next of left, or jump to right */                      \
	ROW(RETURN, "return")  /* left */

enum opcode {
#define ROW(id, symbol) OPCODE_##id,
	OPCODES(ROW)
#undef ROW
	OPCODE_COUNT
};

struct function {
	const char *name, *arguments; /* "2 arguments", for messages */
	size_t least, most;           /* arguments */
	enum opcode opcode;
};
/* NULL: the language has none of this name. */
const struct function *function_find(const char *name, size_t length);
/* The name that was perhaps meant, or NULL. */
const char *function_nearest(const char *name, size_t length);

/* What an operator or a function of the language does, for all types: the machine's slow path.
 * Messages have no place and no column: "expected ..., found ...". right is not read by operators
 * of one operand. */
enum status operator_apply(enum opcode opcode, const struct value *left, const struct value *right,
	struct value *result, struct allowance *allowance, struct error *err);

/* ---- two integers ---- */
/* Both in 0 .. 2^32-1: division in 32 bits takes a fraction of the time of 64 bits. */
static inline bool integer_both_short(int64_t a, int64_t b)
{
	return (((uint64_t)a | (uint64_t)b) >> 32) == 0;
}

/* floor(a / b); b != 0 */
static inline bool integer_floor_div(int64_t a, int64_t b, int64_t *quotient)
{
	if (integer_both_short(a, b)) {
		*quotient = (uint32_t)a / (uint32_t)b;
		return true;
	}
	if (b == -1)
		return !__builtin_sub_overflow((int64_t)0, a, quotient);
	*quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
	return true;
}

/* a - b * floor(a / b), which has the sign of b; b != 0 */
static inline bool integer_modulo(int64_t a, int64_t b, int64_t *remainder)
{
	if (integer_both_short(a, b)) {
		*remainder = (uint32_t)a % (uint32_t)b;
		return true;
	}
	*remainder = b == -1 ? 0 : a % b;
	if (*remainder != 0 && (*remainder < 0) != (b < 0))
		*remainder += b;
	return true;
}

/* ceil(a / b); b != 0 */
static inline bool integer_ceil_div(int64_t a, int64_t b, int64_t *quotient)
{
	int64_t remainder;
	return integer_floor_div(a, b, quotient) && integer_modulo(a, b, &remainder) &&
	       !__builtin_add_overflow(*quotient, (int64_t)(remainder != 0), quotient);
}

/* The multiple of b next to a, away from minus infinity for b > 0; b != 0 */
static inline bool integer_round_up(int64_t a, int64_t b, int64_t *multiple)
{
	return integer_ceil_div(a, b, multiple) && !__builtin_mul_overflow(*multiple, b, multiple);
}

/* base ** exponent; exponent >= 0 */
static inline bool integer_power(int64_t base, int64_t exponent, int64_t *power)
{
	*power = 1;
	for (;;) {
		if ((exponent & 1) && __builtin_mul_overflow(*power, base, power))
			return false;
		exponent >>= 1;
		if (!exponent)
			return true;
		if (__builtin_mul_overflow(base, base, &base))
			return false;
	}
}

/* a * 2 ** count; count >= 0 */
static inline bool integer_shift_left(int64_t a, int64_t count, int64_t *shifted)
{
	*shifted = 0;
	if (a == 0)
		return true;
	return count < 63 ? !__builtin_mul_overflow(a, (int64_t)1 << count, shifted)
			  : count == 63 && a == -1 && (*shifted = INT64_MIN, true);
}

/* floor(a / 2 ** count); count >= 0 */
static inline int64_t integer_shift_right(int64_t a, int64_t count)
{
	return a >> (count < 63 ? count : 63);
}

static inline bool integer_is_pow2(int64_t a)
{
	return a > 0 && (a & (a - 1)) == 0;
}

#endif
