// Split-K: several blocks share the sum of one tile, each writes its part as fp32 to a workspace,
// and the parts are added in the order of their index, so the result is the same every time:
// by the last of a tile's blocks to arrive (split_k_arrive), or by a second launch
// (gemm_split_k_reduce).
//
// The workspace `partial` has SPLIT_K planes of M rows of split_k_pitch(N) floats: rows begin at
// multiples of 16 bytes. In JSON: SPLIT_K*M*round_up(N, 4)*4 bytes. The workspace `arrived` has a
// counter a tile, zero before and after.
#include "epilogue.cuh"
#include "gemm_types.cuh"
#include "store.cuh"
#pragma once
__device__ __forceinline__ i64 split_k_pitch(int N)
{
	return ((i64)N + 3) / 4 * 4;
}

// Four neighbouring columns of C. A row behind the last one: none.
struct split_k_quad {
	i32 row, column;
};

// Adds the parts of QUADS of them, up to AHEAD parts of each at a time, and writes them to C.
// Nothing beyond the last part is added: a 0 more would do no harm, as no sum is -0.
template <int QUADS, int AHEAD>
__device__ __forceinline__ void split_k_finish(const float *partial, output::memory *C, int splits,
	const split_k_quad (&at)[QUADS], const epilogue &finish)
{
	const i64 pitch = split_k_pitch(finish.n);
	const i64 plane = finish.m * pitch;
	float sum[QUADS][4] = {};
#pragma unroll 1
	for (int first = 0; first < splits; first += AHEAD, partial += AHEAD * plane) {
		float4 part[AHEAD][QUADS];
#pragma unroll
		for (int p = 0; p < AHEAD; p++)
#pragma unroll
			for (int q = 0; q < QUADS; q++) {
				part[p][q] = make_float4(0, 0, 0, 0);
				if (first + p < splits && at[q].row < finish.m)
					part[p][q] = __ldcg(
						(const float4 *)(partial + p * plane +
								 at[q].row * pitch + at[q].column));
			}
#pragma unroll
		for (int p = 0; p < AHEAD; p++)
#pragma unroll
			for (int q = 0; q < QUADS; q++) {
				sum[q][0] += part[p][q].x;
				sum[q][1] += part[p][q].y;
				sum[q][2] += part[p][q].z;
				sum[q][3] += part[p][q].w;
			}
	}
#pragma unroll
	for (int q = 0; q < QUADS; q++)
		if (at[q].row < finish.m) {
			finish.apply(sum[q], finish.row(at[q].row), at[q].column);
			store_run<4>(C + (i64)at[q].row * finish.ldc + at[q].column, sum[q],
				finish.n - at[q].column);
		}
}

// Called by all threads of a block that has written its part of the tile of ROWS x COLUMNS at m, n:
// the last of the gridDim.y blocks to come finishes the tile and sets its counter back.
template <int ROWS, int COLUMNS, int THREADS>
__device__ __forceinline__ void split_k_arrive(
	const float *partial, output::memory *C, u32 *arrived, int m, int n, const epilogue &finish)
{
	__syncthreads();
	bool last = false;
	if (threadIdx.x == 0) {
		__threadfence(); // the arrival publishes what the barrier has gathered
		last = atomicInc(arrived, gridDim.y - 1) == gridDim.y - 1;
		__threadfence();
	}
	if (!__syncthreads_or(last))
		return;
	// As many loads ahead as the registers hold that the sums of the main loop had.
	constexpr int sums = ROWS * COLUMNS / THREADS;
	constexpr int quads = sums >= 128 ? 4 : sums >= 32 ? 2 : 1;
	const int count = min(ROWS, finish.m - m) * (COLUMNS / 4);
#pragma unroll 1
	for (int first = threadIdx.x; first < count; first += quads * THREADS) {
		split_k_quad at[quads];
#pragma unroll
		for (int q = 0; q < quads; q++) {
			const int i = first + q * THREADS;
			const int column = n + i % (COLUMNS / 4) * 4;
			const bool inside = i < count && column < finish.n;
			at[q] = {inside ? m + i / (COLUMNS / 4) : finish.m, column};
		}
		split_k_finish<quads, 4>(partial, C, gridDim.y, at, finish);
	}
}

// A thread adds four neighbouring columns. Launch ceil(M * round_up(N, 4) / 4 / block) blocks.
extern "C" __global__ void __launch_bounds__(256) gemm_split_k_reduce(const float *partial,
	output::memory *C, int M, int N, int ldc, int split_k, EPILOGUE_PARAMETERS)
{
	const i64 quads = split_k_pitch(N) / 4;
	const i64 index = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (index >= M * quads)
		return;
	const i64 row = index / quads;
	const split_k_quad at[1] = {{(i32)row, (i32)(index - row * quads) * 4}};
	split_k_finish<1, 8>(partial, C, split_k, at, epilogue{EPILOGUE_ARGUMENTS, M, N, ldc});
}
