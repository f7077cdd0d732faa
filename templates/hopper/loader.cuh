// The stages of a GEMM kernel, a ring of tiles of both operands, and the thread that loads them.
// The including .cu says how many warp groups read each stage: STAGE_READERS.
#include "hopper/ring.cuh"
#include "hopper/wgmma_scales.cuh"
#include "hopper/tile.cuh"
#pragma once
typedef ring<STAGES, stage_bytes, STAGE_READERS, stage_writers> stage_ring;
typedef stage_ring::position position;

struct pipeline {
	stage_ring ring;
	u32 scales; // shared address of A's scales, scale_bytes a stage

	__device__ __forceinline__ u32 rows(const position &at) const
	{
		return ring.at(at);
	}
	__device__ __forceinline__ u32 columns(const position &at) const
	{
		return ring.at(at) + rows_operand::bytes;
	}
	__device__ __forceinline__ u32 scales_of(const position &at) const
	{
		return scales + at.buffer * scale_bytes;
	}
	// One thread; blocks_meet() has to follow.
	__device__ __forceinline__ void init() const
	{
		ring.init();
		mbarrier_init_fence();
	}
};

// What the loading warp knows. All its lanes walk through the steps, one of them loads: where the
// compiler sees that it is one, an instruction is one, and no loop over lanes.
struct loader {
	const tensor_map &rows_map, &columns_map;
	cluster_place place;
	u64 rows_policy, columns_policy; // 0: none
	scale_source scales;

	// Loads `steps` stages from k step `first_step` on, for the tile at (row, column). B of the
	// product begins at `k_of_b`: not 0 where products follow each other along k.
	__device__ __forceinline__ void run(const pipeline &stages, position &at, i32 row,
		i32 column, i32 first_step, i32 steps, i32 k_of_b) const
	{
		const stage_ring &ring = stages.ring;
		u16 row_blocks = place.row_blocks(), column_blocks = place.column_blocks();
		i32 scaled = ROWS_ARE_B ? column : row;
		u32 scaled_bytes = scales.bytes(scaled);
		const float *from = scales.first(scaled, first_step);
		bool one = elect();
		for (i32 k = first_step * BK; steps > 0; --steps, k += BK) {
			u32 full = ring.full(at);
			ring.claim(at);
			if (one) {
				ring.expect(at, stage_bytes + scaled_bytes);
				rows_operand::load(stages.rows(at), rows_map, full, row,
					k + (ROWS_ARE_B ? k_of_b : 0), place.column, row_blocks,
					rows_policy);
				columns_operand::load(stages.columns(at), columns_map, full, column,
					k + (ROWS_ARE_B ? 0 : k_of_b), place.row, column_blocks,
					columns_policy);
				if (scales_blocks && scaled_bytes)
					bulk_load(stages.scales_of(at), from, scaled_bytes, full);
			}
			__syncwarp();
			from += scales.pitch;
			at.next();
		}
	}
};
