// SPDX-License-Identifier: MIT
// A 17x17 convolution of a 4096x4096 image. Each block computes block_size * tile_size outputs from a tile in shared memory.
#define SIZE 4096
#define FILTER 17
#define TILE_X (block_size_x * tile_size_x)
#define TILE_Y (block_size_y * tile_size_y)
#define PITCH (TILE_X + FILTER - 1 + use_padding)

__constant__ float weights[FILTER * FILTER];

extern "C" __global__ void convolution(float *output, const float *input)
{
	__shared__ float tile[TILE_Y + FILTER - 1][PITCH];
	const int first_x = blockIdx.x * TILE_X, first_y = blockIdx.y * TILE_Y;
	float sums[tile_size_y][tile_size_x] = {};

	for (int y = threadIdx.y; y < TILE_Y + FILTER - 1; y += block_size_y)
		for (int x = threadIdx.x; x < TILE_X + FILTER - 1; x += block_size_x)
			if (first_y + y < SIZE + FILTER - 1 && first_x + x < SIZE + FILTER - 1) {
				const float *from = &input[(first_y + y) * (SIZE + FILTER - 1) + first_x + x];
				tile[y][x] = read_only ? __ldg(from) : *from;
			}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < FILTER; i++)
#pragma unroll
		for (int j = 0; j < FILTER; j++)
#pragma unroll
			for (int ty = 0; ty < tile_size_y; ty++)
#pragma unroll
				for (int tx = 0; tx < tile_size_x; tx++)
					sums[ty][tx] += weights[i * FILTER + j] *
						tile[threadIdx.y + ty * block_size_y + i][threadIdx.x + tx * block_size_x + j];
	for (int ty = 0; ty < tile_size_y; ty++)
		for (int tx = 0; tx < tile_size_x; tx++) {
			const int x = first_x + threadIdx.x + tx * block_size_x, y = first_y + threadIdx.y + ty * block_size_y;
			if (x < SIZE && y < SIZE)
				output[y * SIZE + x] = sums[ty][tx];
		}
}
