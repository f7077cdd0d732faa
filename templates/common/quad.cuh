// The four lanes of a quad hold one row of an accumulator between them.
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ float quad_max(float x)
{
	x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
	return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ __forceinline__ float quad_sum(float x)
{
	x += __shfl_xor_sync(0xffffffffu, x, 1);
	return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// Swaps `high` of a lane whose `mask` bit is clear with `low` of the lane where it is set. `lane` is
// the thread's number in the warp, or in the block.
__device__ __forceinline__ void quad_exchange(u32 &low, u32 &high, u32 mask, u32 lane = threadIdx.x)
{
	bool upper = lane & mask;
	u32 other = __shfl_xor_sync(0xffffffffu, upper ? low : high, mask);
	low = upper ? other : low;
	high = upper ? high : other;
}

// Lane t of a quad gives word t of each of four 16-byte chunks and gets the words of chunk t.
__device__ __forceinline__ void quad_transpose(u32 (&word)[4], u32 lane = threadIdx.x)
{
	quad_exchange(word[0], word[1], 1, lane);
	quad_exchange(word[2], word[3], 1, lane);
	quad_exchange(word[0], word[2], 2, lane);
	quad_exchange(word[1], word[3], 2, lane);
}
