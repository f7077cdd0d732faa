// Transpose of half-precision numbers: a header for their type.
#include <cuda_fp16.h>

__global__ void transpose(__half *output, const __half *input, int rows, int columns)
{
	__shared__ __half tile[TILE][TILE + PADDING];
	const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE;

	for (int i = threadIdx.y; i < TILE; i += ROWS)
		if (x < columns && y + i < rows)
			tile[i][threadIdx.x] = input[(size_t)(y + i) * columns + x];
	__syncthreads();
	const int column = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE;

	for (int i = threadIdx.y; i < TILE; i += ROWS)
		if (column < rows && row + i < columns)
			output[(size_t)(row + i) * rows + column] = tile[threadIdx.x][i];
}
