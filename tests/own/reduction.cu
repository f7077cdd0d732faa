// A sum that all blocks accumulate in place; a macro selects the vector type.
#if VECTOR == 1
typedef float row;
#elif VECTOR == 2
typedef float2 row;
#endif

__device__ float total(float v)
{
	return v;
}

__device__ float total(float2 v)
{
	return v.x + v.y;
}

__global__ void reduction(float *sum, const row *array, long long n)
{
	__shared__ float shared[THREADS];
	float mine = 0;

#pragma unroll UNROLL
	for (long long i = blockIdx.x * THREADS + threadIdx.x; i < n / VECTOR; i += BLOCKS * THREADS)
		mine += total(array[i]);
	shared[threadIdx.x] = mine;
	__syncthreads();
	for (int s = THREADS / 2; s > 0; s /= 2) {
		if (threadIdx.x < s)
			shared[threadIdx.x] += shared[threadIdx.x + s];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(&sum[0], shared[0]);
}
