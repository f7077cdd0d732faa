// GEMM on tensor cores through mma.sync (sm_80 and up): fp16, bf16 and tf32, both layouts of B.
//
// What a block does with its tile is mma_tile.cuh's. Constants from the build: BM BN BK WM WN
// STAGES MIN_BLOCKS, A_VEC and B_VEC (elements per copy that the pitches allow), C_ALIGN (bytes).
#include "common/quad.cuh"
#include "epilogue.cuh"
#include "gemm_types.cuh"
#include "mma_tile.cuh"
#include "raster.cuh"
#include "splitk.cuh"
#include "store.cuh"

// One row of a warp's sums, as the lanes of a quad hold it, into C.
__device__ __forceinline__ void store_row(output::memory *to, float (&sum)[n_tiles][2],
	const epilogue &finish, i32 row, i32 first_column, int lane, bool row_inside)
{
	const epilogue_row its = finish.row(row);
	const i32 inside = finish.n - first_column;
#pragma unroll
	for (int j = 0; j < n_tiles; j++)
		finish.apply(sum[j], its, first_column + j * 8 + lane % 4 * 2);
	constexpr int grouped = output_bytes == 2 ? n_tiles / 4 * 4 : 0;
#pragma unroll
	for (int j = 0; j < grouped; j += 4) {
		// Four tiles of 8 columns become 8 neighbouring columns, 16 bytes, per lane.
		u32 word[4];
#pragma unroll
		for (int w = 0; w < 4; w++)
			word[w] = output_run<2>(sum[j + w]).word[0];
		quad_transpose(word, (u32)lane);
		int column = (j + lane % 4) * 8;
		if (row_inside)
			store_words<4>(to + column, word, inside - column);
	}
#pragma unroll
	for (int j = grouped; j < n_tiles; j++) {
		int column = j * 8 + lane % 4 * 2;
		if (row_inside)
			store_run<2>(to + column, sum[j], inside - column);
	}
}

// The same as fp32, without the epilogue, into this block's plane of the split-K workspace.
__device__ __forceinline__ void store_partial_row(
	float *to, const float (&sum)[n_tiles][2], int lane, bool row_inside, int inside)
{
#pragma unroll
	for (int j = 0; j < n_tiles; j++) {
		// The pitch is a multiple of 4: a pair that begins inside may end in the padding.
		int column = j * 8 + lane % 4 * 2;
		if (row_inside && column < inside)
			*(vec8 *)(to + column) =
				vec8{{__float_as_uint(sum[j][0]), __float_as_uint(sum[j][1])}};
	}
}

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS) gemm_mma(const input::memory *A,
	const input::memory *B, output::memory *C, float *partial, int M, int N, int K, int lda,
	int ldb, int ldc, int group_m, int rows_a, int rows_b, EPILOGUE_PARAMETERS)
{
	extern __shared__ __align__(128) u8 shared[];
	const u32 ring = shared_address(shared);
	const int lane = threadIdx.x % 32;
	const int warp = threadIdx.x / 32;
	const int warp_m = warp % warps_m;
	const int warp_n = warp / warps_m;

	const tile_place tile = grouped_tile(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN), group_m);
	const k_share share = share_of_k(ceil_div(K, BK), blockIdx.y, gridDim.y);
	const int m = tile.m * BM;
	const int n = tile.n * BN;

	// grid.z: products of a batch
	A += (i64)blockIdx.z * rows_a * lda;
	B += (i64)blockIdx.z * rows_b * ldb;
	const i32 first_in_c = (i32)blockIdx.z * M;
	producer from_global(A, B, M, N, K, lda, ldb, m, n, share.first * BK);
	const fragment_reader reader(warp_m, warp_n, lane);
	float sum[m_tiles][n_tiles][4] = {};
	tile_multiply(sum, from_global, reader, ring, share.count);

	const i64 plane = (i64)M * split_k_pitch(N) * blockIdx.y;
	const int column = n + warp_n * WN;
	const epilogue finish = {EPILOGUE_ARGUMENTS, first_in_c + M, N, ldc};
#pragma unroll
	for (int i = 0; i < m_tiles; i++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row_in_tile = warp_m * WM + i * 16 + half * 8 + lane / 4;
			bool row_inside = row_in_tile < M - m;
			i64 row = first_in_c + m + (i64)row_in_tile;
			float line[n_tiles][2];
#pragma unroll
			for (int j = 0; j < n_tiles; j++) {
				line[j][0] = sum[i][j][2 * half];
				line[j][1] = sum[i][j][2 * half + 1];
			}
			if (gridDim.y > 1)
				store_partial_row(partial + plane + row * split_k_pitch(N) + column,
					line, lane, row_inside, N - column);
			else
				store_row(C + row * ldc + column, line, finish, (i32)row, column,
					lane, row_inside);
		}
}
