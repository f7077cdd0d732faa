// What becomes of the fp32 sums before they are written, for every family and every operation that
// has gemm's keys:
//   C = round(scale_c * (act(alpha * scale_a * scale_b * sum + beta * C_in + bias) + residual_in))
// Each key at its default (none, 1, 0) costs nothing. Scales of blocks are applied to the partial
// sums before (wgmma_scales.cuh). From the build: SCALE_*, BIAS_*, ALPHA, BETA, residual, ACT_*.
// Kernels take EPILOGUE_PARAMETERS last; what a problem does not have is a null pointer.
#include "common/activation.cuh"
#include "gemm_types.cuh"
#pragma once
#if BIAS_row && !OUT_DTYPE_fp8_e4m3
typedef output bias_type;
#elif BIAS_row
typedef bf16 bias_type;
#else
typedef fp32 bias_type;
#endif

#define EPILOGUE_PARAMETERS                                                                        \
	const float *scale_a, const float *scale_b, const bias_type::memory *bias_values,          \
		const output::memory *c_in, const output::memory *residual_in,                     \
		const float *scale_c
#define EPILOGUE_ARGUMENTS scale_a, scale_b, bias_values, c_in, residual_in, scale_c

#if SCALE_row
constexpr bool scales_rows = true;
#else
constexpr bool scales_rows = false;
#endif
#if SCALE_tensor
constexpr bool scales_all = true;
#else
constexpr bool scales_all = false;
#endif
// Builds from files of before these keys leave them out.
#ifndef ALPHA
#define ALPHA    1
#define BETA     0
#define residual 0
#endif
#if BIAS_row || BIAS_row_fp32
constexpr bool adds_bias = true;
#else
constexpr bool adds_bias = false;
#endif
constexpr bool multiplies = scales_rows || scales_all || ALPHA != 1;

// COUNT elements that begin at an address which, if `aligned`, is a multiple of their size;
// `inside` of them may be read, the others are 0.
template <typename DTYPE, int COUNT>
__device__ __forceinline__ void load_run(
	const typename DTYPE::memory *from, i32 inside, bool aligned, float (&to)[COUNT])
{
	typedef typename DTYPE::memory memory;
	constexpr int bytes = COUNT * (int)sizeof(memory);
	if constexpr (COUNT > 1) {
		if (aligned && inside >= COUNT) {
			union {
				memory element[COUNT];
				u16 half;
				u32 word;
				vec8 pair;
				vec16 four;
			} run;
			if constexpr (bytes == 2)
				run.half = *(const u16 *)from;
			else if constexpr (bytes == 4)
				run.word = *(const u32 *)from;
			else if constexpr (bytes == 8)
				run.pair = *(const vec8 *)from;
			else
				run.four = *(const vec16 *)from;
#pragma unroll
			for (int e = 0; e < COUNT; ++e)
				to[e] = DTYPE::load(run.element[e]);
			return;
		}
	}
#pragma unroll
	for (int e = 0; e < COUNT; ++e)
		to[e] = e < inside ? DTYPE::load(from[e]) : 0.0f;
}

struct epilogue_row {
	float scale;
	i64 offset; // of the row in C, C_in and residual_in
};

template <int COUNT> struct epilogue_columns {
	float scale[COUNT], bias[COUNT];
};

struct epilogue {
	const float *scale_a, *scale_b;
	const bias_type::memory *bias_values;
	const output::memory *c_in, *residual_in;
	const float *scale_c;
	i32 m, n, ldc;

	// A row behind the last one stands for the last one: nobody writes it. `scale`: the row's.
	__device__ __forceinline__ epilogue_row row(i32 index, float scale) const
	{
		return {(float)ALPHA * scale, (i64)min(index, m - 1) * ldc};
	}
	__device__ __forceinline__ epilogue_row row(i32 index) const
	{
		float scale = 1;
		if constexpr (scales_rows)
			scale = scale_a[min(index, m - 1)];
		if constexpr (scales_all)
			scale = scale_a[0] * scale_b[0];
		return row(index, scale);
	}

	// What COUNT columns from a multiple of COUNT on have in common over all rows.
	template <int COUNT>
	__device__ __forceinline__ epilogue_columns<COUNT> columns(i32 column) const
	{
		epilogue_columns<COUNT> some = {};
		if constexpr (scales_rows)
			load_run<fp32>(scale_b + column, n - column, true, some.scale);
		if constexpr (adds_bias)
			load_run<bias_type>(bias_values + column, n - column, true, some.bias);
		return some;
	}

	// Sums become values that only have to be rounded.
	template <int COUNT>
	__device__ __forceinline__ void apply(float (&sum)[COUNT], const epilogue_row &row,
		const epilogue_columns<COUNT> &columns, i32 column) const
	{
		[[maybe_unused]] float added[COUNT], residue[COUNT];
		const bool aligned = ldc % COUNT == 0;
		if constexpr (BETA != 0)
			load_run<output>(c_in + row.offset + column, n - column, aligned, added);
		if constexpr (residual != 0)
			load_run<output>(
				residual_in + row.offset + column, n - column, aligned, residue);
#pragma unroll
		for (int e = 0; e < COUNT; ++e) {
			float value = sum[e];
			if constexpr (multiplies)
				value *= scales_rows ? row.scale * columns.scale[e] : row.scale;
			if constexpr (BETA != 0)
				value += (float)BETA * added[e];
			if constexpr (adds_bias)
				value += columns.bias[e];
			value = activate(value);
			if constexpr (residual != 0)
				value += residue[e];
#if OUT_DTYPE_fp8_e4m3
			value *= scale_c[0];
#endif
			sum[e] = value;
		}
	}

	// For who has the sums of one row only.
	template <int COUNT>
	__device__ __forceinline__ void apply(
		float (&sum)[COUNT], const epilogue_row &row, i32 column) const
	{
		apply(sum, row, columns<COUNT>(column), column);
	}
};
