// SPDX-License-Identifier: MIT
// The sums of the rows of an 8192x8192 matrix: threads add up parts of a row, then warps and the block add up those sums.
#define COLUMNS 8192
template <int count> struct alignas(4 * count) vector_of { float values[count]; };

extern "C" __global__ void __launch_bounds__(block_size_x) row_sums(float *sums, const float *matrix)
{
	using vector_type = vector_of<VECTOR>;
	__shared__ float of_warps[32];

	for (int r = 0; r < rows_per_block; r++) {
		const int row = blockIdx.x * rows_per_block + r;
		const vector_type *from = (const vector_type *)(matrix + (size_t)row * COLUMNS);
		float sum[UNROLL] = {};

		for (int i = threadIdx.x; i < COLUMNS / VECTOR; i += block_size_x * UNROLL)
#pragma unroll
			for (int u = 0; u < UNROLL; u++) {
				const vector_type loaded = from[i + u * block_size_x];
				for (int v = 0; v < VECTOR; v++)
					sum[u] += loaded.values[v];
			}
		for (int u = 1; u < UNROLL; u++)
			sum[0] += sum[u];
		for (int lane = 16; lane; lane /= 2)
			sum[0] += __shfl_down_sync(~0u, sum[0], lane);
		if (threadIdx.x % 32 == 0)
			of_warps[threadIdx.x / 32] = sum[0];
		__syncthreads();
		if (threadIdx.x == 0) {
			for (int warp = 1; warp < block_size_x / 32; warp++)
				sum[0] += of_warps[warp];
			sums[row] = sum[0];
		}
		__syncthreads();
	}
}
