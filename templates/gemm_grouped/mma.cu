// Grouped GEMM through mma.sync (sm_80 and up): a block for each tile that there may be at most; it
// finds its group in the offsets, and leaves if there is none. What a block does with its tile is
// gemm/mma_tile.cuh's.
#include "gemm/mma_tile.cuh"
#include "gemm/store.cuh"
#include "gemm_grouped/groups.cuh"

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
	gemm_grouped_mma(const input::memory *A, const input::memory *B, const i32 *offsets,
		output::memory *C, i32 groups, i32 N, i32 K)
{
	extern __shared__ __align__(128) u8 shared[];
	const u32 ring = shared_address(shared);
	const int lane = threadIdx.x % 32;
	const int warp_m = threadIdx.x / 32 % warps_m, warp_n = threadIdx.x / 32 / warps_m;
	group_tile tile;

	if (!group_walk<BM, BN>(offsets, groups, N).find((i32)blockIdx.x, tile))
		return;
	producer from_global(
		A, B + (i64)tile.group * N * K, tile.end, N, K, K, K, tile.row, tile.column, 0);
	const fragment_reader reader(warp_m, warp_n, lane);
	float sum[m_tiles][n_tiles][4] = {};
	tile_multiply(sum, from_global, reader, ring, ceil_div(K, BK));

	const int column = tile.column + warp_n * WN + lane % 4 * 2;
#pragma unroll
	for (int i = 0; i < m_tiles; i++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			const int row = tile.row + warp_m * WM + i * 16 + half * 8 + lane / 4;
			if (row >= tile.end)
				continue;
#pragma unroll
			for (int j = 0; j < n_tiles; j++) {
				const float pair[2] = {
					sum[i][j][2 * half], sum[i][j][2 * half + 1]};
				store_run<2>(C + (i64)row * N + column + j * 8, pair,
					N - column - j * 8);
			}
		}
}
