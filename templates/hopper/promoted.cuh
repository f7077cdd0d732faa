// The multiply loop with the sums of each step promoted: fp8 accumulators keep about 14 bits, so
// every BK products are added to full fp32 sums, scaled by their blocks' scales if they have some.
// With PARTS = 2 a step multiplies while the sums of the one before are added; with 1 (large tiles)
// another warp group has to fill the gap.
#include "hopper/mainloop.cuh"
#pragma once
template <int FRAGMENTS> struct promotion {
	typedef typename multiplier<FRAGMENTS>::sums_type sums_type;

	const multiplier<FRAGMENTS> &by;
	const pipeline &stages;
	position &at;
	block_scales<FRAGMENTS> &scales; // started at the first step

	// Multiplies `steps` >= 1 stages into fresh sums, and releases them.
	__device__ __forceinline__ void run(sums_type &sums, i32 steps) const
	{
		by.clear(sums);
#if PARTS == 2
		partial_step even, odd;
		start(even);
		for (; steps > 2; steps -= 2) {
			promote<1>(sums, even, odd);
			promote<1>(sums, odd, even);
		}
		if (steps == 2) {
			promote<1>(sums, even, odd);
			promote<0>(sums, odd, odd);
		} else {
			promote<0>(sums, even, even);
		}
#else
		partial_step part;
		for (; steps > 0; --steps) {
			start(part);
			promote<0>(sums, part, part);
		}
#endif
	}

      private:
	// The sums of one step, and what they are multiplied by.
	struct partial_step {
		sums_type sums;
		step_scales<FRAGMENTS> scales;
	};

	__device__ __forceinline__ void start(partial_step &part) const
	{
		stages.ring.wait(at);
		// Before the multiplication: who sees its end, and releases the stage, knows then
		// that every warp has read its scales.
		if constexpr (scales_blocks)
			scales.load(part.scales, stages.scales_of(at));
		by.step(part.sums, stages, at, 0);
	}

	// Adds the sums of the step at `at`, which is in flight, and moves on. With MORE the next
	// step is issued first, into `next`.
	template <int MORE>
	__device__ __forceinline__ void promote(
		sums_type &sums, partial_step &part, partial_step &next) const
	{
		const u32 done = at.buffer;
		at.next();
		if constexpr (MORE)
			start(next);
		wgmma_wait<MORE>();
		by.hold(part.sums);
		by.release(stages, done);
		if constexpr (scales_blocks) {
			scales.add(sums, part.sums, part.scales);
		} else {
#pragma unroll
			for (int fragment = 0; fragment < FRAGMENTS; ++fragment)
#pragma unroll
				for (int i = 0; i < TILE_COLUMNS / 2; ++i)
					sums[fragment][i] += part.sums[fragment][i];
		}
	}
};
