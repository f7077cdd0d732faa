/* SPDX-License-Identifier: MIT
 *
 * Kernel arguments: a buffer, a tensor map, or a number.
 */
#ifndef PLAN_ARGUMENT_H
#define PLAN_ARGUMENT_H

#include "expr/dtype.h"

/* Columns: kind, name in JSON, element type of a number. Numbers come last; u64 has the bits of an
 * int64. Only reference kernels have units (const int64 *), unit_count (int32) and expected (double
 * *). */
#define ARGUMENTS(ROW)                                                                             \
	ROW(ARGUMENT_BUFFER, "buffer", DTYPE_COUNT)                                                \
	ROW(ARGUMENT_TENSOR_MAP, "tensor_map", DTYPE_COUNT)                                        \
	ROW(ARGUMENT_UNITS, "units", DTYPE_COUNT)                                                  \
	ROW(ARGUMENT_UNIT_COUNT, "unit_count", DTYPE_COUNT)                                        \
	ROW(ARGUMENT_EXPECTED, "expected", DTYPE_COUNT)                                            \
	ROW(ARGUMENT_INT32, "i32", DTYPE_I32)                                                      \
	ROW(ARGUMENT_INT64, "i64", DTYPE_I64)                                                      \
	ROW(ARGUMENT_FLOAT32, "f32", DTYPE_FP32)                                                   \
	ROW(ARGUMENT_INT8, "i8", DTYPE_I8)                                                         \
	ROW(ARGUMENT_INT16, "i16", DTYPE_I16)                                                      \
	ROW(ARGUMENT_UINT8, "u8", DTYPE_U8)                                                        \
	ROW(ARGUMENT_UINT16, "u16", DTYPE_U16)                                                     \
	ROW(ARGUMENT_UINT32, "u32", DTYPE_U32)                                                     \
	ROW(ARGUMENT_UINT64, "u64", DTYPE_U64)                                                     \
	ROW(ARGUMENT_BOOL, "bool", DTYPE_BOOL)                                                     \
	ROW(ARGUMENT_FLOAT64, "f64", DTYPE_FP64)                                                   \
	ROW(ARGUMENT_FLOAT16, "f16", DTYPE_FP16)                                                   \
	ROW(ARGUMENT_BFLOAT16, "bf16", DTYPE_BF16)

enum argument_kind {
#define ROW(kind, name, dtype) kind,
	ARGUMENTS(ROW)
#undef ROW
};

struct plan_argument {
	enum argument_kind kind;
	uint32_t index;
	int64_t integer;
	double real;
};

/* Returns the element type of a number, or DTYPE_COUNT for other arguments. */
static inline enum dtype argument_dtype(enum argument_kind kind)
{
#define ROW(kind, name, dtype) [kind] = (dtype),
	static const enum dtype dtypes[] = {ARGUMENTS(ROW)};
#undef ROW

	return dtypes[kind];
}

/* Returns the bits of a number, little-endian. */
static inline uint64_t plan_argument_bits(const struct plan_argument *argument)
{
	const enum dtype dtype = argument_dtype(argument->kind);

	return dtype_is_float(dtype) ? dtype_bits(dtype, argument->real)
				     : (uint64_t)argument->integer;
}

static inline uint32_t plan_argument_bytes(enum argument_kind kind)
{
	const enum dtype dtype = argument_dtype(kind);

	if (dtype != DTYPE_COUNT)
		return (uint32_t)dtype_size(dtype);
	return kind == ARGUMENT_TENSOR_MAP ? 128 : kind == ARGUMENT_UNIT_COUNT ? 4 : 8;
}

extern const char *const argument_kind_names[]; /* NULL-terminated; in plan/plan.c */

#endif
