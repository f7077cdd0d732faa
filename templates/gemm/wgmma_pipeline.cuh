// The ring of stages between the loading thread and the multiplying warp groups. Stage s has two
// barriers: `full` (its bytes have landed) and `empty` (every reader is done with it).
#include "common/cluster.cuh"
#include "common/mbarrier.cuh"
#include "wgmma_scales.cuh"
#include "wgmma_tile.cuh"
#pragma once
struct pipeline {
	u32 stages;   // shared address of the first stage, aligned to 1024 bytes
	u32 barriers; // shared address of STAGES pairs of barriers, `full` first
	u32 scales;   // shared address of A's scales, scale_bytes a stage

	__device__ __forceinline__ u32 rows(u32 stage) const
	{
		return stages + stage * stage_bytes;
	}
	__device__ __forceinline__ u32 columns(u32 stage) const
	{
		return rows(stage) + rows_operand::bytes;
	}
	__device__ __forceinline__ u32 full(u32 stage) const
	{
		return barriers + stage * 16;
	}
	__device__ __forceinline__ u32 empty(u32 stage) const
	{
		return barriers + stage * 16 + 8;
	}

	// One thread; a cluster (or block) barrier has to follow. `readers` warp groups read each
	// stage.
	__device__ __forceinline__ void init(u32 readers) const
	{
		for (u32 stage = 0; stage < STAGES; ++stage) {
			mbarrier_init(full(stage), 1);
			mbarrier_init(empty(stage), readers * stage_writers);
		}
		mbarrier_init_fence();
	}
};

// A position in the endless sequence of k steps that runs through the ring.
struct position {
	u32 stage = 0, parity = 0;
	__device__ __forceinline__ void next()
	{
		if (++stage == STAGES) {
			stage = 0;
			parity ^= 1;
		}
	}
	__device__ __forceinline__ void skip(u32 steps)
	{
		u32 sum = stage + steps;
		parity ^= sum / STAGES & 1;
		stage = sum % STAGES;
	}
};

// What the loading warp knows. All its lanes walk through the steps, one of them loads: where the
// compiler sees that it is one, an instruction is one, and no loop over lanes.
struct loader {
	const tensor_map &rows_map, &columns_map;
	cluster_place place;
	u64 rows_policy, columns_policy; // 0: none
	scale_source scales;

	// Loads `steps` stages from k step `first_step` on, for the tile at (row, column).
	__device__ __forceinline__ void run(const pipeline &ring, position &at, i32 row, i32 column,
		i32 first_step, i32 steps) const
	{
		u16 row_blocks = place.row_blocks(), column_blocks = place.column_blocks();
		i32 scaled = ROWS_ARE_B ? column : row;
		u32 scaled_bytes = scales.bytes(scaled);
		const float *from = scales.first(scaled, first_step);
		bool one = elect();
		for (i32 k = first_step * BK; steps > 0; --steps, k += BK) {
			u32 full = ring.full(at.stage);
			// The ring starts empty, so the first round's waits pass.
			mbarrier_wait(ring.empty(at.stage), at.parity ^ 1);
			if (one) {
				// All slices of the stage count here, those that other blocks send
				// too.
				mbarrier_arrive_expect(full, stage_bytes + scaled_bytes);
				rows_operand::load(ring.rows(at.stage), rows_map, full, row, k,
					place.column, row_blocks, rows_policy);
				columns_operand::load(ring.columns(at.stage), columns_map, full,
					column, k, place.row, column_blocks, columns_policy);
				if (scales_blocks && scaled_bytes)
					bulk_load(ring.scales + at.stage * scale_bytes, from,
						scaled_bytes, full);
			}
			__syncwarp();
			from += scales.pitch;
			at.next();
		}
	}
};

