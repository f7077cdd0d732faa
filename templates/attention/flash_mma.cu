// Attention in one pass over the keys, scores and output in registers (FlashAttention-2: Dao, 2023,
// arXiv 2307.08691; online softmax: Milakov and Gimelshein, 2018, arXiv 1805.02867).
//
// A block owns BM query rows of one head; each of its WARPS warps owns ROW_TILES * 16 of them. Tiles of
// BN keys and values come through shared memory by cp.async, from the last to the first, so that
// those which need masks come first and the rest of the loop runs without. Per tile a warp computes
// S = Q K^T by mma.sync, updates maximum and sum of its rows, and adds P V to its output.
// Maximum, sum and output stay in registers; P goes from accumulators to operands in place.
//
//   STAGES 1: K and V have one buffer each; V comes in during S, the next K during softmax and P V.
//   STAGES n: n buffers for pairs of K and V, one barrier per tile.
#include "attention/element.cuh"
#include "attention/rows.cuh"
#include "common/mma.cuh"

constexpr int threads = WARPS * 32;
constexpr int row_tiles = BM / (16 * WARPS);		// 16-row tiles of a warp
constexpr int padded_dim = (head_dim + 15) / 16 * 16;	// whole k steps of the tensor cores
constexpr int dim_steps = padded_dim / 16;
constexpr int dim_tiles = head_dim / 8;			// 8-column tiles of the output
constexpr int key_steps = BN / 16;
constexpr int key_tiles = BN / 8;

typedef row_layout<padded_dim, SWIZZLE != 0> layout;
constexpr int query_bytes = BM * layout::pitch_bytes;
constexpr int tile_bytes = BN * layout::pitch_bytes;

static_assert(BM % (16 * WARPS) == 0 && BN % 16 == 0, "tiles by 16");

struct warp_rows {
	float output[row_tiles][dim_tiles][4];
	float bias[row_tiles][2];	// running maximum, in units of exp2
	float sum[row_tiles][2];	// of this thread's columns only, until the end
	int first_limit;		// under a causal mask the first row sees keys 0..first_limit-1
};

typedef float score_tiles[row_tiles][key_tiles][4];
typedef u32 query_fragments[row_tiles][4];

// S = Q K^T. Query addresses are those of this lane's ldmatrix row; with Q_REGS the fragments are held.
__device__ __forceinline__ void scores_compute(score_tiles &s, const query_fragments *held,
	u32 query_lane, u32 key_lane)
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
				ldmatrix_x4(a[r], layout::advance(query_lane, step)
					+ (u32)(r * 16 * layout::pitch_bytes));
			}
		}
#pragma unroll
		for (int j = 0; j < key_steps; j++) {
			u32 b[4];
			ldmatrix_x4(b, layout::advance(key_lane, step) + (u32)(j * 16 * layout::pitch_bytes));
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
__device__ __forceinline__ void scores_mask(score_tiles &s, const warp_rows &rows, int first_key,
	int seq_k)
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

// The four lanes of a quad hold one row between them.
__device__ __forceinline__ float quad_max(float x)
{
	x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
	return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ __forceinline__ float quad_sum(float x)
{
	x += __shfl_xor_sync(0xffffffffu, x, 1);
	return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// Raises the running maxima to those of the new scores. Where no row of the warp has a new maximum
// (the rule after the first few tiles) output and sums stay as they are: their factor would be 1.
// `offset` is what to subtract in the exponent: the maximum, or 0 in a row that has seen no key.
// The factor comes from the rounded maxima that were in fact subtracted, so that huge scores, whose
// maxima are coarsely rounded, are weighted alike before and after a change.
template <bool MASKED>
__device__ __forceinline__ void rows_raise(warp_rows &rows, float (&offset)[row_tiles][2],
	const score_tiles &s, float scale)
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
			ldmatrix_x4_trans(b, layout::advance(value_lane, d)
				+ (u32)(step * 16 * layout::pitch_bytes));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < row_tiles; r++) {
				mma_sync<element>::accumulate(rows.output[r][2 * d], a[r], b_low);
				if (2 * d + 1 < dim_tiles)	// the upper half of a padded step is no output
					mma_sync<element>::accumulate(rows.output[r][2 * d + 1], a[r], b_high);
			}
		}
	}
}

