/* SPDX-License-Identifier: MIT
 *
 * Element types. The codes are also those of the helper kernels in templates/common/helpers.cu.
 */
#ifndef EXPR_DTYPE_H
#define EXPR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
	DTYPE_FP32 = 0,
	DTYPE_TF32 = 1, /* fp32 in memory, 10 mantissa bits */
	DTYPE_FP16 = 2,
	DTYPE_BF16 = 3,
	DTYPE_FP8_E4M3 = 4,
	DTYPE_I32 = 5,
	DTYPE_FP64 = 6,
	DTYPE_FP8_E5M2 = 7,
	DTYPE_I8 = 8,
	DTYPE_I16 = 9,
	DTYPE_I64 = 10,
	DTYPE_U8 = 11,
	DTYPE_U16 = 12,
	DTYPE_U32 = 13,
	DTYPE_U64 = 14,
	DTYPE_BOOL = 15, /* a byte, 0 or 1 */
	DTYPE_COUNT
};

extern const char *const dtype_names[]; /* NULL-terminated */
int dtype_find(const char *name);       /* -1 if unknown */
size_t dtype_size(enum dtype dtype);    /* bytes of one element */
static inline bool dtype_is_float(enum dtype dtype)
{
	return dtype <= DTYPE_FP8_E4M3 || dtype == DTYPE_FP64 || dtype == DTYPE_FP8_E5M2;
}
static inline bool dtype_is_signed(enum dtype dtype) /* of integers; bool is none */
{
	return dtype == DTYPE_I8 || dtype == DTYPE_I16 || dtype == DTYPE_I32 || dtype == DTYPE_I64;
}
/* An element as it lies in memory, little end first: floats rounded to nearest, ties to even
 * (beyond the largest: infinite, fp8_e4m3 its largest), integers wrapped. */
uint64_t dtype_bits(enum dtype dtype, double value);

#endif
