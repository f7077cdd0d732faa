// 2-D convolution: the filter is in constant memory, sizes and tiles are macros.
#define width 512
#define height 256
#ifndef filter_size
#define filter_size 7
#endif
#ifndef block_size_x
#define block_size_x 16
#endif
#define input_width (width + filter_size - 1)
#define LOAD read_only
#if LOAD == 1
#define READ(p, i) __ldg(p + i)
#elif LOAD == 0
#define READ(p, i) p[i]
#endif

__constant__ float d_filter[15 * 15];

__global__ void convolution(float *output, const float *input)
{
	__shared__ float tile[block_size_y * tile_size_y + filter_size - 1]
			     [block_size_x + filter_size - 1];
	const int x = blockIdx.x * block_size_x, y = blockIdx.y * block_size_y * tile_size_y;

	for (int i = threadIdx.y; i < block_size_y * tile_size_y + filter_size - 1; i += block_size_y)
		for (int j = threadIdx.x; j < block_size_x + filter_size - 1; j += block_size_x)
			if (y + i < height + filter_size - 1 && x + j < input_width)
				tile[i][j] = READ(input, (y + i) * input_width + x + j);
	__syncthreads();
#pragma unroll
	for (int t = 0; t < tile_size_y; t++) {
		const int row = threadIdx.y + t * block_size_y;
		float sum = 0;

		for (int i = 0; i < filter_size; i++)
			for (int j = 0; j < filter_size; j++)
				sum += tile[row + i][threadIdx.x + j] * d_filter[i * filter_size + j];
		if (y + row < height && x + threadIdx.x < width)
			output[(y + row) * width + x + threadIdx.x] = sum;
	}
}
