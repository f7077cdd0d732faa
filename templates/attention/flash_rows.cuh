// How the tiles of flash_mma lie in shared memory, and what a warp does at the end of its rows.
#include "attention/mma_rows.cuh"
#include "attention/rows.cuh"
#pragma once
constexpr int threads = WARPS * 32;
constexpr int row_tiles = BM / (16 * WARPS); // 16-row tiles of a warp
constexpr int padded_dim = dim_steps * 16;   // whole k steps of the tensor cores
constexpr int dim_tiles = head_dim / 8;      // 8-column tiles of the output

typedef row_layout<padded_dim, SWIZZLE != 0> layout;
constexpr int query_bytes = BM * layout::pitch_bytes;
constexpr int tile_bytes = BN * layout::pitch_bytes;

static_assert(BM % (16 * WARPS) == 0 && BN % 16 == 0, "tiles by 16");
static_assert(query_bytes + 2 * STAGES * tile_bytes == SMEM, "flash_mma.json's smem_bytes");

typedef warp_state<row_tiles, dim_tiles> warp_rows;
typedef u32 query_fragments[row_tiles][4];

__device__ __forceinline__ void query_load(query_fragments &a, u32 query_lane, int step)
{
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
		ldmatrix_x4(a[r],
			layout::advance(query_lane, step) + (u32)(r * 16 * layout::pitch_bytes));
}

// output / sum, rounded, through the warp's own rows of `staging` (they held Q) so that whole
// 16-byte chunks go to memory. A row that saw no key has sum 0 and output 0.
__device__ __forceinline__ void rows_store(
	warp_rows &rows, u8 *staging, int warp_row, int lane, u8 *out, int valid_rows)
{
	__syncwarp(); // other lanes may still be reading Q
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float inverse = inverse_sum(quad_sum(rows.sum[r][half]));
			int row = warp_row + r * 16 + half * 8 + lane / 4;
#pragma unroll
			for (int d = 0; d < dim_tiles; d++)
				*(u32 *)(staging + layout::offset(row, d) + lane % 4 * 4) =
					element::store2(rows.output[r][d][2 * half] * inverse,
						rows.output[r][d][2 * half + 1] * inverse);
		}
	__syncwarp();
	constexpr int row_chunks = head_dim / 8;
	for (int i = lane; i < row_tiles * 16 * row_chunks; i += 32) {
		int row = warp_row + i / row_chunks;
		if (row < valid_rows)
			*(vec16 *)(out + (i64)row * (head_dim * 2) + i % row_chunks * 16) =
				*(const vec16 *)(staging + layout::offset(row, i % row_chunks));
	}
}
