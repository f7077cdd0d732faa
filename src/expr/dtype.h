/* SPDX-License-Identifier: MIT
 *
 * Element types of tensors and arguments. The helper kernels use the same codes
 * (templates/common/helpers.cu).
 */
#ifndef EXPR_DTYPE_H
#define EXPR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns: id, name, bytes of an element, and the exponent and mantissa bits of floats. The order
 * is that of the codes in the helper kernels. tf32 is stored as fp32; bool is a byte, 0 or 1. */
#define DTYPES(ROW)                                                                                \
	ROW(FP32, "fp32", 4, 8, 23)                                                                \
	ROW(TF32, "tf32", 4, 8, 10)                                                                \
	ROW(FP16, "fp16", 2, 5, 10)                                                                \
	ROW(BF16, "bf16", 2, 8, 7)                                                                 \
	ROW(FP8_E4M3, "fp8_e4m3", 1, 4, 3)                                                         \
	ROW(I32, "i32", 4, 0, 0)                                                                   \
	ROW(FP64, "fp64", 8, 11, 52)                                                               \
	ROW(FP8_E5M2, "fp8_e5m2", 1, 5, 2)                                                         \
	ROW(I8, "i8", 1, 0, 0)                                                                     \
	ROW(I16, "i16", 2, 0, 0)                                                                   \
	ROW(I64, "i64", 8, 0, 0)                                                                   \
	ROW(U8, "u8", 1, 0, 0)                                                                     \
	ROW(U16, "u16", 2, 0, 0)                                                                   \
	ROW(U32, "u32", 4, 0, 0)                                                                   \
	ROW(U64, "u64", 8, 0, 0)                                                                   \
	ROW(BOOL, "bool", 1, 0, 0)

enum dtype {
#define ROW(id, name, bytes, exponent, mantissa) DTYPE_##id,
	DTYPES(ROW)
#undef ROW
	DTYPE_COUNT
};

extern const char *const dtype_names[]; /* NULL-terminated */
int dtype_find(const char *name);       /* -1 if unknown */
size_t dtype_size(enum dtype dtype);
static inline bool dtype_is_float(enum dtype dtype)
{
	return dtype <= DTYPE_FP8_E4M3 || dtype == DTYPE_FP64 || dtype == DTYPE_FP8_E5M2;
}
static inline bool dtype_is_signed(enum dtype dtype) /* false for bool and floats */
{
	return dtype == DTYPE_I8 || dtype == DTYPE_I16 || dtype == DTYPE_I32 || dtype == DTYPE_I64;
}
/* Returns the bits of an element, little-endian. Floats are rounded to nearest even. Values beyond
 * the range become infinite, or the largest value in fp8_e4m3. Integers wrap. */
uint64_t dtype_bits(enum dtype dtype, double value);

#endif
