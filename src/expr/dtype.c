/* SPDX-License-Identifier: MIT */
#include "expr/dtype.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

const char *const dtype_names[] = {
#define ROW(id, name, bytes, exponent, mantissa) name,
	DTYPES(ROW)
#undef ROW
		NULL};

static const struct {
	int bytes, exponent, mantissa;
} layouts[] = {
#define ROW(id, name, bytes, exponent, mantissa) {bytes, exponent, mantissa},
	DTYPES(ROW)
#undef ROW
};

int dtype_find(const char *name)
{
	return name_find(name, dtype_names);
}

size_t dtype_size(enum dtype dtype)
{
	if ((unsigned)dtype >= DTYPE_COUNT)
		BUG("dtype %d", (int)dtype);
	return (size_t)layouts[dtype].bytes;
}

/* Encodes an IEEE 754 float with fewer bits; e4m3 has no infinity. */
static uint64_t small_float(double value, int exponent_bits, int mantissa_bits, bool has_infinity)
{
	const int bias = (1 << (exponent_bits - 1)) - 1, most = has_infinity ? bias : bias + 1;
	const uint64_t sign = (uint64_t)(signbit(value) != 0) << (exponent_bits + mantissa_bits);
	const uint64_t all = ((uint64_t)1 << (exponent_bits + mantissa_bits)) - 1;
	const uint64_t infinite = has_infinity ? all >> mantissa_bits << mantissa_bits : all - 1;
	const double size = fabs(value), one = ldexp(1, mantissa_bits);
	int exponent = size > 0 && isfinite(size) ? ilogb(size) : 0;
	double scaled;

	if (isnan(value))
		return sign | all;
	if (!isfinite(size))
		return sign | infinite;
	if (!(size > 0))
		return sign;
	if (exponent < 1 - bias)
		exponent = 1 - bias;
	scaled = rint(ldexp(size, mantissa_bits - exponent));
	if (scaled >= 2 * one) {
		scaled /= 2;
		exponent++;
	}
	if (exponent > most || (exponent == most && !has_infinity && scaled >= 2 * one - 1))
		return sign | infinite;
	if (scaled < one) /* subnormal */
		return sign | (uint64_t)scaled;
	return sign | (uint64_t)(exponent + bias) << mantissa_bits | (uint64_t)(scaled - one);
}

uint64_t dtype_bits(enum dtype dtype, double value)
{
	uint64_t bits = 0;
	float single;

	if (dtype == DTYPE_FP64) {
		memcpy(&bits, &value, sizeof(value));
		return bits;
	}
	if (dtype == DTYPE_FP32) {
		single = (float)value;
		memcpy(&bits, &single, sizeof(single));
		return bits;
	}
	if (dtype == DTYPE_BOOL)
		return value < 0 || value > 0;
	if (layouts[dtype].exponent)
		return small_float(value, layouts[dtype].exponent, layouts[dtype].mantissa,
			       dtype != DTYPE_FP8_E4M3)
		       << (dtype == DTYPE_TF32 ? 13 : 0);
	return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}
