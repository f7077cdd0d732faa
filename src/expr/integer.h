/* SPDX-License-Identifier: MIT
 *
 * Checked 64-bit arithmetic with Python's rounding. Every function returns false on overflow.
 * Inline, because the machine's fast path lives from it.
 */
#ifndef EXPR_INTEGER_H
#define EXPR_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

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
