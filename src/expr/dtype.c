/* SPDX-License-Identifier: MIT */
#include "expr/dtype.h"

#include "base/error.h"
#include "base/text.h"

const char *const dtype_names[] = {
	[DTYPE_FP32] = "fp32",
	[DTYPE_TF32] = "tf32",
	[DTYPE_FP16] = "fp16",
	[DTYPE_BF16] = "bf16",
	[DTYPE_FP8_E4M3] = "fp8_e4m3",
	[DTYPE_I32] = "i32",
	NULL,
};

static const size_t sizes_bytes[DTYPE_COUNT] = {[DTYPE_FP32] = 4,
	[DTYPE_TF32] = 4,
	[DTYPE_FP16] = 2,
	[DTYPE_BF16] = 2,
	[DTYPE_FP8_E4M3] = 1,
	[DTYPE_I32] = 4};

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
