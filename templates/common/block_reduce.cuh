// One value of all threads of a block. Where each thread of a large grid did an atomic on one
// address, these took longer than the work.
#pragma once
#include "common/types.cuh"

// combine(a, b) of the values of all threads, in thread 0; all threads of the block (1024 at most)
// call it.
template <class COMBINE> __device__ __forceinline__ u64 block_reduce(u64 value, COMBINE combine)
{
	__shared__ u64 values[1024];
	__syncthreads(); // an earlier call's values have been read
	values[threadIdx.x] = value;
	for (u32 half = 512; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half && threadIdx.x + half < blockDim.x)
			values[threadIdx.x] =
				combine(values[threadIdx.x], values[threadIdx.x + half]);
	}
	return values[0];
}
