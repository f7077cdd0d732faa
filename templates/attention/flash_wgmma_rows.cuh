// What a thread of a multiplying warp group does with its two query rows (`half` 0 and 1: row l/4
// of its warp's 16 and the one 8 below): masks, online softmax, output. Rows lie as wgmma lays out
// its accumulators (common/wgmma.cuh), a quad of lanes holds one between them.
#include "attention/flash_wgmma_schedule.cuh"
#include "common/quad.cuh"
#include "common/stmatrix.cuh"
#pragma once
constexpr int score_count = BN / 2; // of a thread, in 64 rows
constexpr int output_count = PADDED_DIM_V / 2;
constexpr int value_steps = BN * element_bytes / 32; // k steps of P V
// Weights of 8 bits are as large as these allow, by a power of two that the sums have as well.
constexpr float weight_log2 = element_bytes == 1 ? 8.0f : 0.0f;

typedef float score_fragment[score_count];
typedef u32 weight_fragment[value_steps][4];

struct row_state {
	float output[output_count];
	float bias[2];   // running maximum, in units of exp2
	float sum[2];    // of this thread's columns only, until the end
	float factor[2]; // what the last scores_raise() has left to multiply the output with

	__device__ __forceinline__ void clear()
	{
#pragma unroll
		for (int i = 0; i < output_count; ++i)
			output[i] = 0.0f;
#pragma unroll
		for (int half = 0; half < 2; ++half) {
			bias[half] = masked_score();
			sum[half] = 0.0f;
		}
	}
};

// The larger one; a NaN stays one, where fmaxf would drop it. One instruction, as fmaxf is.
__device__ __forceinline__ float max_or_nan(float x, float y)
{
	float larger;
	asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
	return larger;
}

// 2^x for x <= 8 in the multiply-add pipes, relative error 7.5e-5: the nearest integer goes into
// the exponent, a cubic (minimax on [-1/2, 1/2]) gives the rest. Below 2^-126 it stays there; a NaN
// stays one.
__device__ __forceinline__ float exp2_cubic(float x)
{
	const float shift =
		12582912.0f; // 1.5 * 2^23: adding it rounds to an integer, in the low bits
	x = max_or_nan(x, -126.0f);
	float whole = x + shift;
	float rest = x - (whole - shift);
	float y = fmaf(0.055171669f, rest, 0.24261112f);
	y = fmaf(y, rest, 0.69326099f);
	y = fmaf(y, rest, 0.99992807f);
	return __uint_as_float(__float_as_uint(y) + (__float_as_uint(whole) << 23));
}

// Scores of keys that a row does not see become minus infinity. `limit` counts the keys, from this
// thread's first column of the tile on, that its row sees.
__device__ __forceinline__ void scores_mask(score_fragment &s, const i32 (&limit)[2])
{
#pragma unroll
	for (int i = 0; i < score_count; ++i)
		if (i / 4 * 8 + i % 2 >= limit[i / 2 % 2])
			s[i] = masked_score();
}

// Raises the running maxima to those of the new scores. `offset` is what to subtract in the
// exponent: the maximum (0 in a row that has seen no key) less weight_log2. rows.factor is for what
// was added up before; it comes from the rounded maxima that were in fact subtracted, so that huge
// scores, whose maxima are coarsely rounded, are weighted alike before and after a change.
template <bool MASKED>
__device__ __forceinline__ void scores_raise(
	const score_fragment &s, row_state &rows, float scale, float (&offset)[2])
{
#pragma unroll
	for (int half = 0; half < 2; ++half) {
		// Four chains: a scheduler has too few warps to hide the latency of one.
		float top[4];
#pragma unroll
		for (int j = 0; j < BN / 8; ++j) {
			float pair = fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1]);
			top[j % 4] = j < 4 ? pair : fmaxf(top[j % 4], pair);
		}
		float all = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[2], top[3]));
		float old = rows.bias[half];
		float bias = fmaxf(old, quad_max(all) * scale);
		float most = MASKED && bias == masked_score() ? 0.0f : bias;
		offset[half] = most - weight_log2;
		rows.factor[half] = exp2_fast(old - most);
		rows.bias[half] = bias;
	}
}

