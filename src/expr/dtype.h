/* SPDX-License-Identifier: MIT
 *
 * Element types. The codes are also those of the helper kernels in templates/common/helpers.cu.
 */
#ifndef EXPR_DTYPE_H
#define EXPR_DTYPE_H

#include <stddef.h>

enum dtype {
	DTYPE_FP32 = 0,
	DTYPE_TF32 = 1, /* fp32 in memory, 10 mantissa bits */
	DTYPE_FP16 = 2,
	DTYPE_BF16 = 3,
	DTYPE_FP8_E4M3 = 4,
	DTYPE_I32 = 5,
	DTYPE_COUNT
};

extern const char *const dtype_names[]; /* NULL-terminated */
int dtype_find(const char *name);       /* -1 if unknown */
size_t dtype_size(enum dtype dtype);    /* bytes of one element */

#endif
