/* SPDX-License-Identifier: MIT */
#include "bench/versus/agree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/helper_kernels.h"

enum {
	ELEMENTS_MAX = 4 << 20,
	ROWS_MAX = 2048,
	ROWS_MIN = 16,
};

static float half_to_float(uint16_t half)
{
	uint32_t exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
	float value = exponent == 0x1f ? (mantissa ? NAN : INFINITY)
		      : exponent       ? ldexpf((float)(mantissa | 0x400), (int)exponent - 25)
				       : ldexpf((float)mantissa, -24);

	return half & 0x8000 ? -value : value;
}

static double element(const void *row, size_t index, enum dtype dtype)
{
	uint32_t bits;
	uint16_t half;
	float value;

	if (dtype == DTYPE_FP32 || dtype == DTYPE_TF32) {
		memcpy(&value, (const char *)row + 4 * index, 4);
		return (double)value;
	}
	memcpy(&half, (const char *)row + 2 * index, 2);
	if (dtype == DTYPE_FP16)
		return (double)half_to_float(half);
	bits = (uint32_t)half << 16;
	memcpy(&value, &bits, 4);
	return (double)value;
}

static uint64_t row_count(const struct plan_buffer *output)
{
	uint64_t count = ELEMENTS_MAX / output->columns;

	count = count < ROWS_MIN ? ROWS_MIN : count > ROWS_MAX ? ROWS_MAX : count;
	return count < output->rows ? count : output->rows;
}

/* Returns rows at equal distances, including the first and last; the caller frees them. */
static bool rows_of(struct gpu_session *gpu, const struct timed_run *timed_run,
	const struct plan_buffer *output, CUdeviceptr data, void **rows)
{
	size_t size = dtype_size(output->dtype), row_bytes = (size_t)output->columns * size;
	uint64_t count = row_count(output);
	bool done = helper_poison(gpu, data, output->bytes, helper_output_poison[output->dtype]) &&
		    timed_run->run(timed_run->context, gpu, 0);

	*rows = memory_zeroed((size_t)count, row_bytes);
	for (uint64_t i = 0; done && i < count; i++) {
		uint64_t row = count > 1 ? i * (output->rows - 1) / (count - 1) : 0;

		done = gpu_succeeded(gpu,
			gpu->cuda.cuMemcpyDtoHAsync((char *)*rows + i * row_bytes,
				data + row * output->ld * size, row_bytes, gpu->stream),
			"reading the output");
	}
	return done && gpu_synchronize(gpu, "reading the output");
}

bool agree_measure(struct gpu_session *gpu, const struct timed_run *ours,
	const struct timed_run *theirs, const struct plan_buffer *output, CUdeviceptr data,
	double *difference)
{
	size_t count = (size_t)(row_count(output) * output->columns);
	void *a = NULL, *b = NULL;
	double squares = 0, norm = 0;
	bool done = rows_of(gpu, ours, output, data, &a) && rows_of(gpu, theirs, output, data, &b);

	for (size_t i = 0; done && i < count; i++) {
		double x = element(a, i, output->dtype), y = element(b, i, output->dtype);

		squares += (x - y) * (x - y);
		norm += y * y;
	}
	if (done)
		*difference = norm > 0 || isnan(norm) ? sqrt(squares / norm) : sqrt(squares);
	free(a);
	free(b);
	return done;
}

double agree_limit(enum dtype in, enum dtype out)
{
	/* fp8's accumulators have about 13 bits and truncate; even cuBLASLt's picks differ */
	double sums = in == DTYPE_FP8_E4M3 ? 2e-2 : in == DTYPE_FP32 ? 1e-5 : 2e-3;
	double rounding = out == DTYPE_BF16 ? 4e-3 : out == DTYPE_FP16 ? 5e-4 : 0;

	return sums + rounding;
}