// output / sum, rounded, through the warp's own rows of `staging` (they held Q) so that whole 16-byte
// chunks go to memory. A row that saw no key has sum 0 and output 0.
__device__ __forceinline__ void rows_store(warp_rows &rows, u8 *staging, int warp_row, int lane,
	u8 *out, int valid_rows)
{
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			float sum = quad_sum(rows.sum[r][half]);
			float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
			int row = warp_row + r * 16 + half * 8 + lane / 4;
#pragma unroll
			for (int d = 0; d < dim_tiles; d++)
				*(u32 *)(staging + layout::offset(row, d) + lane % 4 * 4) = element::store2(
					rows.output[r][d][2 * half] * inverse,
					rows.output[r][d][2 * half + 1] * inverse);
		}
	__syncwarp();
	constexpr int row_chunks = head_dim / 8;
	for (int i = lane; i < row_tiles * 16 * row_chunks; i += 32) {
		int row = warp_row + i / row_chunks;
		if (row < valid_rows)
			*(vec16 *)(out + (i64)row * (head_dim * 2) + i % row_chunks * 16)
				= *(const vec16 *)(staging + layout::offset(row, i % row_chunks));
	}
}

struct masked_tile { static constexpr bool value = true; };
struct plain_tile { static constexpr bool value = false; };

// One block per BM query rows of a head. Blocks run in groups of `head_group` heads, inside a group
// from the last rows to the first (under a causal mask the longest), so that few heads' keys are in
// use at a time and the last blocks of all are short.
extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
flash_mma(const element_memory *Q, const element_memory *K, const element_memory *V,
	element_memory *O, int seq_q, int seq_k, int heads, int kv_heads, int head_count,
	int row_blocks, int head_group)
{
	extern __shared__ __align__(128) u8 shared[];
	int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;

	head_group = head_group < head_count ? head_group : head_count;
	int group = (int)blockIdx.x / (row_blocks * head_group);
	int in_group = (int)blockIdx.x - group * row_blocks * head_group;
	int group_heads = head_count - group * head_group;
	group_heads = group_heads < head_group ? group_heads : head_group;
	int row_block = row_blocks - 1 - in_group / group_heads;
	int head = group * head_group + in_group % group_heads;
	int kv_head = head / heads * kv_heads + head % heads / (heads / kv_heads);

	int first_row = row_block * BM;
	int valid_rows = seq_q - first_row;
	const u8 *q = (const u8 *)(Q + ((i64)head * seq_q + first_row) * head_dim);
	const u8 *k = (const u8 *)(K + (i64)kv_head * seq_k * head_dim);
	const u8 *v = (const u8 *)(V + (i64)kv_head * seq_k * head_dim);
	u8 *out = (u8 *)(O + ((i64)head * seq_q + first_row) * head_dim);

	// Row i sees keys up to i + diagonal (causal, aligned at the lower right corner).
	int diagonal = seq_k - seq_q;
	int warp_row = warp * row_tiles * 16;
	warp_rows rows;
	rows.first_limit = first_row + warp_row + lane / 4 + diagonal + 1;
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			rows.bias[r][half] = masked_score();
			rows.sum[r][half] = 0.0f;
		}
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int d = 0; d < dim_tiles; d++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				rows.output[r][d][i] = 0.0f;

	// Keys seen by any row of the block, by any row of the warp, and by all rows of the block.
	int last_row = (valid_rows < BM ? seq_q : first_row + BM) - 1;
	int block_limit = seq_k, warp_limit = seq_k, plain_limit = seq_k;
	if (causal) {
		block_limit = min(seq_k, last_row + diagonal + 1);
		warp_limit = min(seq_k, first_row + warp_row + row_tiles * 16 + diagonal);
		plain_limit = max(0, min(seq_k, first_row + diagonal + 1));
	}
	int tile = block_limit > 0 ? (block_limit - 1) / BN : -1;
	int plain_tiles = plain_limit / BN;

	u32 query_tile = shared_address(shared);
	u32 key_tile = query_tile + query_bytes;
	// Lane addresses for ldmatrix: Q (and, transposed, V) as A operand rows, K as B operand.
	u32 query_lane = query_tile + layout::offset(warp_row + lane % 16, lane / 16);
	u32 key_lane = key_tile + layout::offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
	u32 value_lane = key_tile + tile_bytes + layout::offset(lane % 16, lane / 16);

	auto load_keys = [&](int index, int slot) {
		rows_load_any<layout, head_dim, BN, threads>(key_tile + (u32)(slot * 2 * tile_bytes),
			k + (i64)index * (BN * head_dim * 2), seq_k - index * BN);
	};
	auto load_values = [&](int index, int slot) {
		rows_load_any<layout, head_dim, BN, threads>(
			key_tile + (u32)(slot * 2 * tile_bytes + tile_bytes),
			v + (i64)index * (BN * head_dim * 2), seq_k - index * BN);
	};

	if (tile >= 0)
		rows_load_any<layout, head_dim, BM, threads>(query_tile, q, valid_rows);
	cp_async_commit();
	if (STAGES == 1) {
		if (tile >= 0)
			load_keys(tile, 0);
		cp_async_commit();
	}
