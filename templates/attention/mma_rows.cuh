// What a warp does with its query rows where mma.sync multiplies: scores, online softmax, output,
// all in registers. It owns TALL tiles of 16 rows. Lane l holds, of each 16 x 8 tile, the rows l/4
// and l/4 + 8 (`half` 0 and 1) in columns 2*(l%4) and 2*(l%4)+1 (common/mma.cuh).
#include "attention/element.cuh"
#include "common/quad.cuh"
#include "common/ldmatrix.cuh"
#include "common/mma.cuh"
#pragma once
constexpr int dim_steps = (head_dim + 15) / 16; // k steps of S = Q K^T

template <int TALL, int DIM_TILES> struct warp_state {
	float output[TALL][DIM_TILES][4];
	float top[TALL][2]; // running maximum, in units of exp2
	float sum[TALL][2]; // of this thread's columns only, until the end

	__device__ __forceinline__ void clear()
	{
#pragma unroll
		for (int r = 0; r < TALL; r++) {
			top[r][0] = top[r][1] = masked_score();
			sum[r][0] = sum[r][1] = 0.0f;
#pragma unroll
			for (int d = 0; d < DIM_TILES; d++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					output[r][d][i] = 0.0f;
		}
	}
	// Output and sums are brought to new maxima.
	__device__ __forceinline__ void rescale(const float (&factor)[TALL][2])
	{
#pragma unroll
		for (int r = 0; r < TALL; r++) {
			sum[r][0] *= factor[r][0];
			sum[r][1] *= factor[r][1];
#pragma unroll
			for (int d = 0; d < DIM_TILES; d++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					output[r][d][i] *= factor[r][i / 2];
		}
	}
};

// S = Q K^T for WIDE tiles of 8 keys. query(a, step) gives the fragments of a k step, key(step, j)
// this lane's ldmatrix address of 16 keys.
template <int TALL, int WIDE, class QUERY, class KEY>
__device__ __forceinline__ void scores_compute(float (&s)[TALL][WIDE][4], QUERY query, KEY key)
{
#pragma unroll
	for (int r = 0; r < TALL; r++)
#pragma unroll
		for (int j = 0; j < WIDE; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				s[r][j][i] = 0.0f;
#pragma unroll
	for (int step = 0; step < dim_steps; step++) {
		u32 a[TALL][4];
		query(a, step);
#pragma unroll
		for (int j = 0; j < WIDE / 2; j++) {
			u32 b[4];
			ldmatrix_x4(b, key(step, j));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < TALL; r++) {
				mma_sync<element>::accumulate(s[r][2 * j], a[r], b_low);
				mma_sync<element>::accumulate(s[r][2 * j + 1], a[r], b_high);
			}
		}
	}
}

// Scores of keys that a row does not see become minus infinity: it sees the first `visible` ones.
template <int TALL, int WIDE>
__device__ __forceinline__ void scores_mask(
	float (&s)[TALL][WIDE][4], const int (&visible)[TALL][2])
{
	int column = (int)(threadIdx.x % 4) * 2;
#pragma unroll
	for (int r = 0; r < TALL; r++)
#pragma unroll
		for (int j = 0; j < WIDE; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				if (column + j * 8 + i % 2 >= visible[r][i / 2])
					s[r][j][i] = masked_score();
}

// Raises the running maxima to those of the new scores. Where no row of the warp has a new maximum
// (the rule after the first few tiles) output and sums stay as they are: their factor would be 1.
// `offset` is what to subtract in the exponent: the maximum, or 0 in a row that has seen no key.
// The factor comes from the rounded maxima that were in fact subtracted, so that huge scores, whose
// maxima are coarsely rounded, are weighted alike before and after a change.
template <bool MASKED, int TALL, int WIDE, int DIM_TILES>
__device__ __forceinline__ void rows_raise(warp_state<TALL, DIM_TILES> &rows,
	float (&offset)[TALL][2], const float (&s)[TALL][WIDE][4], float scale)
{
	float factor[TALL][2];
	bool changed = false;
#pragma unroll
	for (int r = 0; r < TALL; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float most = fmaxf(s[r][0][2 * half], s[r][0][2 * half + 1]);
#pragma unroll
			for (int j = 1; j < WIDE; j++)
				most = fmaxf(most, fmaxf(s[r][j][2 * half], s[r][j][2 * half + 1]));
			float old = rows.top[r][half];
			float top = fmaxf(old, quad_max(most) * scale);
			offset[r][half] = MASKED && top == masked_score() ? 0.0f : top;
			factor[r][half] = exp2_fast(old - offset[r][half]);
			changed |= top != old;
			rows.top[r][half] = top;
		}
	if (__any_sync(0xffffffffu, changed))
		rows.rescale(factor);
}

// P = exp2(S scale - offset), 16 keys at a time, and output += P V. value(b, step, d) gives V's
// fragments of 16 keys and 16 columns.
template <int TALL, int WIDE, int DIM_TILES, class VALUE>
__device__ __forceinline__ void rows_accumulate(warp_state<TALL, DIM_TILES> &rows,
	float (&s)[TALL][WIDE][4], const float (&offset)[TALL][2], float scale, VALUE value)
{
#pragma unroll
	for (int step = 0; step < WIDE / 2; step++) {
		u32 a[TALL][4];
#pragma unroll
		for (int r = 0; r < TALL; r++)
#pragma unroll
			for (int side = 0; side < 2; side++) {
				float(&p)[4] = s[r][2 * step + side];
#pragma unroll
				for (int i = 0; i < 4; i++)
					p[i] = exp2_fast(fmaf(p[i], scale, -offset[r][i / 2]));
				rows.sum[r][0] += p[0] + p[1];
				rows.sum[r][1] += p[2] + p[3];
				a[r][2 * side] = element::store2(p[0], p[1]);
				a[r][2 * side + 1] = element::store2(p[2], p[3]);
			}
#pragma unroll
		for (int d = 0; d < (DIM_TILES + 1) / 2; d++) {
			u32 b[4];
			value(b, step, d);
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < TALL; r++) {
				mma_sync<element>::accumulate(rows.output[r][2 * d], a[r], b_low);
				// the upper half of a padded step is no output
				if (2 * d + 1 < DIM_TILES)
					mma_sync<element>::accumulate(
						rows.output[r][2 * d + 1], a[r], b_high);
			}
		}
	}
}

__device__ __forceinline__ float inverse_sum(float sum)
{
	return sum == 0.0f ? 0.0f : 1.0f / sum;
}
