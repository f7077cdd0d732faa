// The trusted GEMM: any list of points of C, summed in fp64, rounded nowhere.
//
// units[u] is the linear index m*N + n of a point, m counted through all products of a batch;
// expected[u] becomes what epilogue.cuh says of the sum over k, in fp64 too. Blocks of 256 threads:
//   nk: a warp per point; its lanes read consecutive k of a row of A and of a row of B (8 points).
//   kn: a lane per point, so that neighbours in n read neighbours in memory; the 8 warps of a block
//       share the sums over k between them (32 points).
#include "common/activation_fp64.cuh"
#include "common/convert.cuh"
#include "epilogue.cuh"
#include "gemm_types.cuh"

constexpr int warps = 8;

__device__ __forceinline__ double product(const input::memory *a, const input::memory *b)
{
	return (double)input::load(*a) * (double)input::load(*b);
}

// The scale of a product at (m, n, k) of blocks; of anything else the epilogue's is the same for
// all k.
__device__ __forceinline__ double block_scale(
	const float *scale_a, const float *scale_b, i64 M, i64 K, i64 m, i64 n, i64 k)
{
#if SCALE_block
	i64 pitch_a = (M + 3) / 4 * 4, pitch_b = (ceil_div(K, (i64)128) + 3) / 4 * 4;
	return (double)scale_a[k / 128 * pitch_a + m] * scale_b[n / 128 * pitch_b + k / 128];
#else
	return 1.0;
#endif
}

struct point {
	i64 m, n, place; // place: in C
	__device__ __forceinline__ double finish(double sum, EPILOGUE_PARAMETERS) const
	{
		if (multiplies)
			sum *= ALPHA;
		if (scales_rows)
			sum *= (double)scale_a[m] * scale_b[n];
		if (scales_all)
			sum *= (double)scale_a[0] * scale_b[0];
		if (BETA != 0)
			sum += (double)BETA * output::load(c_in[place]);
		if (adds_bias)
			sum += bias_type::load(bias_values[n]);
		sum = activate_fp64(sum);
		if (residual != 0)
			sum += output::load(residual_in[place]);
#if OUT_DTYPE_fp8_e4m3
		sum *= scale_c[0];
#endif
		return sum;
	}
};

extern "C" __global__ void __launch_bounds__(32 * warps) gemm_reference(const input::memory *A,
	const input::memory *B, int M, int N, int K, int lda, int ldb, int ldc, const i64 *units,
	int unit_count, double *expected, EPILOGUE_PARAMETERS, int rows_a, int rows_b)
{
	int warp = threadIdx.x / 32;
	int lane = threadIdx.x % 32;
#if B_LAYOUT_nk
	i64 unit = (i64)blockIdx.x * warps + warp;
	if (unit >= unit_count)
		return;
	i64 m = units[unit] / N;
	i64 n = units[unit] % N;
	const input::memory *a = A + (m / M * rows_a + m % M) * lda;
	const input::memory *b = B + (m / M * rows_b + n) * ldb;
	double sum = 0.0;
	for (i64 k = lane; k < K; k += 32)
		sum += product(a + k, b + k) * block_scale(scale_a, scale_b, M, K, m, n, k);
	// A butterfly: every lane adds the same pairs, so the order of the sum is fixed.
	for (int distance = 16; distance > 0; distance /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, distance);
	if (lane == 0)
		expected[unit] = point{m, n, m * ldc + n}.finish(sum, EPILOGUE_ARGUMENTS);
#else
	__shared__ double partial[warps][32];
	i64 unit = (i64)blockIdx.x * 32 + lane;
	bool inside = unit < unit_count;
	i64 m = inside ? units[unit] / N : 0;
	i64 n = inside ? units[unit] % N : 0;
	double sum = 0.0;
	for (i64 k = warp; k < K; k += warps)
		sum += product(
			A + (m / M * rows_a + m % M) * lda + k, B + (m / M * rows_b + k) * ldb + n);
	partial[warp][lane] = sum;
	__syncthreads();
	if (warp != 0 || !inside)
		return;
	for (int w = 1; w < warps; w++)
		sum += partial[w][lane];
	expected[unit] = point{m, n, m * ldc + n}.finish(sum, EPILOGUE_ARGUMENTS);
#endif
}
