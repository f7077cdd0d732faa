// What one warp of attention_decode does with its packed query rows against a tile of KEYS keys;
// and how its state leaves the registers and becomes one with that of a warp that saw other keys.
//
// Tiles lie in shared memory as TMA writes them with the 128-byte swizzle: blocks of 64 columns,
// each of them lines of 128 bytes. Columns beyond head_dim are zeros.
#include "attention/mma_rows.cuh"
#include "attention/rows.cuh"
#pragma once
constexpr int block_rows = 16 * ROW_TILES * ROW_WARPS;
constexpr int row_pitch = 128;
constexpr int key_bytes = (head_dim + 63) / 64 * KEYS * row_pitch;     // of a tile of K
constexpr int value_bytes = (HEAD_DIM_V + 63) / 64 * KEYS * row_pitch; // of a tile of V
constexpr int query_bytes = (head_dim + 63) / 64 * block_rows * row_pitch;
constexpr int dim_tiles = HEAD_DIM_V / 8;

typedef row_layout<64, true> layout;
static_assert(layout::pitch_bytes == row_pitch, "rows of 64 elements, chunks exchanged by XOR");

typedef warp_state<ROW_TILES, dim_tiles> row_state;
typedef u32 row_fragments[ROW_TILES][4];

// Step `step` of 16 columns of a tile of ROWS_OF_TILE rows; `lane_address` is that of step 0.
template <int ROWS_OF_TILE> __device__ __forceinline__ u32 tile_step(u32 lane_address, int step)
{
	return layout::advance(lane_address, step % 4) + (u32)(step / 4 * ROWS_OF_TILE * row_pitch);
}

__device__ __forceinline__ void query_load(row_fragments &a, u32 query_lane, int step)
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++)
		ldmatrix_x4(
			a[r], tile_step<block_rows>(query_lane, step) + (u32)(r * 16 * row_pitch));
}

// One tile of keys and values. Of the tile a row sees the first `visible` keys, and `present` are
// there at all (MASKED only). Behind those a page may hold anything, and 0 times NaN is no 0.
template <bool MASKED>
__device__ __forceinline__ void rows_step(row_state &rows, const row_fragments *held,
	u32 query_lane, u32 key_lane, u32 value_lane, const int (&visible)[ROW_TILES][2],
	int present, float scale)
{
	float s[ROW_TILES][KEYS / 8][4];
	scores_compute(
		s,
		[&](row_fragments &a, int step) {
			if constexpr (Q_REGS != 0) {
#pragma unroll
				for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
					for (int i = 0; i < 4; i++)
						a[r][i] = held[step][r][i];
			} else {
				query_load(a, query_lane, step);
			}
		},
		[&](int step, int j) {
			return tile_step<KEYS>(key_lane, step) + (u32)(j * 16 * row_pitch);
		});
	if constexpr (MASKED)
		scores_mask(s, visible);
	float offset[ROW_TILES][2];
	rows_raise<MASKED>(rows, offset, s, scale);
	rows_accumulate(rows, s, offset, scale, [&](u32(&b)[4], int step, int d) {
		ldmatrix_x4_trans(b, tile_step<KEYS>(value_lane, d) + (u32)(step * 16 * row_pitch));
		if constexpr (MASKED && PAGE > 0) {
#pragma unroll
			for (int i = 0; i < 4; i++) { // two keys a word
				int left = present -
					   (step * 16 + i % 2 * 8 + (int)(threadIdx.x % 4) * 2);
				b[i] &= left >= 2 ? 0xffffffffu : left == 1 ? 0xffffu : 0u;
			}
		}
	});
}

// A state outside of registers: per row tile and lane a vector of maxima and sums, then the output:
// one vector for each 8 columns or, where only rows l/4 are real (STATE_HALVES 1), for each 16.
// Vectors of neighbouring lanes lie side by side.
constexpr int state_tiles = (dim_tiles * STATE_HALVES + 1) / 2;
constexpr int state_vectors = ROW_TILES * (state_tiles + 1) * 32;

// Element i of vector t: which half of the rows, which 8 columns.
constexpr __device__ __forceinline__ int state_half(int i)
{
	return STATE_HALVES == 2 ? i / 2 : 0;
}
constexpr __device__ __forceinline__ int state_columns(int t, int i)
{
	return STATE_HALVES == 2 ? t : 2 * t + i / 2;
}
// An output's element that is in vector t; 0 beyond the last column.
__device__ __forceinline__ float state_value(const row_state &rows, int r, int t, int i)
{
	return state_columns(t, i) < dim_tiles
		       ? rows.output[r][state_columns(t, i)][2 * state_half(i) + i % 2]
		       : 0.0f;
}

template <class STORE>
__device__ __forceinline__ void state_write(const row_state &rows, STORE store)
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++) {
		store(r * (state_tiles + 1) * 32, make_float4(rows.top[r][0], rows.top[r][1],
							  rows.sum[r][0], rows.sum[r][1]));
#pragma unroll
		for (int t = 0; t < state_tiles; t++)
			store((r * (state_tiles + 1) + t + 1) * 32,
				make_float4(state_value(rows, r, t, 0), state_value(rows, r, t, 1),
					state_value(rows, r, t, 2), state_value(rows, r, t, 3)));
	}
}

// What to subtract in the exponent: the maximum, or 0 in a row that has seen no key.
__device__ __forceinline__ float exponent_offset(float top)
{
	return top == masked_score() ? 0.0f : top;
}

// Adds the state at `other`, of the same rows and other keys. The factors come from the rounded
// maxima that were in fact subtracted.
__device__ __forceinline__ void state_add(row_state &rows, const float4 *other)
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++) {
		float4 head = other[r * (state_tiles + 1) * 32];
		float their_top[2] = {head.x, head.y}, their_sum[2] = {head.z, head.w};
		float mine[2], theirs[2];
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float top = fmaxf(rows.top[r][half], their_top[half]);
			mine[half] = exp2_fast(rows.top[r][half] - exponent_offset(top));
			theirs[half] = exp2_fast(their_top[half] - exponent_offset(top));
			rows.top[r][half] = top;
			rows.sum[r][half] =
				rows.sum[r][half] * mine[half] + their_sum[half] * theirs[half];
		}
#pragma unroll
		for (int t = 0; t < state_tiles; t++) {
			float4 part = other[(r * (state_tiles + 1) + t + 1) * 32];
			float their[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
			for (int i = 0; i < 4; i++) {
				if (state_columns(t, i) >= dim_tiles)
					break;
				int half = state_half(i);
				float &sum = rows.output[r][state_columns(t, i)][2 * half + i % 2];
				sum = sum * mine[half] + their[i] * theirs[half];
			}
		}
	}
}
