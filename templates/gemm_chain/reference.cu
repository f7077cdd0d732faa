// The reference of gemm_chain: one row of Y per block. Both sums are in fp64; the intermediate is
// rounded to the element type in between, as in every family. unit = row of A and Y.
//
// The row of T = act(A B) is computed `chunk` columns at a time, a column a thread, so that
// neighbouring threads read neighbours of B; each chunk is then multiplied with its rows of C,
// again a column of Y a thread. Sums of Y live in `expected`: any p, and every thread owns its
// columns.
#include "common/activation_fp64.cuh"
#include "gemm_chain/chain_types.cuh"

constexpr int threads = 256;
constexpr int chunk = 1024; // columns of T at a time

extern "C" __global__ void __launch_bounds__(threads) gemm_chain_reference(const element_memory *A,
	const element_memory *B, const element_memory *C, int k, int n, int p, const i64 *units,
	int unit_count, double *expected)
{
	__shared__ float intermediate[chunk];
	if ((int)blockIdx.x >= unit_count)
		return;
	const element_memory *a = A + units[blockIdx.x] * k;
	double *y = expected + (i64)blockIdx.x * p;
	for (int column = (int)threadIdx.x; column < p; column += threads)
		y[column] = 0.0;
	for (i64 first = 0; first < n; first += chunk) {
		int count = n - first < chunk ? (int)(n - first) : chunk;
		__syncthreads();
		for (int i = (int)threadIdx.x; i < count; i += threads) {
			double sum = 0.0;
			for (int step = 0; step < k; step++)
				sum += (double)element::load(a[step]) *
				       (double)element::load(B[(i64)step * n + first + i]);
			intermediate[i] = element::load(element::store((float)activate_fp64(sum)));
		}
		__syncthreads();
		for (int column = (int)threadIdx.x; column < p; column += threads) {
			double sum = 0.0;
			for (int i = 0; i < count; i++)
				sum += (double)intermediate[i] *
				       (double)element::load(C[(first + i) * p + column]);
			y[column] += sum;
		}
	}
}
