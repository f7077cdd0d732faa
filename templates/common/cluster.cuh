// Thread-block clusters (sm_90): rank, the cluster-wide barrier, shared memory of a neighbour.
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ u32 cluster_rank()
{
	u32 rank;
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
}

// All threads of all blocks of the cluster must arrive, then wait. Writes before the arrival
// (shared memory of neighbours included) are visible after the wait.
__device__ __forceinline__ void cluster_arrive()
{
	asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait()
{
	asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_sync()
{
	cluster_arrive();
	cluster_wait();
}

// The address, in the cluster's shared window, of what lies at `address` in block `rank`.
__device__ __forceinline__ u32 cluster_address(u32 address, u32 rank)
{
	u32 remote;
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
		     : "=r"(remote)
		     : "r"(address), "r"(rank));
	return remote;
}

__device__ __forceinline__ void cluster_store(u32 remote, float value)
{
	asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(remote), "f"(value) : "memory");
}

__device__ __forceinline__ void cluster_store2(u32 remote, float a, float b)
{
	asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(a), "f"(b)
		     : "memory");
}

__device__ __forceinline__ void cluster_store4(u32 remote, float a, float b, float c, float d)
{
	asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "f"(a),
		     "f"(b), "f"(c), "f"(d)
		     : "memory");
}
