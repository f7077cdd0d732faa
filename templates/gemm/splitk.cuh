// Split-K: several blocks share the sum of one tile, each writes its part as fp32 to a workspace,
// and a second launch adds the parts in the order of their index, so the result is the same every
// time.
//
// The workspace `partial` has SPLIT_K planes of M rows of split_k_pitch(N) floats: rows begin at
// multiples of 16 bytes. In JSON: SPLIT_K*M*round_up(N, 4)*4 bytes.
#include "epilogue.cuh"
#include "gemm_types.cuh"
#include "store.cuh"
#pragma once
__device__ __forceinline__ i64 split_k_pitch(int N)
{
	return ((i64)N + 3) / 4 * 4;
}

// A thread adds four neighbouring columns. Launch ceil(M * round_up(N, 4) / 4 / block) blocks.
extern "C" __global__ void __launch_bounds__(256) gemm_split_k_reduce(const float *partial,
	output::memory *C, int M, int N, int ldc, int split_k, EPILOGUE_PARAMETERS)
{
	i64 pitch = split_k_pitch(N);
	i64 quads = pitch / 4;
	i64 index = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (index >= M * quads)
		return;
	i64 row = index / quads;
	int col = (int)(index - row * quads) * 4;
	float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
	const float *part = partial + row * pitch + col;
#pragma unroll 8
	for (int split = 0; split < split_k; split++, part += M * pitch) {
		float4 four = *(const float4 *)part;
		sum[0] += four.x;
		sum[1] += four.y;
		sum[2] += four.z;
		sum[3] += four.w;
	}
	const epilogue finish = {EPILOGUE_ARGUMENTS, M, N, ldc};
	finish.apply(sum, finish.row((i32)row), col);
	store_run<4>(C + row * ldc + col, sum, N - col);
}
