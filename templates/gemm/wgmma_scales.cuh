// Scales of blocks, fp32: 1 x 128 of A, at [k / 128][m], and 128 x 128 of B, at [n / 128][k / 128],
// rows of a multiple of 4. The sums of each step of 128 k are multiplied by theirs when they are
// promoted. A thread reads those of its own rows and columns, while the step is under way.
// The including .cu says which operand is wgmma's m side: ROWS_ARE_B.
#include "wgmma_tile.cuh"
#pragma once
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

template <int FRAGMENTS> struct block_scales {
	// Runs of columns within one block of B, whatever the tile's first column is.
	static constexpr int part = SCALE_PART;
	static_assert(
		!scales_blocks || ROWS_ARE_B ||
			(TILE_COLUMNS % part == 0 && 128 % part == 0 && TILE_COLUMNS <= 128 + part),
		"a tile's columns lie in two blocks of B");

	const float *a, *b; // of this thread's first row or column of A; of the first block of B
	i32 a_pitch, a_left, b_pitch, b_last; // rows of A and blocks of B that follow
	i32 first_part; // columns of the tile that lie in the first block of B

	// For a tile of which this warp group has the rows from `row` and the columns from `column`
	// on; k in blocks.
	__device__ __forceinline__ void start(const float *scale_a, const float *scale_b, i32 m,
		i32 n, i32 k_blocks, i32 row, i32 column, u32 thread, i32 first_block)
	{
		i32 a_first = ROWS_ARE_B ? column + (i32)(thread % 4 * 2)
					 : row + (i32)(thread / 32 * 16 + thread % 32 / 4);
		i32 b_first = min(ROWS_ARE_B ? row : column, n - 1);
		a_pitch = (m + 3) / 4 * 4;
		b_pitch = (k_blocks + 3) / 4 * 4;
		a_left = a_pitch - a_first;
		b_last = (n - 1) / 128 - b_first / 128;
		first_part = 128 - b_first % 128;
		a = scale_a + (i64)first_block * a_pitch + a_first;
		b = scale_b + (i64)(b_first / 128) * b_pitch + first_block;
	}

	// Those of the next step.
	__device__ __forceinline__ void load(step_scales<FRAGMENTS> &to)
	{
		if constexpr (ROWS_ARE_B) {
#pragma unroll
			for (int f = 0; f < FRAGMENTS; ++f) {
				i32 block = (f * 64 + 128 - first_part) / 128;
				to.rows[f][0] = b[(i64)min(block, b_last) * b_pitch];
			}
#pragma unroll
			for (int j = 0; j < TILE_COLUMNS / 8; ++j) {
				float2 pair = make_float2(0.0f, 0.0f);
				if (j * 8 < a_left)
					pair = *(const float2 *)(a + j * 8);
				to.columns[2 * j] = pair.x;
				to.columns[2 * j + 1] = pair.y;
			}
		} else {
#pragma unroll
			for (int f = 0; f < FRAGMENTS; ++f) {
				to.rows[f][0] = f * 64 < a_left ? a[f * 64] : 0.0f;
				to.rows[f][1] = f * 64 + 8 < a_left ? a[f * 64 + 8] : 0.0f;
			}
			to.columns[0] = b[0];
			if constexpr (part < 128)
				to.columns[1] = b[b_last > 0 ? b_pitch : 0];
		}
		a += a_pitch;
		b += 1;
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
