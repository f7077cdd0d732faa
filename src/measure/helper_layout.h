/* SPDX-License-Identifier: MIT
 *
 * Names and constants that the worker shares with the tests' stand-in driver, which emulates the
 * helper kernels.
 */
#ifndef MEASURE_HELPER_LAYOUT_H
#define MEASURE_HELPER_LAYOUT_H

#include <stdint.h>

#include "expr/dtype.h"

#define HELPER_KERNELS(HELPER)                                                                     \
	HELPER(fill, "tt_fill")                                                                    \
	HELPER(offsets, "tt_offsets")                                                              \
	HELPER(poison, "tt_poison")                                                                \
	HELPER(guard_check, "tt_guard_check")                                                      \
	HELPER(compare_begin, "tt_compare_begin")                                                  \
	HELPER(compare, "tt_compare")                                                              \
	HELPER(magnitudes, "tt_magnitudes")                                                        \
	HELPER(checksum, "tt_checksum")                                                            \
	HELPER(cipher, "tt_cipher")                                                                \
	HELPER(anchor, "tt_anchor_1")

enum {
	HELPER_BLOCK = 256,
	ANCHOR_BLOCK = 512,
	ANCHOR_BLOCKS_PER_SM = 2,
	ANCHOR_ITERATIONS = 30000, /* about 1 ms at 1.98 GHz */
};

/* Contents of probe inputs. `low` is the magnitude of large elements; `high` scales all. */
enum probe {
	PROBE_MIXED =
		64,  /* one element in 64 is large, others at least 2^-8 of high; random signs */
	PROBE_SIGNS, /* values are high or twice high, with random signs */
};

/* Outputs hold this poison before a run. Floating-point types have a NaN that no arithmetic
 * produces, unlike the NaN of a kernel. */
static const uint32_t helper_output_poison[DTYPE_COUNT] = {
	[DTYPE_FP32] = 0x7fc5a5a5u,
	[DTYPE_TF32] = 0x7fd5a5a5u,
	[DTYPE_FP16] = 0x7ea57ea5u,
	[DTYPE_BF16] = 0x7fe57fe5u,
	[DTYPE_FP8_E4M3] = 0xffffffffu,
	[DTYPE_I32] = 0x80000000u,
	[DTYPE_FP64] = 0x7ff80000u,
	[DTYPE_FP8_E5M2] = 0x7d7d7d7du,
	[DTYPE_I8] = 0x80808080u,
	[DTYPE_I16] = 0x80008000u,
	[DTYPE_I64] = 0x80000080u,
	[DTYPE_U8] = 0xa5a5a5a5u,
	[DTYPE_U16] = 0xa6a5a6a5u,
	[DTYPE_U32] = 0xa5a5a5a6u,
	[DTYPE_U64] = 0xa7a5a5a5u,
	[DTYPE_BOOL] = 0x5a5a5a5au,
};
/* This pattern is a NaN in every floating-point dtype. */
static const uint32_t helper_workspace_poison = 0x7fff7fffu;

/* A reference kernel writes this value where any result is correct. */
static const uint64_t helper_anything = UINT64_C(0x7ff8000000000a11);

/* Integers have no NaN: unwritten elements of the trusted configuration must differ from a
 * candidate's. */
static inline uint32_t helper_trusted_poison(enum dtype dtype)
{
	return helper_output_poison[dtype] ^ (dtype_is_float(dtype) ? 0 : 0x01010101u);
}

/* The result of tt_magnitudes; a group covers 4 binades. */
enum {
	MAGNITUDE_GROUPS = 512
};
struct helper_magnitudes {
	uint64_t unset, nans;
	struct helper_magnitude_group {
		uint64_t count, largest_bits, smallest_inverted_bits;
	} groups[MAGNITUDE_GROUPS];
};

/* Matches struct tt_result in helpers.cu. */
struct helper_compare_result {
	uint64_t violations;
	/* index of the first wrong element; all bits are set if there is none */
	uint64_t first_bad;
	double max_abs_error;
	double first_out, first_expected;
	uint64_t nan_count;
	uint64_t blocks_done;
};

#endif
