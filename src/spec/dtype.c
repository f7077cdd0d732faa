/* SPDX-License-Identifier: MIT
 *
 * The table of element types.
 */
#include "spec/dtype.h"

#include <string.h>

#include "base/error.h"

static const struct {
	const char *name;
	size_t size_bytes;
} dtypes[DTYPE_COUNT] = {
	[DTYPE_FP32] = {"fp32", 4},
	[DTYPE_TF32] = {"tf32", 4},
	[DTYPE_FP16] = {"fp16", 2},
	[DTYPE_BF16] = {"bf16", 2},
	[DTYPE_FP8_E4M3] = {"fp8_e4m3", 1},
	[DTYPE_I32] = {"i32", 4},
};

const char *dtype_name(enum dtype dtype)
{
	if ((unsigned)dtype >= DTYPE_COUNT)
		BUG("dtype %d", (int)dtype);
	return dtypes[dtype].name;
}

int dtype_find(const char *name)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (strcmp(dtypes[i].name, name) == 0)
			return i;
	return -1;
}

size_t dtype_size(enum dtype dtype)
{
	if ((unsigned)dtype >= DTYPE_COUNT)
		BUG("dtype %d", (int)dtype);
	return dtypes[dtype].size_bytes;
}