// What a multiplying warp group knows: FRAGMENTS times 64 rows from `first_row` on.
template <int FRAGMENTS> struct multiplier {
	typedef float sums_type[FRAGMENTS][TILE_COLUMNS / 2];

	u32 first_row;
	u32 thread;      // 0..127 in the group
	u32 writer_rank; // the block that this thread tells about a free stage, if thread <
			 // stage_writers

	__device__ __forceinline__ multiplier(u32 first_row, u32 thread, const cluster_place &place)
	    : first_row(first_row), thread(thread), writer_rank(place.writer(thread))
	{
	}

	__device__ __forceinline__ void release(const pipeline &ring, u32 stage) const
	{
		if constexpr (cluster_plane > 1) {
			if (thread < stage_writers)
				mbarrier_arrive_at(ring.empty(stage), writer_rank);
		} else {
			if (thread == 0)
				mbarrier_arrive(ring.empty(stage));
		}
	}

	// Issues one k step; `add` = 0 starts new sums.
	__device__ __forceinline__ void step(
		sums_type &sums, const pipeline &ring, u32 stage, u32 add) const
	{
		u64 columns = columns_operand::descriptor(ring.columns(stage), 0);
		wgmma_fence();
#pragma unroll
		for (int fragment = 0; fragment < FRAGMENTS; ++fragment) {
			u64 rows = rows_operand::descriptor(
				ring.rows(stage), first_row + fragment * 64);
#pragma unroll
			for (int i = 0; i < instructions_per_step; ++i)
				multiply(sums[fragment],
					wgmma_advance(rows, rows_operand::advance(i)),
					wgmma_advance(columns, columns_operand::advance(i)),
					i ? 1 : add);
		}
		wgmma_commit();
	}

	__device__ __forceinline__ void hold(sums_type &sums) const
	{
#pragma unroll
		for (int fragment = 0; fragment < FRAGMENTS; ++fragment)
			wgmma_hold(sums[fragment]);
	}

	// Multiplies `steps` >= 1 stages into fresh sums, except that the last step stays in
	// flight: a stage is released when the step after it has been issued. Returns the last
	// stage, for finish().
	__device__ __forceinline__ u32 run(
		sums_type &sums, const pipeline &ring, position &at, i32 steps) const
	{
		u32 previous = at.stage, add = 0;
		for (; steps > 0; --steps) {
			mbarrier_wait(ring.full(at.stage), at.parity);
			step(sums, ring, at.stage, add);
			if (add) {
				wgmma_wait<1>();
				release(ring, previous);
			}
			add = 1;
			previous = at.stage;
			at.next();
		}
		return previous;
	}

	__device__ __forceinline__ void finish(
		sums_type &sums, const pipeline &ring, u32 last) const
	{
		wgmma_wait<0>();
		hold(sums);
		release(ring, last);
	}

	// Both in one, with the sums of each step promoted: fp8 accumulators keep about 14 bits, so
	// every BK products are added to full fp32 sums. With PARTS = 2 a step multiplies while the
	// sums of the one before are added; with 1 (large tiles) another warp group has to fill the
	// gap. `scales` have been started at the first step.
	__device__ __forceinline__ void run_promoted(sums_type &sums, const pipeline &ring,
		position &at, i32 steps, block_scales<FRAGMENTS> &scales) const
	{
		clear(sums);
#if PARTS == 2
		partial_step even, odd;
		start(even, ring, at, scales);
		for (; steps > 2; steps -= 2) {
			promote<1>(sums, even, ring, at, odd, scales);
			promote<1>(sums, odd, ring, at, even, scales);
		}
		if (steps == 2) {
			promote<1>(sums, even, ring, at, odd, scales);
			promote<0>(sums, odd, ring, at, odd, scales);
		} else {
			promote<0>(sums, even, ring, at, even, scales);
		}
#else
		partial_step part;
		for (; steps > 0; --steps) {
			start(part, ring, at, scales);
			promote<0>(sums, part, ring, at, part, scales);
		}
#endif
	}

	// The sums of one step, and what they are multiplied by.
	struct partial_step {
		sums_type sums;
		step_scales<FRAGMENTS> scales;
	};

	__device__ __forceinline__ void start(partial_step &part, const pipeline &ring,
		const position &at, block_scales<FRAGMENTS> &scales) const
	{
		mbarrier_wait(ring.full(at.stage), at.parity);
		// Before the multiplication: who sees its end, and releases the stage, knows then
		// that every warp has read its scales.
		if constexpr (scales_blocks)
			scales.load(part.scales, ring.scales + at.stage * scale_bytes);
		step(part.sums, ring, at.stage, 0);
	}

	// Adds the sums of the step at `at`, which is in flight, and moves on. With MORE the next
	// step is issued first, into `next`.
	template <int MORE>
	__device__ __forceinline__ void promote(sums_type &sums, partial_step &part,
		const pipeline &ring, position &at, partial_step &next,
		block_scales<FRAGMENTS> &scales) const
	{
		u32 stage = at.stage;
		at.next();
		if constexpr (MORE)
			start(next, ring, at, scales);
		wgmma_wait<MORE>();
		hold(part.sums);
		release(ring, stage);
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

	static __device__ __forceinline__ void clear(sums_type &sums)
	{
#pragma unroll
		for (int fragment = 0; fragment < FRAGMENTS; ++fragment)
#pragma unroll
			for (int i = 0; i < TILE_COLUMNS / 2; ++i)
				sums[fragment][i] = 0.0f;
	}
};
