/* SPDX-License-Identifier: MIT
 *
 * cuBLASLt as the baseline: loaded at run time, with its few functions declared here (values as in
 * cublasLt.h of CUDA 12 and 13), so that this program builds without its header and starts without
 * the library.
 *
 *	lt_open -> { lt_product_init -> lt_product_run(pick)* -> lt_product_release }* -> lt_close
 */
#ifndef VERSUS_LT_H
#define VERSUS_LT_H

#include <cuda.h>
#include <stdbool.h>

#include "base/error.h"
#include "process/library.h"
#include "base/text.h"
#include "expr/dtype.h"

enum {
	LT_PICKS_MAX = 100, /* maximum number of heuristic picks to request */
	LT_PICKS = 8,       /* default number of picks */
};

struct lt_algorithm { /* cublasLtMatmulAlgo_t */
	uint64_t data[8];
};

struct lt_heuristic { /* cublasLtMatmulHeuristicResult_t */
	struct lt_algorithm algorithm;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

struct lt {
	struct library library;
	void *handle;
	CUdeviceptr workspace; /* the caller owns the CUDA memory */
	size_t workspace_bytes;
	size_t (*version)(void);
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*matmul)(void *handle, void *description, const void *alpha, const void *a,
		void *a_layout, const void *b, void *b_layout, const void *beta, const void *c,
		void *c_layout, void *d, void *d_layout, const struct lt_algorithm *algorithm,
		void *workspace, size_t workspace_bytes, void *stream);
	int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
	int (*layout_destroy)(void *layout);
	int (*description_create)(void **description, int compute_type, int scale_type);
	int (*description_destroy)(void *description);
	int (*description_set)(void *description, int attribute, const void *value, size_t size);
	int (*preference_create)(void **preference);
	int (*preference_destroy)(void *preference);
	int (*preference_set)(void *preference, int attribute, const void *value, size_t size);
	int (*heuristic)(void *handle, void *description, void *a_layout, void *b_layout,
		void *c_layout, void *d_layout, void *preference, int wanted,
		struct lt_heuristic *results, int *found);
};

/* Keys of the problem in addition to the sizes and types. */
enum lt_scale { /* values are in the order of CUBLASLT_MATMUL_MATRIX_SCALE_* of our A */
	LT_SCALE_NONE,
	LT_SCALE_TENSOR,
	LT_SCALE_ROW,
	LT_SCALE_BLOCK,
};
extern const char *const lt_scale_names[];

enum lt_act {
	LT_ACT_NONE,
	LT_ACT_RELU,
	LT_ACT_GELU,
};
extern const char *const lt_act_names[];

/* C[m,n] = A[m,k] B, all row-major with the given pitches; B is [n,k], or [k,n] if b_is_kn. */
struct lt_shape {
	int64_t m, n, k, lda, ldb, ldc;
	bool b_is_kn;
	enum dtype in, out;
	bool fast_accumulation; /* for 8-bit inputs: use only the tensor cores' reduced-precision
				   sums */
	enum lt_scale scale;
	enum lt_act act;
	bool has_bias; /* the bias has C's type */
};

struct lt_tensors {
	CUdeviceptr a, b, c, scale_a, scale_b, bias; /* 0 if the tensor is absent */
};

struct lt_product {
	const struct lt *lt;
	void *description, *a_layout, *b_layout, *c_layout;
	struct lt_heuristic picks[LT_PICKS_MAX];
	int pick_count; /* 0 if cuBLASLt does not support the product */
	bool has_scales, has_bias;
};

/* Searches for libcublasLt.so.13, then .12, on the loader's path and in the toolkit's folders.
 * STATUS_NO_DEVICE if it is missing. A CUDA context must be current. */
enum status lt_open(
	struct lt *lt, CUdeviceptr workspace, size_t workspace_bytes, struct error *err);
void lt_close(struct lt *lt);
/* Appends the version, such as "13.1.0" (cublasLtGetVersion() returns 130100). */
void lt_version(const struct lt *lt, struct text *text);

/* Computes fp32 in full fp32 (no TF32), tf32 in TF32, and 16 and 8 bit types with fp32 sums. The
 * picks are in the order of cuBLASLt's heuristic: programs usually get the first. wanted is the
 * number to request, 1 to LT_PICKS_MAX. */
enum status lt_product_init(const struct lt *lt, const struct lt_shape *shape, int wanted,
	struct lt_product *product, struct error *err);
void lt_product_release(struct lt_product *product);
/* Queues one run. Returns 0 or cuBLASLt's status. */
int lt_product_run(const struct lt_product *product, int pick, const struct lt_tensors *tensors,
	CUstream stream);

#endif
