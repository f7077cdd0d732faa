// The frame of a kernel whose warp groups have roles: one loads, the others multiply. BLOCKS is how
// many blocks of a cluster fill each other's buffers; 1: there is no cluster.
//
//	u32 group = same_in_lanes(threadIdx.x / 128);
//	one thread: rings' init(), mbarrier_init_fence(); then all: blocks_meet<BLOCKS>()
//	loading group:      registers_for_loading<COUNT>(); one thread of it loads
//	multiplying groups: registers_for_multiplying<COUNT>(); their work
//	all: blocks_part<BLOCKS>()
//
// The thread that loads: a warp all of whose lanes are here, and in it elect() (common/tma.cuh).
#include "common/cluster.cuh"
#include "common/setmaxnreg.cuh"
#pragma once
// The same value, of which the compiler then knows that all lanes of the warp have it.
__device__ __forceinline__ u32 same_in_lanes(u32 value)
{
	return __shfl_sync(0xffffffffu, value, 0);
}

// All threads: barriers that a thread of the block (of the cluster) has initialised can be used
// behind it. Between the two halves a thread may do what needs none.
template <int BLOCKS> __device__ __forceinline__ void blocks_meet_arrive()
{
	__syncwarp();
	if constexpr (BLOCKS > 1)
		cluster_arrive();
}
template <int BLOCKS> __device__ __forceinline__ void blocks_meet_wait()
{
	if constexpr (BLOCKS > 1)
		cluster_wait();
	else
		__syncthreads();
}
template <int BLOCKS> __device__ __forceinline__ void blocks_meet()
{
	blocks_meet_arrive<BLOCKS>();
	blocks_meet_wait<BLOCKS>();
}

// The end of a kernel, all threads: a block's barriers and buffers must outlive the arrivals and
// copies of its neighbours.
template <int BLOCKS> __device__ __forceinline__ void blocks_part()
{
	__syncwarp();
	if constexpr (BLOCKS > 1)
		cluster_sync();
}

// A thread's registers from here on, see registers_raise(); 0: as launched.
template <int COUNT> __device__ __forceinline__ void registers_for_loading()
{
	if constexpr (COUNT != 0)
		registers_lower<COUNT>();
}
template <int COUNT> __device__ __forceinline__ void registers_for_multiplying()
{
	if constexpr (COUNT != 0)
		registers_raise<COUNT>();
}
