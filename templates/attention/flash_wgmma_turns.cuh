// The multiplying groups' turns. Turn g is named barrier 1 + g of 256 threads: the 128 of group g
// wait, the 128 of the group before it arrive when they pass. They go round from the first group to
// the last; before the first round the last group passes once, so that group 0 begins.
// A group takes a turn for each tile of keys of a tile of rows (work::steps of them), also for
// those that it passes over: so all groups take equally many, and at the end one pass is left over.
#include "common/named_barrier.cuh"
#pragma once
template <bool USED> struct turns {
	static __device__ __forceinline__ void init(u32 group)
	{
		if (USED && group == GROUPS - 1)
			pass(group);
	}
	static __device__ __forceinline__ void wait(u32 group)
	{
		if constexpr (USED)
			named_barrier_wait(1 + group, 256);
	}
	static __device__ __forceinline__ void pass(u32 group)
	{
		if constexpr (USED)
			named_barrier_arrive(group == GROUPS - 1 ? 1 : 2 + group, 256);
	}
};
typedef turns<BARRIER == 1> product_turns; // to issue products
typedef turns<BARRIER == 2> softmax_turns;

// All warps of group `group` are here; the barrier behind those of the turns.
__device__ __forceinline__ void group_meets(u32 group)
{
	named_barrier_wait(1 + GROUPS + group, 128);
}
