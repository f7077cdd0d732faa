// What one warp of flash_mma does with its query rows: scores, softmax, output, all in registers.
// A warp owns row_tiles * 16 rows. Lane l holds, of each 16 x 8 tile, the rows l/4 and l/4 + 8
// (`half` 0 and 1) in columns 2*(l%4) and 2*(l%4)+1, as mma.sync lays out its accumulators
// (common/mma.cuh).
#include "attention/element.cuh"
#include "attention/quad.cuh"
#include "attention/rows.cuh"
#include "common/mma.cuh"

constexpr int threads = WARPS * 32;
constexpr int row_tiles = BM / (16 * WARPS);          // 16-row tiles of a warp
constexpr int padded_dim = (head_dim + 15) / 16 * 16; // whole k steps of the tensor cores
constexpr int dim_steps = padded_dim / 16;
constexpr int dim_tiles = head_dim / 8; // 8-column tiles of the output
constexpr int key_steps = BN / 16;
constexpr int key_tiles = BN / 8;

typedef row_layout<padded_dim, SWIZZLE != 0> layout;
constexpr int query_bytes = BM * layout::pitch_bytes;
constexpr int tile_bytes = BN * layout::pitch_bytes;

static_assert(BM % (16 * WARPS) == 0 && BN % 16 == 0, "tiles by 16");

struct warp_rows {
	float output[row_tiles][dim_tiles][4];
	float bias[row_tiles][2]; // running maximum, in units of exp2
	float sum[row_tiles][2];  // of this thread's columns only, until the end
	int first_limit;          // under a causal mask the first row sees keys 0..first_limit-1
};

typedef float score_tiles[row_tiles][key_tiles][4];
typedef u32 query_fragments[row_tiles][4];

// S = Q K^T. Query addresses are those of this lane's ldmatrix row; with Q_REGS the fragments are
// held.
__device__ __forceinline__ void scores_compute(
	score_tiles &s, const query_fragments *held, u32 query_lane, u32 key_lane)
{
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int j = 0; j < key_tiles; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				s[r][j][i] = 0.0f;
#pragma unroll
	for (int step = 0; step < dim_steps; step++) {
		query_fragments a;
#pragma unroll
		for (int r = 0; r < row_tiles; r++) {
			if constexpr (Q_REGS != 0) {
#pragma unroll
				for (int i = 0; i < 4; i++)
					a[r][i] = held[step][r][i];
			} else {
				ldmatrix_x4(a[r], layout::advance(query_lane, step) +
							  (u32)(r * 16 * layout::pitch_bytes));
			}
		}
#pragma unroll
		for (int j = 0; j < key_steps; j++) {
			u32 b[4];
			ldmatrix_x4(b, layout::advance(key_lane, step) +
					       (u32)(j * 16 * layout::pitch_bytes));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < row_tiles; r++) {
				mma_sync<element>::accumulate(s[r][2 * j], a[r], b_low);
				mma_sync<element>::accumulate(s[r][2 * j + 1], a[r], b_high);
			}
		}
	}
}

// Scores of keys that a row does not see become minus infinity.
__device__ __forceinline__ void scores_mask(
	score_tiles &s, const warp_rows &rows, int first_key, int seq_k)
{
	int column = first_key + (int)(threadIdx.x % 4) * 2;
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int limit = seq_k;
			if (causal)
				limit = min(limit, rows.first_limit + r * 16 + half * 8);
#pragma unroll
			for (int j = 0; j < key_tiles; j++)
#pragma unroll
				for (int i = 0; i < 2; i++)
					if (column + j * 8 + i >= limit)
						s[r][j][2 * half + i] = masked_score();
		}
}

// Raises the running maxima to those of the new scores. Where no row of the warp has a new maximum
// (the rule after the first few tiles) output and sums stay as they are: their factor would be 1.
// `offset` is what to subtract in the exponent: the maximum, or 0 in a row that has seen no key.
// The factor comes from the rounded maxima that were in fact subtracted, so that huge scores, whose
// maxima are coarsely rounded, are weighted alike before and after a change.
template <bool MASKED>
__device__ __forceinline__ void rows_raise(
	warp_rows &rows, float (&offset)[row_tiles][2], const score_tiles &s, float scale)
{
	float factor[row_tiles][2];
	bool changed = false;
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float top = fmaxf(s[r][0][2 * half], s[r][0][2 * half + 1]);
#pragma unroll
			for (int j = 1; j < key_tiles; j++)
				top = fmaxf(top, fmaxf(s[r][j][2 * half], s[r][j][2 * half + 1]));
			float old = rows.bias[r][half];
			float bias = fmaxf(old, quad_max(top) * scale);
			offset[r][half] = MASKED && bias == masked_score() ? 0.0f : bias;
			factor[r][half] = exp2_fast(old - offset[r][half]);
			changed |= bias != old;
			rows.bias[r][half] = bias;
		}
	if (!__any_sync(0xffffffffu, changed))
		return;
#pragma unroll
	for (int r = 0; r < row_tiles; r++) {
		rows.sum[r][0] *= factor[r][0];
		rows.sum[r][1] *= factor[r][1];
#pragma unroll
		for (int d = 0; d < dim_tiles; d++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				rows.output[r][d][i] *= factor[r][i / 2];
	}
}

// P = exp2(S - maximum), 16 keys at a time, and output += P V.
__device__ __forceinline__ void rows_accumulate(warp_rows &rows, score_tiles &s,
	const float (&offset)[row_tiles][2], float scale, u32 value_lane)
{
#pragma unroll
	for (int step = 0; step < key_steps; step++) {
		u32 a[row_tiles][4];
#pragma unroll
		for (int r = 0; r < row_tiles; r++)
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
		for (int d = 0; d < dim_steps; d++) {
			u32 b[4];
			ldmatrix_x4_trans(b, layout::advance(value_lane, d) +
						     (u32)(step * 16 * layout::pitch_bytes));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < row_tiles; r++) {
				mma_sync<element>::accumulate(rows.output[r][2 * d], a[r], b_low);
				if (2 * d + 1 <
					dim_tiles) // the upper half of a padded step is no output
					mma_sync<element>::accumulate(
						rows.output[r][2 * d + 1], a[r], b_high);
			}
		}
	}
}

// output / sum, rounded, through the warp's own rows of `staging` (they held Q) so that whole
// 16-byte chunks go to memory. A row that saw no key has sum 0 and output 0.
__device__ __forceinline__ void rows_store(
	warp_rows &rows, u8 *staging, int warp_row, int lane, u8 *out, int valid_rows)
{
	__syncwarp(); // other lanes may still be reading Q
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float sum = quad_sum(rows.sum[r][half]);
			float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
			int row = warp_row + r * 16 + half * 8 + lane / 4;
#pragma unroll
			for (int d = 0; d < dim_tiles; d++)
				*(u32 *)(staging + layout::offset(row, d) + lane % 4 * 4) =
					element::store2(rows.output[r][d][2 * half] * inverse,
						rows.output[r][d][2 * half + 1] * inverse);
		}
	__syncwarp();
	constexpr int row_chunks = head_dim / 8;
	for (int i = lane; i < row_tiles * 16 * row_chunks; i += 32) {
		int row = warp_row + i / row_chunks;
		if (row < valid_rows)
			*(vec16 *)(out + (i64)row * (head_dim * 2) + i % row_chunks * 16) =
				*(const vec16 *)(staging + layout::offset(row, i % row_chunks));
	}
}
