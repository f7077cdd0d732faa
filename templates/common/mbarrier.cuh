// mbarrier (sm_80 and up; cluster forms sm_90): a barrier in shared memory that counts arrivals and
// the bytes of asynchronous copies. A phase ends when both counts reach zero; waiting names the
// parity of the phase that must have ended, so a fresh barrier lets waits on parity 1 pass at once.
// Barriers are named by their 32-bit shared address (8-byte aligned).
// With -DMBARRIER_POLL_LIMIT=n a wait traps after n polls (for debugging: a hang becomes an error).
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ void mbarrier_init(u32 barrier, u32 arrivals)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
		     : "memory");
}

// Makes the initialisation visible to the copy engine and to the other blocks of the cluster; a
// block or cluster barrier has to follow.
__device__ __forceinline__ void mbarrier_init_fence()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(u32 barrier)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives on the barrier that lies at the same address in block `rank` of the cluster. The form
// without a scope orders this thread's copies and wgmma reads; .release.cluster would add a fence
// of all memory (MEMBAR.ALL.GPU) to every use.
__device__ __forceinline__ void mbarrier_arrive_at(u32 barrier, u32 rank)
{
	asm volatile("{\n"
		     ".reg .b32 remote;\n"
		     "mapa.shared::cluster.u32 remote, %0, %1;\n"
		     "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
		     "}" ::"r"(barrier),
		     "r"(rank)
		     : "memory");
}

// Arrives and announces `bytes` of copies (below 2^20) that will complete on this barrier.
__device__ __forceinline__ void mbarrier_arrive_expect(u32 barrier, u32 bytes)
{
	asm volatile(
		"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
		: "memory");
}

// One bounded try: the hardware suspends the thread for a while before it answers 0.
__device__ __forceinline__ u32 mbarrier_try_wait(u32 barrier, u32 parity)
{
	u32 done;
	asm volatile("{\n"
		     ".reg .pred done;\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
		     "selp.u32 %0, 1, 0, done;\n"
		     "}"
		     : "=r"(done)
		     : "r"(barrier), "r"(parity)
		     : "memory");
	return done;
}

__device__ __forceinline__ void mbarrier_wait(u32 barrier, u32 parity)
{
#ifdef MBARRIER_POLL_LIMIT
	for (u32 polls = 0; !mbarrier_try_wait(barrier, parity); ++polls)
		if (polls > MBARRIER_POLL_LIMIT)
			__trap();
#else
	while (!mbarrier_try_wait(barrier, parity))
		;
#endif
}
