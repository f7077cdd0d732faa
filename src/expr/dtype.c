/* SPDX-License-Identifier: MIT */
#include "expr/dtype.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

const char *const dtype_names[] = {
	[DTYPE_FP32] = "fp32",
	[DTYPE_TF32] = "tf32",
	[DTYPE_FP16] = "fp16",
	[DTYPE_BF16] = "bf16",
	[DTYPE_FP8_E4M3] = "fp8_e4m3",
	[DTYPE_I32] = "i32",
	[DTYPE_FP64] = "fp64",
	[DTYPE_FP8_E5M2] = "fp8_e5m2",
	[DTYPE_I8] = "i8",
	[DTYPE_I16] = "i16",
	[DTYPE_I64] = "i64",
	[DTYPE_U8] = "u8",
	[DTYPE_U16] = "u16",
	[DTYPE_U32] = "u32",
	[DTYPE_U64] = "u64",
	[DTYPE_BOOL] = "bool",
	NULL,
};

static const size_t sizes_bytes[DTYPE_COUNT] = {
	[DTYPE_FP32] = 4,
	[DTYPE_TF32] = 4,
	[DTYPE_FP16] = 2,
	[DTYPE_BF16] = 2,
	[DTYPE_FP8_E4M3] = 1,
	[DTYPE_I32] = 4,
	[DTYPE_FP64] = 8,
	[DTYPE_FP8_E5M2] = 1,
	[DTYPE_I8] = 1,
	[DTYPE_I16] = 2,
	[DTYPE_I64] = 8,
	[DTYPE_U8] = 1,
	[DTYPE_U16] = 2,
	[DTYPE_U32] = 4,
	[DTYPE_U64] = 8,
	[DTYPE_BOOL] = 1,
};

int dtype_find(const char *name)
{
	return name_find(name, dtype_names);
}

size_t dtype_size(enum dtype dtype)
{
	if ((unsigned)dtype >= DTYPE_COUNT)
		BUG("dtype %d", (int)dtype);
	return sizes_bytes[dtype];
}

/* Sign, exponent and mantissa bits of IEEE 754's kind; e4m3 has no infinity. */
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

	switch (dtype) {
	case DTYPE_FP64:
		memcpy(&bits, &value, sizeof(value));
		return bits;
	case DTYPE_TF32:
		return small_float(value, 8, 10, true) << 13;
	case DTYPE_FP32:
		single = (float)value;
		memcpy(&bits, &single, sizeof(single));
		return bits;
	case DTYPE_FP16:
		return small_float(value, 5, 10, true);
	case DTYPE_BF16:
		return small_float(value, 8, 7, true);
	case DTYPE_FP8_E4M3:
		return small_float(value, 4, 3, false);
	case DTYPE_FP8_E5M2:
		return small_float(value, 5, 2, true);
	case DTYPE_BOOL:
		return value < 0 || value > 0;
	default:
		return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
	}
}
