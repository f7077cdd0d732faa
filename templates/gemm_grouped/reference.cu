// The trusted grouped GEMM: any list of points of C, summed in fp64, rounded nowhere. units[u] is
// the linear index row*N + n of a point. A warp per point, 8 points a block.
#include "common/convert.cuh"
#include "gemm_grouped/groups.cuh"

extern "C" __global__ void __launch_bounds__(256) gemm_grouped_reference(const element::memory *A,
	const element::memory *B, const i32 *offsets, i32 groups, i32 N, i32 K, const i64 *units,
	i32 unit_count, double *expected)
{
	i64 unit = (i64)blockIdx.x * 8 + threadIdx.x / 32;
	if (unit >= unit_count)
		return;
	i64 row = units[unit] / N, n = units[unit] % N;
	i32 group = 0;
	while (group + 1 < groups && offsets[group + 1] <= row)
		++group;
	const element::memory *a = A + row * K, *b = B + ((i64)group * N + n) * K;
	double sum = 0.0;
	for (i64 k = threadIdx.x % 32; k < K; k += 32)
		sum += (double)element::load(a[k]) * (double)element::load(b[k]);
	// A butterfly: every lane adds the same pairs, so the order of the sum is fixed.
	for (int distance = 16; distance > 0; distance /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, distance);
	if (threadIdx.x % 32 == 0)
		expected[unit] = sum;
}
