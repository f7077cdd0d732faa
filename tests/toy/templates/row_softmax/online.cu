// Softmax of rows in two passes. The first finds maximum and sum together (online softmax: Milakov and
// Gimelshein, 2018, arXiv 1805.02867), the second writes.
//
// A block of ROW_THREADS x ROWS threads computes ROWS rows at a time, `turns` times. The threads of a row
// stride over it and unroll UNROLL elements that are ROW_THREADS apart.
#include "element.cuh"

constexpr float lowest = -3.402823466e38f;

struct partial {
	float maximum;
	float sum; // sum of exp(x - maximum)
};

__device__ __forceinline__ partial join(partial a, partial b)
{
	float maximum = fmaxf(a.maximum, b.maximum);
	return {maximum,
		a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

__device__ __forceinline__ partial scan_row(const element *row, int cols)
{
	partial found = {lowest, 0.0f};
	for (int first = threadIdx.x; first < cols; first += ROW_THREADS * UNROLL) {
#pragma unroll
		for (int i = 0; i < UNROLL; i++) {
			int col = first + i * ROW_THREADS;
			if (col < cols)
				found = join(found, {element_load(row[col]), 1.0f});
		}
	}
	return found;
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS * ROWS)
	row_softmax_online(const element *X, element *Y, int rows, int cols, int turns)
{
	__shared__ partial partials[ROWS][ROW_THREADS];
	for (int turn = 0; turn < turns; turn++) {
		long long row = ((long long)blockIdx.x * turns + turn) * ROWS + threadIdx.y;
		bool is_row = row < rows;
		const element *in = X + row * cols;
		element *out = Y + row * cols;
		partials[threadIdx.y][threadIdx.x] =
			is_row ? scan_row(in, cols) : partial{lowest, 0.0f};
		__syncthreads();
		for (int half = ROW_THREADS / 2; half > 0; half /= 2) {
			if (threadIdx.x < half)
				partials[threadIdx.y][threadIdx.x] =
					join(partials[threadIdx.y][threadIdx.x],
						partials[threadIdx.y][threadIdx.x + half]);
			__syncthreads();
		}
		partial whole = partials[threadIdx.y][0];
		for (int col = threadIdx.x; is_row && col < cols; col += ROW_THREADS)
			out[col] = element_round(
				expf(element_load(in[col]) - whole.maximum) / whole.sum);
		__syncthreads(); // the next turn overwrites the partial results
	}
}
