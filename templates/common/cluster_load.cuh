// Reading shared memory of another block of the cluster (see cluster.cuh).
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ float4 cluster_load4(u32 remote)
{
	float4 value;
	asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
		     : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
		     : "r"(remote)
		     : "memory");
	return value;
}
