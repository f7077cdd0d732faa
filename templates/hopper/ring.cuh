// A ring of buffers in shared memory between those who fill it (a loading thread by TMA, or warps)
// and the warp groups that read it; it runs on over everything that a block works on.
//
//	filling   claim(p) or claim_for_copies(p), the copies or stores, p.next()
//	reading   wait(p), reads, release(p, thread), p.next()
#include "common/cluster.cuh"
#include "common/mbarrier.cuh"
#pragma once
// A place in an endless sequence that goes round a ring of COUNT buffers.
template <int COUNT> struct ring_position {
	u32 buffer = 0, parity = 0;
	__device__ __forceinline__ void next()
	{
		if (++buffer == COUNT) {
			buffer = 0;
			parity ^= 1;
		}
	}
	__device__ __forceinline__ void skip(u32 steps)
	{
		u32 sum = buffer + steps;
		parity ^= sum / COUNT & 1;
		buffer = sum % COUNT;
	}
};

// COUNT buffers of BYTES each. Buffer b has two barriers: `full` (WRITERS arrivals, its bytes have
// landed) and `empty` (every reader is done with it: READERS arrivals from each of the SHARE blocks
// that get what this block's loading thread copies, this block among them).
template <int COUNT, int BYTES, int READERS, int SHARE, int WRITERS = 1> struct ring {
	static constexpr int bytes = COUNT * BYTES;
	static constexpr int barrier_bytes = COUNT * 16;
	typedef ring_position<COUNT> position;

	u32 buffers, barriers; // shared addresses

	__device__ __forceinline__ u32 at(const position &p) const
	{
		return buffers + p.buffer * BYTES;
	}
	__device__ __forceinline__ u32 full(const position &p) const
	{
		return barriers + p.buffer * 16;
	}
	__device__ __forceinline__ u32 empty(const position &p) const
	{
		return barriers + p.buffer * 16 + 8;
	}

	// One thread; mbarrier_init_fence() and blocks_meet() (roles.cuh) have to follow.
	__device__ __forceinline__ void init() const
	{
		for (u32 i = 0; i < COUNT; ++i) {
			mbarrier_init(barriers + i * 16, WRITERS);
			mbarrier_init(barriers + i * 16 + 8, READERS * SHARE);
		}
	}

	// Who fills, before that. The first round's waits pass.
	__device__ __forceinline__ void claim(const position &p) const
	{
		mbarrier_wait(empty(p), p.parity ^ 1);
	}
	// The one writer: copies of so many bytes will land, those that other blocks send included.
	__device__ __forceinline__ void expect(const position &p, u32 count = BYTES) const
	{
		mbarrier_arrive_expect(full(p), count);
	}
	__device__ __forceinline__ void claim_for_copies(const position &p) const
	{
		claim(p);
		expect(p);
	}

	__device__ __forceinline__ void wait(const position &p) const
	{
		mbarrier_wait(full(p), p.parity);
	}
	// All threads of a reader that is done with the buffer; with SHARE > 1 thread number i
	// tells block `rank`, its own i-th one.
	__device__ __forceinline__ void release(const position &p, u32 thread, u32 rank) const
	{
		if constexpr (SHARE > 1) {
			if (thread < SHARE)
				mbarrier_arrive_at(empty(p), rank);
		} else {
			if (thread == 0)
				mbarrier_arrive(empty(p));
		}
	}
	// The same where the blocks of the cluster are these.
	__device__ __forceinline__ void release(const position &p, u32 thread) const
	{
		release(p, thread, thread);
	}
};
