// cp.async (sm_80 and up): copies from global to shared memory that do not pass through registers.
// A thread's copies complete in groups: commit closes a group, wait<N> lets at most N stay open.
// What a thread waited for is visible to others only after a barrier.
#include "common/types.cuh"
#pragma once
// Copies BYTES (4, 8 or 16; both addresses so aligned), of which `valid` (0..BYTES) are read from
// global memory; the rest is written as zeros, so an edge needs no branch. 16 bytes bypass L1
// (.cg).
template <int BYTES>
__device__ __forceinline__ void cp_async(u32 destination, const void *source, int valid)
{
	static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async moves 4, 8 or 16 bytes");
	if constexpr (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination),
			     "l"(source), "r"(valid)
			     : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(destination),
			     "l"(source), "n"(BYTES), "r"(valid)
			     : "memory");
}

// The same without an edge: all BYTES are read.
template <int BYTES> __device__ __forceinline__ void cp_async(u32 destination, const void *source)
{
	static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async moves 4, 8 or 16 bytes");
	if constexpr (BYTES == 16)
		asm volatile(
			"cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(destination), "l"(source)
			: "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(destination),
			     "l"(source), "n"(BYTES)
			     : "memory");
}

__device__ __forceinline__ void cp_async_commit()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

// Returns when at most PENDING of this thread's latest groups are still in flight.
template <int PENDING> __device__ __forceinline__ void cp_async_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
