// What one warp of attention_decode does with its packed query rows: scores against a tile of KEYS
// keys, online softmax, output, all in registers; and how the states of warps that saw different
// keys become one. Lanes hold what mma.sync gives them (common/mma.cuh): of each 16 x 8 tile the
// rows l/4 and l/4 + 8 (`half` 0 and 1), columns 2*(l%4) and 2*(l%4)+1.
//
// Tiles lie in shared memory as TMA writes them with the 128-byte swizzle: blocks of 64 columns,
// each of them lines of 128 bytes. Columns beyond head_dim are zeros.
#include "attention/element.cuh"
#include "attention/quad.cuh"
#include "attention/rows.cuh"
#include "common/mma.cuh"

constexpr int block_rows = 16 * ROW_TILES * ROW_WARPS;
constexpr int row_pitch = 128;
constexpr int column_blocks = (head_dim + 63) / 64;
constexpr int dim_steps = (head_dim + 15) / 16;
constexpr int dim_tiles = head_dim / 8;
constexpr int key_steps = KEYS / 16;
constexpr int key_tiles = KEYS / 8;
constexpr int tile_bytes = column_blocks * KEYS * row_pitch;
constexpr int query_bytes = column_blocks * block_rows * row_pitch;

typedef row_layout<64, true> layout;
static_assert(layout::pitch_bytes == row_pitch, "rows of 64 elements, chunks exchanged by XOR");

struct row_state {
	float output[ROW_TILES][dim_tiles][4];
	float top[ROW_TILES][2]; // running maximum, in units of exp2
	float sum[ROW_TILES][2]; // of this thread's columns only, until the end

	__device__ __forceinline__ void clear()
	{
#pragma unroll
		for (int r = 0; r < ROW_TILES; r++) {
			top[r][0] = top[r][1] = masked_score();
			sum[r][0] = sum[r][1] = 0.0f;
#pragma unroll
			for (int d = 0; d < dim_tiles; d++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					output[r][d][i] = 0.0f;
		}
	}
};

// Step `step` of 16 columns of a tile of ROWS_OF_TILE rows; `lane_address` is that of step 0.
template <int ROWS_OF_TILE> __device__ __forceinline__ u32 tile_step(u32 lane_address, int step)
{
	return layout::advance(lane_address, step % 4) + (u32)(step / 4 * ROWS_OF_TILE * row_pitch);
}

typedef u32 row_fragments[ROW_TILES][4];

__device__ __forceinline__ void query_load(row_fragments &a, u32 query_lane, int step)
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++)
		ldmatrix_x4(
			a[r], tile_step<block_rows>(query_lane, step) + (u32)(r * 16 * row_pitch));
}

// What to subtract in the exponent: the maximum, or 0 in a row that has seen no key.
__device__ __forceinline__ float exponent_offset(float top)
{
	return top == masked_score() ? 0.0f : top;
}

