// Scales of blocks, fp32: 1 x 128 of A, at [k / 128][m], and 128 x 128 of B, at [n / 128][k / 128],
// rows of a multiple of 4. The sums of each step of 128 k are multiplied by theirs when they are
// promoted. A's arrive with the stage. B's:
//
//	blocks of B     |<------- 128 ------->|<------- 128 ------->|
//	a tile                  |<-first_part->|<---- the rest ---->|    TILE_COLUMNS
//	parts                   |      |       |      |      |      |    SCALE_PART each
//	scale                    columns[0]       columns[1]
//
//	steps of k       0 1 2 ... 31       32 33 ... 63           64 ...
//	a warp has       now                next (under way)       read when step 32 begins
//	in lane          0 1 2 ... 31       0  1  ... 31           0 ...
//
// SCALE_PART divides 128 and the tile, so that no part lies in two blocks of B. A step takes its
// scale from the lane that holds it, and no step waits for memory.
// The including .cu says which operand is wgmma's m side: ROWS_ARE_B; and, where tiles begin at any
// row of A, SCALE_SLACK 4: copies begin at multiples of 4.
#include "hopper/tile.cuh"
#pragma once
#ifndef SCALE_SLACK
#define SCALE_SLACK 0
#endif
#if SCALE_block
constexpr bool scales_blocks = true;
#else
constexpr bool scales_blocks = false;
#endif

// Of one step. The columns of a tile of B lie in at most two blocks, of 64 rows of B always in one.
template <int FRAGMENTS> struct step_scales {
	float rows[FRAGMENTS][ROWS_ARE_B ? 1 : 2];
	float columns[ROWS_ARE_B ? TILE_COLUMNS / 4 : 2];
};

constexpr int scale_rows = (ROWS_ARE_B ? TILE_COLUMNS : TILE_ROWS) + SCALE_SLACK; // of A
constexpr int scale_bytes = scales_blocks ? scale_rows * 4 : 0; // of A's scales in a stage

// Where A's scales of a tile come from: they arrive with the stage that they belong to.
struct scale_source {
	const float *a;
	i32 pitch;

	// Bytes of the tile whose first row of A is `first`; those behind the last row stay as they
	// are.
	__device__ __forceinline__ u32 bytes(i32 first) const
	{
		return scales_blocks ? (u32)max(0, min(scale_rows, pitch - first / 4 * 4)) * 4 : 0;
	}
	// Those of the tile's step `step`; the next step's are a pitch further.
	__device__ __forceinline__ const float *first(i32 row, i32 step) const
	{
		return a + (i64)step * pitch + row / 4 * 4;
	}
};

__device__ __forceinline__ float shared_load(u32 address)
{
	float value;
	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
	return value;
}

template <int FRAGMENTS> struct block_scales {
	static constexpr int part = SCALE_PART;
	static_assert(
		!scales_blocks || ROWS_ARE_B ||
			(TILE_COLUMNS % part == 0 && 128 % part == 0 && TILE_COLUMNS <= 128 + part),
		"a tile's columns lie in two blocks of B");

	// Blocks of B that a step needs a scale of.
	static constexpr int blocks = ROWS_ARE_B ? FRAGMENTS : part < 128 ? 2 : 1;

	u32 a;          // bytes to this thread's first row or column among a stage's scales
	const float *b; // of the first block of B, and this lane's step
	i32 pitch[blocks];
	i32 first_part; // columns of the tile that lie in the first block of B
	i32 step, steps;
	float now[blocks], next[blocks];

	// For steps of a tile: k in blocks, from `first_block` on. b_first: the first row of B that
	// this warp group multiplies; first_row: of the group in the tile.
	__device__ __forceinline__ void start(const float *scale_b, i32 n, i32 k_blocks,
		i32 b_first, u32 first_row, u32 thread, i32 first_block, i32 count)
	{
		a = 4 *
		    (ROWS_ARE_B ? thread % 4 * 2 : first_row + thread / 32 * 16 + thread % 32 / 4);
		b_first = min(b_first, n - 1);
		first_part = 128 - b_first % 128;
		i32 line = (k_blocks + 3) / 4 * 4, last = (n - 1) / 128 - b_first / 128;
		b = scale_b + (i64)(b_first / 128) * line + first_block + thread % 32;
#pragma unroll
		for (int i = 0; i < blocks; ++i)
			pitch[i] = min(ROWS_ARE_B ? (i * 64 + 128 - first_part) / 128 : i, last) *
				   line;
		steps = count - (i32)(thread % 32);
		step = 0;
		read(now, 0);
		read(next, 32);
	}

	__device__ __forceinline__ void read(float (&to)[blocks], i32 from) const
	{
#pragma unroll
		for (int i = 0; i < blocks; ++i)
			to[i] = from < steps ? b[pitch[i] + from] : 0.0f;
	}

	// Those of the next step; `from`: A's scales in its stage.
	__device__ __forceinline__ void load(step_scales<FRAGMENTS> &to, u32 from)
	{
		if constexpr (ROWS_ARE_B) {
#pragma unroll
			for (int j = 0; j < TILE_COLUMNS / 4; ++j)
				to.columns[j] = shared_load(from + a + (j / 2 * 8 + j % 2) * 4);
		} else {
#pragma unroll
			for (int f = 0; f < FRAGMENTS; ++f) {
				to.rows[f][0] = shared_load(from + a + f * 64 * 4);
				to.rows[f][1] = shared_load(from + a + (f * 64 + 8) * 4);
			}
		}
#pragma unroll
		for (int i = 0; i < blocks; ++i) {
			float scale = __shfl_sync(0xffffffffu, now[i], step % 32);
			if constexpr (ROWS_ARE_B)
				to.rows[i][0] = scale;
			else
				to.columns[i] = scale;
		}
		step += 1;
		if (step % 32 == 0) {
#pragma unroll
			for (int i = 0; i < blocks; ++i)
				now[i] = next[i];
			read(next, step + 32);
		}
	}

	// sums += part of the step, scaled.
	__device__ __forceinline__ void add(float (&sums)[FRAGMENTS][TILE_COLUMNS / 2],
		const float (&from)[FRAGMENTS][TILE_COLUMNS / 2],
		const step_scales<FRAGMENTS> &scales) const
	{
#pragma unroll
		for (int f = 0; f < FRAGMENTS; ++f)
#pragma unroll
			for (int j = 0; j < TILE_COLUMNS / 8; ++j) {
				float factor[4];
				if constexpr (ROWS_ARE_B) {
					factor[0] = scales.rows[f][0] * scales.columns[2 * j];
					factor[1] = scales.rows[f][0] * scales.columns[2 * j + 1];
					factor[2] = factor[0];
					factor[3] = factor[1];
				} else {
					// An index that is no constant would put the array into
					// memory.
					float column = scales.columns[0];
					if (part < 128 && j * 8 / part * part >= first_part)
						column = scales.columns[1];
					factor[0] = factor[1] = scales.rows[f][0] * column;
					factor[2] = factor[3] = scales.rows[f][1] * column;
				}
#pragma unroll
				for (int i = 0; i < 4; ++i)
					sums[f][4 * j + i] = fmaf(
						from[f][4 * j + i], factor[i], sums[f][4 * j + i]);
			}
	}
};
