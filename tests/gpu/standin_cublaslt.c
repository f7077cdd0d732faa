/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcublasLt.so.13 next to the stand-in driver (tests/faults), whose device memory
 * is host memory. It offers three picks (twelve if as many are requested), of which it refuses the
 * second. A product writes what the stand-in's kernels write, 0.75 everywhere, or the value in
 * $STANDIN_LT_VALUE, and takes no time.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/versus/lt.h"

struct layout {
	int type;
	uint64_t rows, columns;
	int64_t ld;
};

size_t cublasLtGetVersion(void)
{
	return 130100;
}

int cublasLtCreate(void **handle)
{
	return (*handle = calloc(1, 8)) ? 0 : 3;
}

int cublasLtDestroy(void *handle)
{
	free(handle);
	return 0;
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	struct layout *made = calloc(1, sizeof(*made));

	*made = (struct layout){type, rows, columns, ld};
	*layout = made;
	return ld >= (int64_t)rows ? 0 : 7;
}

int cublasLtMatrixLayoutDestroy(void *layout)
{
	free(layout);
	return 0;
}

int cublasLtMatmulDescCreate(void **description, int compute, int scale)
{
	(void)scale;
	return compute == 68 || compute == 77 ? cublasLtCreate(description) : 15;
}

int cublasLtMatmulDescDestroy(void *description)
{
	return cublasLtDestroy(description);
}

int cublasLtMatmulDescSetAttribute(void *description, int attribute, const void *value, size_t size)
{
	(void)description;
	return value && (attribute == 3 ? size == 4 : attribute == 25 && size == 1) ? 0 : 7;
}

int cublasLtMatmulPreferenceCreate(void **preference)
{
	return cublasLtCreate(preference);
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
	return cublasLtDestroy(preference);
}

int cublasLtMatmulPreferenceSetAttribute(
	void *preference, int attribute, const void *value, size_t size)
{
	(void)preference;
	return value && attribute == 1 && size == 8 ? 0 : 7;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *description, void *a, void *b, void *c,
	void *d, void *preference, int wanted, struct lt_heuristic *results, int *found)
{
	(void)handle, (void)description, (void)a, (void)b, (void)c, (void)d, (void)preference;
	memset(results, 0, (size_t)wanted * sizeof(*results));
	*found = wanted < 12 ? 3 : 12;
	results[1].state = 7;
	return 0;
}

static void put(void *data, uint64_t index, int type, float value)
{
	uint32_t bits;
	uint16_t half;

	memcpy(&bits, &value, 4);
	if (type == 0) {
		memcpy((char *)data + 4 * index, &bits, 4);
		return;
	}
	/* exact for values with few leading bits: bf16 is the upper half of fp32, fp16 has
	 * another exponent */
	half = type == 14 ? (uint16_t)(bits >> 16)
			  : (uint16_t)((((bits >> 23 & 0xff) - 112) << 10) | (bits >> 13 & 0x3ff));
	memcpy((char *)data + 2 * index, &half, 2);
}

int cublasLtMatmul(void *handle, void *description, const void *alpha, const void *a,
	const struct layout *a_layout, const void *b, const struct layout *b_layout,
	const void *beta, const void *c, const struct layout *c_layout, void *d,
	const struct layout *d_layout, const struct lt_algorithm *algorithm, void *workspace,
	size_t workspace_bytes, void *stream)
{
	const char *text = getenv("STANDIN_LT_VALUE");
	float value = text ? strtof(text, NULL) : 0.75f;

	(void)handle, (void)description, (void)algorithm, (void)workspace, (void)workspace_bytes;
	(void)stream, (void)alpha, (void)beta;
	/* column-major: C^T of n rows and m columns, from B^T and A^T */
	if (!a || !b || c != d || d_layout->columns != b_layout->columns ||
		b_layout->rows !=
			(a_layout->rows == d_layout->rows ? a_layout->columns : a_layout->rows) ||
		c_layout != d_layout)
		return 7;
	for (uint64_t column = 0; column < d_layout->columns; column++)
		for (uint64_t row = 0; row < d_layout->rows; row++)
			put(d, column * (uint64_t)d_layout->ld + row, d_layout->type, value);
	return 0;
}