// One tile of keys and values. Of the tile a row sees the first `visible` keys (MASKED only).
template <bool MASKED>
__device__ __forceinline__ void rows_step(row_state &rows, const row_fragments *held,
	u32 query_lane, u32 key_lane, u32 value_lane, const int (&visible)[ROW_TILES][2],
	float scale)
{
	float s[ROW_TILES][key_tiles][4];
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
		for (int j = 0; j < key_tiles; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				s[r][j][i] = 0.0f;
#pragma unroll
	for (int step = 0; step < dim_steps; step++) {
		row_fragments a;
		if constexpr (Q_REGS != 0) {
#pragma unroll
			for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					a[r][i] = held[step][r][i];
		} else {
			query_load(a, query_lane, step);
		}
#pragma unroll
		for (int j = 0; j < key_steps; j++) {
			u32 b[4];
			ldmatrix_x4(b, tile_step<KEYS>(key_lane, step) + (u32)(j * 16 * row_pitch));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < ROW_TILES; r++) {
				mma_sync<element>::accumulate(s[r][2 * j], a[r], b_low);
				mma_sync<element>::accumulate(s[r][2 * j + 1], a[r], b_high);
			}
		}
	}

	float factor[ROW_TILES][2], offset[ROW_TILES][2];
	bool changed = false;
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float top = masked_score();
#pragma unroll
			for (int j = 0; j < key_tiles; j++)
#pragma unroll
				for (int i = 0; i < 2; i++) {
					float &score = s[r][j][2 * half + i];
					int column = j * 8 + (int)(threadIdx.x % 4) * 2 + i;
					if (MASKED && column >= visible[r][half])
						score = masked_score();
					top = fmaxf(top, score);
				}
			float old = rows.top[r][half];
			float now = fmaxf(old, quad_max(top) * scale);
			offset[r][half] = MASKED ? exponent_offset(now) : now;
			factor[r][half] = exp2_fast(old - offset[r][half]);
			changed |= now != old;
			rows.top[r][half] = now;
		}
	if (__any_sync(0xffffffffu, changed)) {
#pragma unroll
		for (int r = 0; r < ROW_TILES; r++) {
			rows.sum[r][0] *= factor[r][0];
			rows.sum[r][1] *= factor[r][1];
#pragma unroll
			for (int d = 0; d < dim_tiles; d++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					rows.output[r][d][i] *= factor[r][i / 2];
		}
	}

#pragma unroll
	for (int step = 0; step < key_steps; step++) {
		row_fragments p;
#pragma unroll
		for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
			for (int side = 0; side < 2; side++) {
				float(&weight)[4] = s[r][2 * step + side];
#pragma unroll
				for (int i = 0; i < 4; i++)
					weight[i] = exp2_fast(
						fmaf(weight[i], scale, -offset[r][i / 2]));
				rows.sum[r][0] += weight[0] + weight[1];
				rows.sum[r][1] += weight[2] + weight[3];
				p[r][2 * side] = element::store2(weight[0], weight[1]);
				p[r][2 * side + 1] = element::store2(weight[2], weight[3]);
			}
#pragma unroll
		for (int d = 0; d < dim_steps; d++) {
			u32 b[4];
			ldmatrix_x4_trans(
				b, tile_step<KEYS>(value_lane, d) + (u32)(step * 16 * row_pitch));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < ROW_TILES; r++) {
				mma_sync<element>::accumulate(rows.output[r][2 * d], p[r], b_low);
				if (2 * d + 1 < dim_tiles)
					mma_sync<element>::accumulate(
						rows.output[r][2 * d + 1], p[r], b_high);
			}
		}
	}
}

// A state outside of registers: per row tile and lane one vector of maxima and sums, then one per
// 8 columns of output. Vectors of neighbouring lanes lie side by side.
constexpr int state_vectors = ROW_TILES * (dim_tiles + 1) * 32;

template <class STORE>
__device__ __forceinline__ void state_write(const row_state &rows, STORE store)
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++) {
		store(r * (dim_tiles + 1) * 32, make_float4(rows.top[r][0], rows.top[r][1],
							rows.sum[r][0], rows.sum[r][1]));
#pragma unroll
		for (int d = 0; d < dim_tiles; d++)
			store((r * (dim_tiles + 1) + d + 1) * 32,
				make_float4(rows.output[r][d][0], rows.output[r][d][1],
					rows.output[r][d][2], rows.output[r][d][3]));
	}
}

// Adds the state at `other`, of the same rows and other keys. The factors come from the rounded
// maxima that were in fact subtracted.
__device__ __forceinline__ void state_add(row_state &rows, const float4 *other)
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++) {
		float4 head = other[r * (dim_tiles + 1) * 32];
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
		for (int d = 0; d < dim_tiles; d++) {
			float4 part = other[(r * (dim_tiles + 1) + d + 1) * 32];
			float(&sum)[4] = rows.output[r][d];
			sum[0] = sum[0] * mine[0] + part.x * theirs[0];
			sum[1] = sum[1] * mine[0] + part.y * theirs[0];
			sum[2] = sum[2] * mine[1] + part.z * theirs[1];
			sum[3] = sum[3] * mine[1] + part.w * theirs[1];
		}
	}
}
