// Stream-K's exchange of partial sums through global memory, warp by warp: no barrier, no atomic
// sum, and one fixed order of additions, so that results have the same bits in every run. Every
// worker but a unit's first leaves its sums in its own slot and raises the flags of its warps; the
// first waits for all, lowers their flags for the next launch, and adds.
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ u32 flag_load(const u32 *flag)
{
	u32 value;
	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
	return value;
}

__device__ __forceinline__ void flag_store(u32 *flag, u32 value)
{
	asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// Returns whether this worker owns the unit; its sums are then complete. `lane_of_unit` numbers the
// consumer threads of the cluster. Slots are [worker][16-byte part][thread of the cluster].
template <int FRAGMENTS, int COLUMNS>
__device__ __forceinline__ bool partial_exchange(float (&sums)[FRAGMENTS][COLUMNS / 2],
	float *partial, u32 *flags, i32 first_worker, i32 last_worker, i32 worker, u32 lane_of_unit)
{
	constexpr u32 unit_threads = CLUSTER_M * CLUSTER_N * GROUPS * 128;
	constexpr u32 parts = COLUMNS / 8;
	constexpr u64 slot = (u64)FRAGMENTS * parts * unit_threads;
	float4 *mine = (float4 *)partial + lane_of_unit;
	u32 *warp_flags = flags + lane_of_unit / 32;

	if (worker != first_worker) {
		float4 *to = mine + worker * slot;
#pragma unroll
		for (int f = 0; f < FRAGMENTS; ++f)
#pragma unroll
			for (u32 j = 0; j < parts; ++j)
				__stcg(to + (f * parts + j) * unit_threads,
					make_float4(sums[f][4 * j], sums[f][4 * j + 1],
						sums[f][4 * j + 2], sums[f][4 * j + 3]));
		__threadfence();
		__syncwarp();
		if (lane_of_unit % 32 == 0)
			flag_store(warp_flags + worker * (unit_threads / 32), 1);
		return false;
	}
	// Lane i waits for the i-th other one: all of them at once.
	for (i32 other = first_worker + 1 + (i32)(lane_of_unit % 32); other <= last_worker;
		other += 32) {
		u32 *flag = warp_flags + other * (unit_threads / 32);
#ifdef MBARRIER_POLL_LIMIT
		for (u32 polls = 0; !flag_load(flag); ++polls)
			if (polls > MBARRIER_POLL_LIMIT)
				__trap();
#else
		while (!flag_load(flag))
			;
#endif
		*flag = 0;
	}
	__syncwarp();
	__threadfence();
	// A pointer that walks keeps fewer registers alive than a product with `slot`.
	const float4 *from = mine + (first_worker + 1) * slot;
	for (i32 left = last_worker - first_worker; left > 0; --left, from += slot) {
#pragma unroll
		for (int f = 0; f < FRAGMENTS; ++f)
#pragma unroll
			for (u32 j = 0; j < parts; ++j) {
				float4 part = __ldcg(from + (f * parts + j) * unit_threads);
				sums[f][4 * j] += part.x;
				sums[f][4 * j + 1] += part.y;
				sums[f][4 * j + 2] += part.z;
				sums[f][4 * j + 3] += part.w;
			}
	}
	return true;
}
