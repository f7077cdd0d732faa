// Grouped GEMM through mma.sync (sm_80 and up, fp8 sm_89): a block for each tile that there may be
// at most; it finds its group in the offsets or counts, and leaves if there is none. What a block
// does with its tile is gemm/mma_tile.cuh's.
#include "common/mma_fp8.cuh"
#include "gemm/epilogue.cuh"
#include "gemm/mma_tile.cuh"
#include "gemm/store.cuh"
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
	gemm_grouped_mma(const input::memory *A, const input::memory *B, const i32 *offsets,
		const i32 *counts, const float *scale_a, const float *scale_b, output::memory *C,
		i32 groups, i32 room, i32 N, i32 K)
{
	extern __shared__ __align__(128) u8 shared[];
	const u32 ring = shared_address(shared);
	const int lane = threadIdx.x % 32;
	const int warp_m = threadIdx.x / 32 % warps_m, warp_n = threadIdx.x / 32 / warps_m;
	group_tile tile;

	if (!group_walk<BM, BN>({offsets, counts, room}, groups, N).find((i32)blockIdx.x, tile))
		return;
	producer from_global(
		A, B + (i64)tile.group * N * K, tile.end, N, K, K, K, tile.row, tile.column, 0);
	const fragment_reader reader(warp_m, warp_n, lane);
	float sum[m_tiles][n_tiles][4] = {};
	tile_multiply(sum, from_global, reader, ring, ceil_div(K, BK));

	const int column = tile.column + warp_n * WN + lane % 4 * 2;
	const epilogue finish = {scale_a,
		scale_b + (scales_rows ? (i64)tile.group * N : tile.group), nullptr, nullptr,
		nullptr, nullptr, tile.end, N, N};
#pragma unroll
	for (int i = 0; i < m_tiles; i++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			const int row = tile.row + warp_m * WM + i * 16 + half * 8 + lane / 4;
			if (row >= tile.end)
				continue;
			const epilogue_row its = finish.row(row);
#pragma unroll
			for (int j = 0; j < n_tiles; j++) {
				// One by one: scales of a group begin at any column.
				float one[1] = {sum[i][j][2 * half]};
				float other[1] = {sum[i][j][2 * half + 1]};
				finish.apply(one, its, column + j * 8);
				finish.apply(other, its, column + j * 8 + 1);
				const float pair[2] = {one[0], other[0]};
				store_run<2>(C + (i64)row * N + column + j * 8, pair,
					N - column - j * 8);
			}
		}
}
