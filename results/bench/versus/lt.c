/* SPDX-License-Identifier: MIT */
#include "bench/versus/lt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

/* Constants of cublasLt.h, cublas_api.h and library_types.h. */
enum {
	LT_R_32F = 0,
	LT_R_16F = 2,
	LT_R_16BF = 14,
	LT_R_8F_E4M3 = 28,
	LT_COMPUTE_32F = 68,
	LT_COMPUTE_32F_FAST_TF32 = 77,
	LT_DESC_TRANSA = 3,
	LT_DESC_EPILOGUE = 7,
	LT_DESC_BIAS_POINTER = 8,
	LT_DESC_A_SCALE_POINTER = 17,
	LT_DESC_B_SCALE_POINTER = 18,
	LT_DESC_FAST_ACCUM = 25,
	LT_DESC_A_SCALE_MODE = 31,
	LT_DESC_B_SCALE_MODE = 32,
	LT_EPILOGUE_DEFAULT = 1,
	LT_EPILOGUE_RELU = 2,
	LT_EPILOGUE_BIAS = 4,
	LT_EPILOGUE_GELU = 32,
	LT_PREF_MAX_WORKSPACE_BYTES = 1,
	LT_OP_N = 0,
	LT_OP_T = 1,
	LT_STATUS_NOT_SUPPORTED = 15,
};

const char *const lt_scale_names[] = {"none", "tensor", "row", "block", NULL};
const char *const lt_act_names[] = {"none", "relu", "gelu_tanh", NULL};

static enum status try_open(struct lt *lt, const char *name)
{
	return library_open(&lt->library, name, NULL);
}

static enum status find_library(struct lt *lt, struct error *err)
{
	static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
	const char *const homes[] = {
		getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (try_open(lt, names[i]) == STATUS_OK)
			return STATUS_OK;
		for (size_t k = 0; k < ARRAY_COUNT(homes); k++) {
			char *path =
				homes[k] ? string_format("%s/lib64/%s", homes[k], names[i]) : NULL;
			enum status status = path ? try_open(lt, path) : STATUS_FAILED;

			free(path);
			if (status == STATUS_OK)
				return STATUS_OK;
		}
	}
	error_set(err, STATUS_NO_DEVICE,
		"cuBLASLt: expected libcublasLt.so.13 or .12 on the loader's path or in the "
		"toolkit, found none");
	error_hint(err, "LD_LIBRARY_PATH may name its folder");
	return STATUS_NO_DEVICE;
}

enum status lt_open(struct lt *lt, CUdeviceptr workspace, size_t workspace_bytes, struct error *err)
{
	const struct {
		const char *name;
		size_t offset;
	} calls[] = {
		{"cublasLtGetVersion", offsetof(struct lt, version)},
		{"cublasLtCreate", offsetof(struct lt, create)},
		{"cublasLtDestroy", offsetof(struct lt, destroy)},
		{"cublasLtMatmul", offsetof(struct lt, matmul)},
		{"cublasLtMatrixLayoutCreate", offsetof(struct lt, layout_create)},
		{"cublasLtMatrixLayoutDestroy", offsetof(struct lt, layout_destroy)},
		{"cublasLtMatmulDescCreate", offsetof(struct lt, description_create)},
		{"cublasLtMatmulDescDestroy", offsetof(struct lt, description_destroy)},
		{"cublasLtMatmulDescSetAttribute", offsetof(struct lt, description_set)},
		{"cublasLtMatmulPreferenceCreate", offsetof(struct lt, preference_create)},
		{"cublasLtMatmulPreferenceDestroy", offsetof(struct lt, preference_destroy)},
		{"cublasLtMatmulPreferenceSetAttribute", offsetof(struct lt, preference_set)},
		{"cublasLtMatmulAlgoGetHeuristic", offsetof(struct lt, heuristic)},
	};
	int result;

	*lt = (struct lt){.workspace = workspace, .workspace_bytes = workspace_bytes};
	if (find_library(lt, err) != STATUS_OK)
		return STATUS_NO_DEVICE;
	for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
		void *symbol = library_symbol(&lt->library, calls[i].name);

		if (!symbol)
			return error_set(err, STATUS_NO_DEVICE, "%s: expected %s, found none",
				lt->library.path, calls[i].name);
		memcpy((char *)lt + calls[i].offset, &symbol, sizeof(symbol));
	}
	result = lt->create(&lt->handle);
	return result == 0 ? STATUS_OK
			   : error_set(err, STATUS_NO_DEVICE, "%s: cublasLtCreate: status %d",
				     lt->library.path, result);
}

void lt_close(struct lt *lt)
{
	if (lt->handle)
		lt->destroy(lt->handle);
	library_close(&lt->library);
	*lt = (struct lt){0};
}

