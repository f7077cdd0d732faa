// The 16 barriers of a block that bar.sync and bar.arrive name by number; 0 belongs to
// __syncthreads. `threads`, a multiple of 32, counts all who wait or arrive in one use.
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ void named_barrier_wait(u32 barrier, u32 threads)
{
	asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Counts without waiting.
__device__ __forceinline__ void named_barrier_arrive(u32 barrier, u32 threads)
{
	asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
