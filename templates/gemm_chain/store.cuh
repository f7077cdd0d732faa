// Writing a warp's sums, as mma.sync lays them out: rounded to the element type into Y, or as fp32
// into this block's plane of the workspace. Y_ALIGN is the power of two, 16 at most, that divides
// the bytes of a row of Y.
#include "common/quad.cuh"
#include "gemm_chain/chain_types.cuh"
#pragma once
// WORDS pairs of elements of which the first `inside` elements lie in the row (0 and less: none).
template <int WORDS>
__device__ __forceinline__ void store_pairs(
	element_memory *to, const u32 (&word)[WORDS], int inside)
{
	if (Y_ALIGN >= 4 * WORDS && inside >= 2 * WORDS) {
		if constexpr (WORDS == 4)
			*(vec16 *)to = vec16{{word[0], word[1], word[2], word[3]}};
		else
			*(u32 *)to = word[0];
		return;
	}
#pragma unroll
	for (int e = 0; e < 2 * WORDS; e++)
		if (e < inside)
			to[e] = (element_memory)(word[e / 2] >> 16 * (e % 2));
}

// One row of COLUMNS8 * 8 sums, half of a 16-row tile: `half` 0 is row lane / 4, 1 is 8 below.
// Every lane of the warp comes here; `to` is the row's first element.
template <int COLUMNS8>
__device__ __forceinline__ void row_store(element_memory *to, const float (&sum)[COLUMNS8][4],
	int half, int lane, bool row_inside, int inside)
{
	constexpr int grouped = COLUMNS8 / 4 * 4;
#pragma unroll
	for (int j = 0; j < grouped; j += 4) {
		// Four tiles of 8 columns become 8 neighbouring columns, 16 bytes, per lane.
		u32 word[4];
#pragma unroll
		for (int w = 0; w < 4; w++)
			word[w] = element::store2(sum[j + w][2 * half], sum[j + w][2 * half + 1]);
		quad_transpose(word, (u32)lane);
		int column = (j + lane % 4) * 8;
		if (row_inside)
			store_pairs<4>(to + column, word, inside - column);
	}
#pragma unroll
	for (int j = grouped; j < COLUMNS8; j++) {
		int column = j * 8 + lane % 4 * 2;
		u32 word[1] = {element::store2(sum[j][2 * half], sum[j][2 * half + 1])};
		if (row_inside)
			store_pairs<1>(to + column, word, inside - column);
	}
}

// The same as fp32; the plane's pitch is even, so a pair that begins inside may end in the padding.
template <int COLUMNS8>
__device__ __forceinline__ void row_store_partial(
	float *to, const float (&sum)[COLUMNS8][4], int half, int lane, bool row_inside, int inside)
{
#pragma unroll
	for (int j = 0; j < COLUMNS8; j++) {
		int column = j * 8 + lane % 4 * 2;
		if (row_inside && column < inside)
			*(vec8 *)(to + column) = vec8{{__float_as_uint(sum[j][2 * half]),
				__float_as_uint(sum[j][2 * half + 1])}};
	}
}
