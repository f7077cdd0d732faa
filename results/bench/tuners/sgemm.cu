// SPDX-License-Identifier: MIT
// C = A * B in fp32, 4096 cubed, row-major: tiles in shared memory, TM x TN sums in the registers of each thread.
#define SIZE 4096
#define THREADS_M (BM / TM)
#define THREADS_N (BN / TN)
#define THREADS (THREADS_M * THREADS_N)

extern "C" __global__ void __launch_bounds__(THREADS) sgemm(float *c, const float *a, const float *b)
{
	__shared__ float tile_a[BK][BM + PAD], tile_b[BK][BN];
	const int thread = threadIdx.x, m = thread / THREADS_N, n = thread % THREADS_N;
	const int first_m = blockIdx.y * BM, first_n = blockIdx.x * BN;
	float sums[TM][TN] = {};

	for (int first_k = 0; first_k < SIZE; first_k += BK) {
		for (int i = thread; i < BM * BK; i += THREADS)
			tile_a[i % BK][i / BK] = a[(size_t)(first_m + i / BK) * SIZE + first_k + i % BK];
		for (int i = thread; i < BK * BN; i += THREADS)
			tile_b[i / BN][i % BN] = b[(size_t)(first_k + i / BN) * SIZE + first_n + i % BN];
		__syncthreads();
#pragma unroll
		for (int k = 0; k < BK; k++) {
			float of_a[TM], of_b[TN];
#pragma unroll
			for (int i = 0; i < TM; i++)
				of_a[i] = tile_a[k][ADJACENT ? m * TM + i : m + i * THREADS_M];
#pragma unroll
			for (int j = 0; j < TN; j++)
				of_b[j] = tile_b[k][ADJACENT ? n * TN + j : n + j * THREADS_N];
#pragma unroll
			for (int i = 0; i < TM; i++)
#pragma unroll
				for (int j = 0; j < TN; j++)
					sums[i][j] += of_a[i] * of_b[j];
		}
		__syncthreads();
	}
	for (int i = 0; i < TM; i++)
		for (int j = 0; j < TN; j++) {
			const int row = first_m + (ADJACENT ? m * TM + i : m + i * THREADS_M);
			const int column = first_n + (ADJACENT ? n * TN + j : n + j * THREADS_N);
			c[(size_t)row * SIZE + column] = sums[i][j];
		}
}
