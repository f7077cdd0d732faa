// Turns of two warp groups that have a tile each.
#include "common/mbarrier.cuh"
#pragma once
// Ping-pong's order of multiplication. Without it the second group could take a stage's earlier
// phase for its own: parities tell neighbouring phases apart, no more.
struct turns {
	u32 barriers; // one per group
	__device__ __forceinline__ void init() const
	{
		mbarrier_init(barriers, 1);
		mbarrier_init(barriers + 8, 1);
	}
	// The first group's first turn comes without a pass.
	__device__ __forceinline__ void wait(u32 group, u32 round) const
	{
		mbarrier_wait(barriers + group * 8, (round ^ (group == 0)) & 1);
	}
	// All stages before the other group's first one have been full.
	__device__ __forceinline__ void pass(u32 group, u32 thread) const
	{
		if (thread == 0)
			mbarrier_arrive(barriers + (1 - group) * 8);
	}
};
