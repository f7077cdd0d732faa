// The trusted grouped GEMM: any list of points of C, summed in fp64, rounded nowhere. units[u] is
// the linear index row*N + n of a point. A warp per point, 8 points a block.
#include "common/convert.cuh"
#include "gemm/gemm_types.cuh"
#include "groups.cuh"

// Of what lies behind a group's last row: nobody writes it (common/helpers.cu).
__device__ __forceinline__ double anything()
{
	return __longlong_as_double(0x7ff8000000000a11ll);
}

struct group_scales {
	const float *a, *b;
	i64 rows, n, k; // of A; of B[g] and A
	// Of a product; what is the same for all k of a sum is in `of_sum`.
	__device__ __forceinline__ double of_product(i64 row, i64 group, i64 column, i64 at) const
	{
#if SCALE_block
		i64 pitch_a = (rows + 3) / 4 * 4, pitch_b = (ceil_div(k, (i64)128) + 3) / 4 * 4;
		i64 line = group * ceil_div(n, (i64)128) + column / 128;
		return (double)a[at / 128 * pitch_a + row] * b[line * pitch_b + at / 128];
#else
		return 1.0;
#endif
	}
	__device__ __forceinline__ double of_sum(i64 row, i64 group, i64 column) const
	{
#if SCALE_row
		return (double)a[row] * b[group * n + column];
#elif SCALE_tensor
		return (double)a[0] * b[group];
#else
		return 1.0;
#endif
	}
};

extern "C" __global__ void __launch_bounds__(256) gemm_grouped_reference(const input::memory *A,
	const input::memory *B, const i32 *offsets, const i32 *counts, const float *scale_a,
	const float *scale_b, i32 groups, i32 tokens, i32 room, i32 N, i32 K, const i64 *units,
	i32 unit_count, double *expected)
{
	i64 unit = (i64)blockIdx.x * 8 + threadIdx.x / 32;
	if (unit >= unit_count)
		return;
	i64 row = units[unit] / N, n = units[unit] % N;
	const group_rows place = {offsets, counts, room};
	i32 group = 0;
#if LAYOUT_masked
	const group_scales scales = {scale_a, scale_b, (i64)groups * room, N, K};
	group = (i32)(row / room);
	if (row >= place.end(group)) {
		if (threadIdx.x % 32 == 0)
			expected[unit] = anything();
		return;
	}
#else
	const group_scales scales = {scale_a, scale_b, tokens, N, K};
	while (group + 1 < groups && place.end(group) <= row)
		++group;
#endif
	const input::memory *a = A + row * K, *b = B + ((i64)group * N + n) * K;
	double sum = 0.0;
	for (i64 k = threadIdx.x % 32; k < K; k += 32)
		sum += (double)input::load(a[k]) * (double)input::load(b[k]) *
		       scales.of_product(row, group, n, k);
	// A butterfly: every lane adds the same pairs, so the order of the sum is fixed.
	for (int distance = 16; distance > 0; distance /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, distance);
	if (threadIdx.x % 32 == 0)
		expected[unit] = sum * scales.of_sum(row, group, n);
}
