// All blocks wait for each other, so the launch is cooperative. The constants are in a namespace.
#include <cooperative_groups.h>

namespace table {
__constant__ float scale[16];
}

__global__ void mirror(float *y, float *scratch, const float *x, int n)
{
	const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	const int step = gridDim.x * THREADS, first = blockIdx.x * THREADS + threadIdx.x;

	for (int i = first; i < n; i += step)
		scratch[i] = x[i] * table::scale[i % 16];
	grid.sync();
	for (int i = first; i < n; i += step)
		y[i] = scratch[n - 1 - i];
}
