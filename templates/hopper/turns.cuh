// Ping-pong: two warp groups have a tile each, and multiply in turns. Without the order the second
// group could take a stage's earlier phase for its own: parities tell neighbouring phases apart, no
// more. Without PINGPONG the groups share their tiles, and nobody waits.
#include "common/mbarrier.cuh"
#pragma once
struct turns {
	u32 barriers; // one per group
	u32 round;    // of this group

	__device__ __forceinline__ void init() const
	{
		mbarrier_init(barriers, 1);
		mbarrier_init(barriers + 8, 1);
	}
	// The first group's first turn comes without a pass.
	__device__ __forceinline__ void wait(u32 group)
	{
		if (PINGPONG)
			mbarrier_wait(barriers + group * 8, (round++ ^ (group == 0)) & 1);
	}
	// All stages before the other group's first one have been full.
	__device__ __forceinline__ void pass(u32 group, u32 thread) const
	{
		if (PINGPONG && thread == 0)
			mbarrier_arrive(barriers + (1 - group) * 8);
	}
};

// The tiles of a LIST (persistent.cuh) that are a multiplying group's: with PINGPONG every other
// one. `at` is where the group's next tile begins in the ring.
template <typename LIST> struct own_tiles {
	LIST &list;
	position &at;

	__device__ __forceinline__ own_tiles(LIST &list, position &at, u32 group)
	    : list(list), at(at)
	{
		if (PINGPONG && group == 1)
			pass_over();
	}
	__device__ __forceinline__ void advance()
	{
		list.advance();
		if (PINGPONG)
			pass_over();
	}

      private:
	// The other group's tile.
	__device__ __forceinline__ void pass_over()
	{
		if (list.may_have_more()) {
			at.skip(list.next_steps());
			list.advance();
		}
	}
};