#pragma unroll
	for (int ahead = 0; ahead < STAGES - 1; ahead++) {
		if (tile - ahead >= 0) {
			load_keys(tile - ahead, ahead);
			load_values(tile - ahead, ahead);
		}
		cp_async_commit();
	}
	if constexpr (padded_dim != head_dim) {
		rows_zero_last_chunk<layout, BM, threads>(shared);
		rows_zero_last_chunk<layout, 2 * STAGES * BN, threads>(shared + query_bytes);
	}

	query_fragments held[Q_REGS ? dim_steps : 1];
	if constexpr (Q_REGS != 0) {
		cp_async_wait<(STAGES > 1 ? STAGES - 1 : 1)>();
		__syncthreads();
#pragma unroll
		for (int step = 0; step < dim_steps; step++)
#pragma unroll
			for (int r = 0; r < row_tiles; r++)
				ldmatrix_x4(held[step][r], layout::advance(query_lane, step)
					+ (u32)(r * 16 * layout::pitch_bytes));
	}

	float scale = score_scale();
	int slot = 0;
	auto process = [&](auto kind) {
		constexpr bool masked = decltype(kind)::value;
		u32 slot_bytes = (u32)(slot * 2 * tile_bytes);
		// A warp none of whose rows sees a key of this tile only keeps the barriers.
		bool seen = !causal || !masked || tile * BN < warp_limit;
		score_tiles s;
		if constexpr (STAGES == 1) {
			cp_async_wait<0>();
			__syncthreads();
			load_values(tile, 0);
			cp_async_commit();
		} else {
			cp_async_wait<(STAGES > 1 ? STAGES - 2 : 0)>();
			__syncthreads();
			int ahead = tile - (STAGES - 1);
			int free_slot = slot == 0 ? STAGES - 1 : slot - 1;
			if (ahead >= 0) {
				load_keys(ahead, free_slot);
				load_values(ahead, free_slot);
			}
			cp_async_commit();
			slot = slot == STAGES - 1 ? 0 : slot + 1;
		}
		if (seen) {
			scores_compute(s, held, query_lane, key_lane + slot_bytes);
			if constexpr (masked)
				scores_mask(s, rows, tile * BN, seq_k);
		}
		if constexpr (STAGES == 1) {
			cp_async_wait<0>();
			__syncthreads();
			if (tile > 0)
				load_keys(tile - 1, 0);
			cp_async_commit();
		}
		if (seen) {
			float offset[row_tiles][2];
			rows_raise<masked>(rows, offset, s, scale);
			rows_accumulate(rows, s, offset, scale, value_lane + slot_bytes);
		}
	};
	for (; tile >= plain_tiles; tile--)
		process(masked_tile{});
	for (; tile >= 0; tile--)
		process(plain_tile{});

	rows_store(rows, shared, warp_row, lane, out, valid_rows);
}