// Scores become weights, which are added up: P = exp2(S scale - offset). EXP_FMA of 16 exponentials
// bypass the special function unit, which is the bottleneck of narrow heads. (A masked score needs
// an exact 0.)
template <bool MASKED>
__device__ __forceinline__ void scores_weigh(
	score_fragment &s, row_state &rows, float scale, const float (&offset)[2])
{
	float part[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
#pragma unroll
	for (int i = 0; i < score_count; ++i) {
		int half = i / 2 % 2;
		float x = fmaf(s[i], scale, -offset[half]);
		bool by_fma = !MASKED && i * EXP_FMA % 16 < EXP_FMA;
		s[i] = by_fma ? exp2_cubic(x) : exp2_fast(x);
		part[half][i % 2] += s[i];
	}
#pragma unroll
	for (int half = 0; half < 2; ++half)
		rows.sum[half] =
			fmaf(rows.sum[half], rows.factor[half], part[half][0] + part[half][1]);
}

// Earlier output is brought to the new maxima.
__device__ __forceinline__ void output_rescale(row_state &rows)
{
#pragma unroll
	for (int i = 0; i < output_count; ++i)
		rows.output[i] *= rows.factor[i / 2 % 2];
}

#if DTYPE_fp8_e4m3
// Four rounded weights: of k step `step` word number `word` of this thread's fragment.
__device__ __forceinline__ u32 weights_word(const score_fragment &s, int step, int word)
{
	const float *from = &s[16 * step + word / 2 * 8 + word % 2 * 2];
	u32 four;
	asm("{\n"
	    ".reg .b16 low, high;\n"
	    "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
	    "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
	    "mov.b32 %0, {low, high};\n"
	    "}"
		: "=r"(four)
		: "f"(from[0]), "f"(from[1]), "f"(from[4]), "f"(from[5]));
	return four;
}
#else
// Two rounded weights: of k step `step` word number `word` of this thread's fragment.
__device__ __forceinline__ u32 weights_word(const score_fragment &s, int step, int word)
{
	int from = 8 * step + 2 * word;
	return element::store2(s[from], s[from + 1]);
}
#endif

// Rounded weights as the operand of P V: neighbouring blocks of 8 columns are one fragment.
__device__ __forceinline__ void weights_round(weight_fragment &p, const score_fragment &s)
{
#pragma unroll
	for (int i = 0; i < 4 * value_steps; ++i)
		p[i / 4][i % 4] = weights_word(s, i / 4, i % 4);
}

// The same by way of shared memory: lane addresses are those of stmatrix, rows lane % 16 of the
// warp's 16 and 16 bytes of a row. A warp's rows are read by its own part of the product alone.
__device__ __forceinline__ void weights_store(u32 tile, u32 thread, const score_fragment &s)
{
	u32 row = thread / 32 * 16 + thread % 16, side = thread % 32 / 16;
#pragma unroll
	for (int i = 0; i < value_steps; ++i)
		stmatrix_x4(rows_place<64, weight_span>(tile, row, 2 * i + side),
			weights_word(s, i, 0), weights_word(s, i, 1), weights_word(s, i, 2),
			weights_word(s, i, 3));
	proxy_fence();
	__syncwarp();
}

#if !DTYPE_fp8_e4m3
// Output / sum, rounded, by 16-byte chunks straight to memory. `row` is this thread's first one. A
// row that saw no key has sum 0 and output 0.
__device__ __forceinline__ void output_store(const row_state &rows, output_memory *O,
	const schedule &list, const work &item, i32 row, float)
{
	constexpr int blocks = PADDED_DIM_V / 8; // of 8 columns, a chunk of 16 bytes in each row
#pragma unroll
	for (int half = 0; half < 2; ++half) {
		float sum = quad_sum(rows.sum[half]);
		float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
		bool inside = row + half * 8 < list.rows();
		output_memory *to = O + list.place_of_row(item, row + half * 8) * HEAD_DIM_V;
#pragma unroll
		for (int block = 0; block < blocks; block += 4) {
			vec16 chunk;
#pragma unroll
			for (int j = 0; j < 4; ++j) {
				int from = (block + j) * 4 + 2 * half;
				chunk.word[j] =
					block + j < blocks
						? element::store2(rows.output[from] * inverse,
							  rows.output[from + 1] * inverse)
						: 0;
			}
			quad_transpose(chunk.word);
			int mine = block + (int)(threadIdx.x % 4);
			if (inside && mine < HEAD_DIM_V / 8)
				*(vec16 *)(to + mine * 8) = chunk;
		}
	}
}
#endif

// Zeros in all of the block's rows; `thread` of GROUPS * 128.
__device__ __forceinline__ void output_zero(
	output_memory *O, const schedule &list, const work &item, u32 thread)
{
	constexpr i32 row_chunks = HEAD_DIM_V / 8;
	i32 chunks = min(BM, list.rows() - item.row) * row_chunks;
	for (i32 i = (i32)thread; i < chunks; i += GROUPS * 128) {
		i64 place = list.place_of_row(item, item.row + i / row_chunks);
		((vec16 *)(O + place * HEAD_DIM_V))[i % row_chunks] = vec16{{0, 0, 0, 0}};
	}
}
