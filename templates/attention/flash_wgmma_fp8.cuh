// What flash_wgmma does otherwise with 8-bit elements. Tensor cores read these along k alone, and the k
// of P V are the rows of V: three warps of the loading group transpose its tiles. Then they lie so:
//   keys      of each 16: 0 1 8 9 2 3 10 11 4 5 12 13 6 7 14 15, as a lane has them in its accumulators
//             of S, whose weights thus are operands without an exchange
//   columns   of each 16: the even ones, then the odd ones, so that what stmatrix writes at a time meets
//             each bank once; output_store() puts them in order
#include "attention/flash_wgmma_rows.cuh"
#include "common/ldmatrix.cuh"
#pragma once

constexpr int transposed_span = line_span(BN);
constexpr u32 parts_at_once = 2; // reads under way

__device__ __forceinline__ u64 values_operand(u32 tile)
{
	return rows_operand<PADDED_DIM_V, transposed_span>(tile, 0);
}
constexpr __device__ __forceinline__ u32 values_advance(int step)
{
	return rows_advance<PADDED_DIM_V, transposed_span>(step);
}

// A warp's share of a tile of V, 16 columns at a time: ldmatrix reads pairs of them, of 32 keys.
__device__ __forceinline__ void values_transpose(u32 from, u32 to, u32 warp)
{
	constexpr u32 key_parts = BN / 32;
	u32 lane = threadIdx.x % 32;
#pragma unroll 1
	for (u32 column = warp; column < PADDED_DIM_V / 16; column += transposers) {
#pragma unroll
		for (u32 first = 0; first < key_parts; first += parts_at_once) {
			u32 pairs[parts_at_once][4];
#pragma unroll
			for (u32 i = 0; i < parts_at_once && first + i < key_parts; ++i)
				ldmatrix_x4_trans(pairs[i], rows_place<BN, value_span>(from,
					(first + i) * 32 + lane, column));
#pragma unroll
			for (u32 i = 0; i < parts_at_once && first + i < key_parts; ++i)
				stmatrix_x4(rows_place<PADDED_DIM_V, transposed_span>(to,
						column * 16 + lane % 16,
						(first + i) * 2 + lane / 16),
					__byte_perm(pairs[i][0], pairs[i][1], 0x6420),
					__byte_perm(pairs[i][0], pairs[i][1], 0x7531),
					__byte_perm(pairs[i][2], pairs[i][3], 0x6420),
					__byte_perm(pairs[i][2], pairs[i][3], 0x7531));
		}
	}
}

// What a transposing warp does.
struct transposer {
	rings ring;
	u32 warp;

	__device__ __forceinline__ void run(const schedule &list)
	{
		unit_ring::position at;
		loaded_ring::position from;
		value_ring::position to;
		for (;;) {
			i32 unit = unit_take(ring.units, at);
			if (unit >= list.units())
				return;
			for (i32 steps = list.place(unit).steps; steps > 0; --steps) {
				ring.loaded.wait(from);
				ring.v.claim(to);
				values_transpose(ring.loaded.at(from), ring.v.at(to), warp);
				proxy_fence();
				__syncwarp();
				if (threadIdx.x % 32 == 0)
					mbarrier_arrive(ring.v.full(to));
				ring.loaded.release(from, threadIdx.x % 32);
				from.next();
				to.next();
			}
		}
	}
};

// Output / sum, scaled and rounded, by 16-byte chunks straight to memory. `row` is this thread's first
// one. A row that saw no key has sum 0 and output 0.
__device__ __forceinline__ void output_store(const row_state &rows, output_memory *O,
	const schedule &list, const work &item, i32 row, float value_scale)
{
	u32 lane = threadIdx.x % 4;
#pragma unroll
	for (int half = 0; half < 2; ++half) {
		float sum = quad_sum(rows.sum[half]);
		float inverse = sum == 0.0f ? 0.0f : value_scale / sum;
		bool inside = row + half * 8 < list.rows();
		output_memory *to = O + list.place_of_row(item, row + half * 8) * HEAD_DIM_V +
				    lane % 2 * 16 + lane / 2 * 8;
		// Of each 16 columns a lane has 4 in a row; its neighbour has the next.
#pragma unroll
		for (int column = 0; column < PADDED_DIM_V; column += 32) {
			u32 word[4];
#pragma unroll
			for (int i = 0; i < 4; ++i) {
				int from = column / 2 + i / 2 * 8 + i % 2 + 2 * half;
				word[i] = output_element::store2(rows.output[from] * inverse,
					rows.output[from + 4] * inverse);
			}
			quad_exchange(word[0], word[2], 1);
			quad_exchange(word[1], word[3], 1);
			if (inside)
				*(vec16 *)(to + column) =
					vec16{{word[0], word[1], word[2], word[3]}};
		}
	}
}
