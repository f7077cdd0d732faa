// The bulk tensor copy engine (TMA, sm_90): one thread starts a copy of a box of a matrix between
// global and shared memory; the tensor map holds address, sizes, strides, box and swizzle. Elements
// outside the matrix read as zeros, count as bytes all the same, and are not written.
// Coordinates are elements, innermost first. Loads complete on an mbarrier, stores in groups.
// Shared memory written by ordinary stores needs proxy_fence() in each writing thread, then a
// barrier, before the copy engine or wgmma may read it.
#include "common/types.cuh"
#pragma once
// True in one lane of a warp all of whose lanes are here. Copies that a lane starts because of
// anything else become a loop over the lanes: the compiler does not know that it is one.
__device__ __forceinline__ bool elect()
{
	u32 yes;
	asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
		     : "=r"(yes));
	return yes != 0;
}

__device__ __forceinline__ void tensor_map_prefetch(const tensor_map &map)
{
	asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Cache policies for loads: what is read once should not push out what is read again.
__device__ __forceinline__ u64 l2_policy_evict_first()
{
	u64 policy;
	asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
	return policy;
}

__device__ __forceinline__ u64 l2_policy_evict_last()
{
	u64 policy;
	asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
	return policy;
}

__device__ __forceinline__ void tma_load(
	u32 destination, const tensor_map &map, u32 barrier, i32 inner, i32 outer)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
		     "[%0], [%1, {%3, %4}], [%2];" ::"r"(destination),
		     "l"(&map), "r"(barrier), "r"(inner), "r"(outer)
		     : "memory");
}

__device__ __forceinline__ void tma_load_hint(
	u32 destination, const tensor_map &map, u32 barrier, i32 inner, i32 outer, u64 policy)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
		     ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(destination),
		     "l"(&map), "r"(barrier), "r"(inner), "r"(outer), "l"(policy)
		     : "memory");
}

// Delivers one copy to every block of the cluster whose bit is set in `blocks`, at the same shared
// address, and completes on the barrier at the same address there.
__device__ __forceinline__ void tma_load_multicast(
	u32 destination, const tensor_map &map, u32 barrier, i32 inner, i32 outer, u16 blocks)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
		     ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(destination),
		     "l"(&map), "r"(barrier), "r"(inner), "r"(outer), "h"(blocks)
		     : "memory");
}

// A run of bytes, a multiple of 16 at multiples of 16.
__device__ __forceinline__ void bulk_load(
	u32 destination, const void *source, u32 bytes, u32 barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		     "[%0], [%1], %2, [%3];" ::"r"(destination),
		     "l"(source), "r"(bytes), "r"(barrier)
		     : "memory");
}

__device__ __forceinline__ void tma_store(const tensor_map &map, u32 source, i32 inner, i32 outer)
{
	asm volatile(
		"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
			&map),
		"r"(source), "r"(inner), "r"(outer)
		: "memory");
}

__device__ __forceinline__ void tma_store_commit()
{
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Returns when at most PENDING of this thread's latest groups still read shared memory.
template <int PENDING> __device__ __forceinline__ void tma_store_wait_read()
{
	asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// Orders this thread's earlier shared-memory writes before later reads by the asynchronous proxy.
__device__ __forceinline__ void proxy_fence()
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
