// Layer normalization with a group of threads per row: headers of the toolkit, three outputs, and host code
// in the same file.
#include <cstdlib>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void layernorm(float *out, float *mean, float *rstd, const float *inp, const float *weight,
	const float *bias, int rows, int columns)
{
	auto tile = cg::tiled_partition<GROUP>(cg::this_thread_block());
	const int row = blockIdx.x * (THREADS / GROUP) + threadIdx.x / GROUP;
	float sum = 0, squares = 0;

	if (row >= rows)
		return;
	for (int i = tile.thread_rank(); i < columns; i += GROUP) {
		const float x = inp[row * columns + i];

		sum += x;
		squares += x * x;
	}
	sum = cg::reduce(tile, sum, cg::plus<float>());
	squares = cg::reduce(tile, squares, cg::plus<float>());
	const float m = sum / columns, s = rsqrtf(squares / columns - m * m + 1e-5f);

	if (tile.thread_rank() == 0) {
		mean[row] = m;
		rstd[row] = s;
	}
	for (int i = tile.thread_rank(); i < columns; i += GROUP)
		out[row * columns + i] = (inp[row * columns + i] - m) * s * weight[i] + bias[i];
}

__host__ static int rows_of(const std::vector<float> &values, int columns)
{
	return (int)values.size() / columns;
}

int main(int argc, char **argv)
{
	std::vector<float> values(argc > 1 ? atoi(argv[1]) : 768);
	float *device = nullptr;

	if (cudaMalloc(&device, 6 * values.size() * sizeof(float)) != cudaSuccess)
		exit(EXIT_FAILURE);
	layernorm<<<rows_of(values, 768), THREADS>>>(device, device, device, device, device, device, 1, 768);
	return cudaDeviceSynchronize() != cudaSuccess;
}