void lt_version(const struct lt *lt, struct text *text)
{
	size_t version = lt->version();

	text_appendf(text, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
}

static int data_type(enum dtype dtype)
{
	return dtype == DTYPE_FP16       ? LT_R_16F
	       : dtype == DTYPE_BF16     ? LT_R_16BF
	       : dtype == DTYPE_FP8_E4M3 ? LT_R_8F_E4M3
					 : LT_R_32F;
}

/* Sets scales, bias and activation. cuBLASLt's A is our B. */
static int describe_rest(const struct lt *lt, const struct lt_shape *shape, void *description)
{
	/* scale modes: scalar, one float per row, 1 x 128 blocks, 128 x 128 blocks */
	static const int32_t our_b[] = {0, 0, 3, 5}, our_a[] = {0, 0, 3, 4};
	static const int32_t acts[] = {0, LT_EPILOGUE_RELU, LT_EPILOGUE_GELU};
	int32_t epilogue = acts[shape->act] | (shape->has_bias ? LT_EPILOGUE_BIAS : 0);
	int result = 0;

	if (shape->scale != LT_SCALE_NONE)
		result = lt->description_set(
			description, LT_DESC_A_SCALE_MODE, &our_b[shape->scale], sizeof(our_b[0]));
	if (result == 0 && shape->scale != LT_SCALE_NONE)
		result = lt->description_set(
			description, LT_DESC_B_SCALE_MODE, &our_a[shape->scale], sizeof(our_a[0]));
	/* the heuristic must know that the matrices have scales */
	if (result == 0 && shape->scale != LT_SCALE_NONE)
		result = lt->description_set(description, LT_DESC_A_SCALE_POINTER, &lt->workspace,
			sizeof(lt->workspace));
	if (result == 0 && shape->scale != LT_SCALE_NONE)
		result = lt->description_set(description, LT_DESC_B_SCALE_POINTER, &lt->workspace,
			sizeof(lt->workspace));
	if (result == 0 && epilogue)
		result = lt->description_set(
			description, LT_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	return result;
}

/* cuBLASLt is column-major and computes C^T[n,m] = B^T A^T; our rows are its columns. */
static int describe(const struct lt *lt, const struct lt_shape *shape, struct lt_product *product)
{
	int compute = shape->in == DTYPE_TF32 ? LT_COMPUTE_32F_FAST_TF32 : LT_COMPUTE_32F;
	int32_t transpose = shape->b_is_kn ? LT_OP_N : LT_OP_T;
	int8_t fast = shape->fast_accumulation;
	uint64_t n = (uint64_t)shape->n, m = (uint64_t)shape->m, k = (uint64_t)shape->k;
	int in = data_type(shape->in);
	int result = lt->description_create(&product->description, compute, LT_R_32F);

	if (result == 0)
		result = lt->description_set(
			product->description, LT_DESC_TRANSA, &transpose, sizeof(transpose));
	if (result == 0 && shape->in == DTYPE_FP8_E4M3)
		result = lt->description_set(
			product->description, LT_DESC_FAST_ACCUM, &fast, sizeof(fast));
	if (result == 0)
		result = describe_rest(lt, shape, product->description);
	if (result == 0)
		result = lt->layout_create(&product->a_layout, in, shape->b_is_kn ? n : k,
			shape->b_is_kn ? k : n, shape->ldb);
	if (result == 0)
		result = lt->layout_create(&product->b_layout, in, k, m, shape->lda);
	if (result == 0)
		result = lt->layout_create(
			&product->c_layout, data_type(shape->out), n, m, shape->ldc);
	return result;
}

enum status lt_product_init(const struct lt *lt, const struct lt_shape *shape, int wanted,
	struct lt_product *product, struct error *err)
{
	void *preference = NULL;
	int result, found = 0;

	*product = (struct lt_product){
		.lt = lt, .has_scales = shape->scale != LT_SCALE_NONE, .has_bias = shape->has_bias};
	result = describe(lt, shape, product);
	if (result == 0)
		result = lt->preference_create(&preference);
	if (result == 0)
		result = lt->preference_set(preference, LT_PREF_MAX_WORKSPACE_BYTES,
			&lt->workspace_bytes, sizeof(lt->workspace_bytes));
	if (result == 0) {
		result = lt->heuristic(lt->handle, product->description, product->a_layout,
			product->b_layout, product->c_layout, product->c_layout, preference, wanted,
			product->picks, &found);
		if (result == LT_STATUS_NOT_SUPPORTED)
			result = found = 0;
	}
	if (preference)
		lt->preference_destroy(preference);
	for (int i = 0; result == 0 && i < found; i++)
		if (product->picks[i].state == 0)
			product->picks[product->pick_count++] = product->picks[i];
	return result == 0 ? STATUS_OK
			   : error_set(err, STATUS_FAILED, "cuBLASLt: status %d", result);
}

void lt_product_release(struct lt_product *product)
{
	if (product->description)
		product->lt->description_destroy(product->description);
	if (product->a_layout)
		product->lt->layout_destroy(product->a_layout);
	if (product->b_layout)
		product->lt->layout_destroy(product->b_layout);
	if (product->c_layout)
		product->lt->layout_destroy(product->c_layout);
	*product = (struct lt_product){0};
}

/* The description stores the pointers. */
static int set_pointer(
	const struct lt_product *product, bool wanted, int attribute, CUdeviceptr address)
{
	const void *pointer = (const void *)(uintptr_t)address;

	return wanted ? product->lt->description_set(
				product->description, attribute, &pointer, sizeof(pointer))
		      : 0;
}

int lt_product_run(const struct lt_product *product, int pick, const struct lt_tensors *tensors,
	CUstream stream)
{
	const struct lt *lt = product->lt;
	const float one = 1, zero = 0;
	void *c = (void *)(uintptr_t)tensors->c;
	int result = set_pointer(
		product, product->has_scales, LT_DESC_A_SCALE_POINTER, tensors->scale_b);

	if (result == 0)
		result = set_pointer(
			product, product->has_scales, LT_DESC_B_SCALE_POINTER, tensors->scale_a);
	if (result == 0)
		result = set_pointer(
			product, product->has_bias, LT_DESC_BIAS_POINTER, tensors->bias);
	if (result != 0)
		return result;
	return lt->matmul(lt->handle, product->description, &one,
		(const void *)(uintptr_t)tensors->b, product->a_layout,
		(const void *)(uintptr_t)tensors->a, product->b_layout, &zero, c, product->c_layout,
		c, product->c_layout, &product->picks[pick].algorithm,
		(void *)(uintptr_t)lt->workspace, lt->workspace_bytes, stream);
}
