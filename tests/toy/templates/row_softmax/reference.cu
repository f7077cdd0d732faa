// The trusted softmax: a block of 256 threads per row, all in fp64.
#include "element.cuh"

constexpr int reference_threads = 256;

template <typename Join> __device__ double join_all(double value, double *shared, Join join)
{
	shared[threadIdx.x] = value;
	__syncthreads();
	for (int half = reference_threads / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			shared[threadIdx.x] =
				join(shared[threadIdx.x], shared[threadIdx.x + half]);
		__syncthreads();
	}
	double result = shared[0];
	__syncthreads();
	return result;
}

extern "C" __global__ void __launch_bounds__(reference_threads)
	row_softmax_reference(const element *X, int cols, const long long *units, int unit_count,
		double *expected)
{
	__shared__ double shared[reference_threads];
	int unit = blockIdx.x;
	if (unit >= unit_count)
		return;
	const element *row = X + units[unit] * cols;
	double maximum = -1e300, sum = 0.0;
	for (int col = threadIdx.x; col < cols; col += reference_threads)
		maximum = fmax(maximum, (double)element_load(row[col]));
	maximum = join_all(maximum, shared, [](double a, double b) { return fmax(a, b); });
	for (int col = threadIdx.x; col < cols; col += reference_threads)
		sum += exp((double)element_load(row[col]) - maximum);
	sum = join_all(sum, shared, [](double a, double b) { return a + b; });
	for (int col = threadIdx.x; col < cols; col += reference_threads)
		expected[(long long)unit * cols + col] =
			exp((double)element_load(row[col]) - maximum) / sum;
}
