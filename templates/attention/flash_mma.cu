// Attention in one pass over the keys, scores and output in registers (FlashAttention-2: Dao, 2023,
// arXiv 2307.08691; online softmax: Milakov and Gimelshein, 2018, arXiv 1805.02867).
//
// A block owns BM query rows of one head; each of its WARPS warps owns ROW_TILES * 16 of them.
// Tiles of BN keys and values come through shared memory by cp.async, from the last to the first,
// so that those which need masks come first and the rest of the loop runs without. Per tile a warp
// computes S = Q K^T by mma.sync, updates maximum and sum of its rows, and adds P V to its output.
// Maximum, sum and output stay in registers; P goes from accumulators to operands in place.
//
//   STAGES 1: K and V have one buffer each; V comes in during S, the next K during softmax and P V.
//   STAGES n: n buffers for pairs of K and V, one barrier per tile.
#include "attention/flash_rows.cuh"

struct masked_tile {
	static constexpr bool value = true;
};
struct plain_tile {
	static constexpr bool value = false;
};

// One block per BM query rows of a head. Blocks run in groups of `head_group` heads, inside a group
// from the last rows to the first (under a causal mask the longest), so that few heads' keys are in
// use at a time and the last blocks of all are short.
extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS) flash_mma(const element_memory *Q,
	const element_memory *K, const element_memory *V, element_memory *O, int seq_q, int seq_k,
	int heads, int kv_heads, int head_count, int row_blocks, int head_group)
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

	// Row i sees keys up to i + diagonal (causal, aligned at the lower right corner), this
	// thread's first row keys 0..first_limit-1.
	int diagonal = seq_k - seq_q;
	int warp_row = warp * row_tiles * 16;
	int first_limit = first_row + warp_row + lane / 4 + diagonal + 1;
	warp_rows rows;
	rows.clear();

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
		rows_load_any<layout, head_dim, BN, threads>(
			key_tile + (u32)(slot * 2 * tile_bytes),
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
			query_load(held[step], query_lane, step);
	}

	auto query = [&](query_fragments &a, int step) {
		if constexpr (Q_REGS != 0) {
#pragma unroll
			for (int r = 0; r < row_tiles; r++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					a[r][i] = held[step][r][i];
		} else {
			query_load(a, query_lane, step);
		}
	};
	const float scale = score_scale();
	int slot = 0;
	auto process = [&](auto kind) {
		constexpr bool masked = decltype(kind)::value;
		const u32 keys = key_lane + (u32)(slot * 2 * tile_bytes);
		const u32 values = value_lane + (u32)(slot * 2 * tile_bytes);
		// A warp none of whose rows sees a key of this tile only keeps the barriers.
		bool seen = !causal || !masked || tile * BN < warp_limit;
		float s[row_tiles][BN / 8][4];
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
			scores_compute(s, query, [&](int step, int j) {
				return layout::advance(keys, step) +
				       (u32)(j * 16 * layout::pitch_bytes);
			});
			if constexpr (masked) {
				int visible[row_tiles][2];
#pragma unroll
				for (int r = 0; r < row_tiles; r++)
#pragma unroll
					for (int half = 0; half < 2; half++) {
						int limit = first_limit + r * 16 + half * 8;
						visible[r][half] =
							(causal ? min(seq_k, limit) : seq_k) -
							tile * BN;
					}
				scores_mask(s, visible);
			}
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
			rows_accumulate(rows, s, offset, scale, [&](u32(&b)[4], int step, int d) {
				ldmatrix_x4_trans(
					b, layout::advance(values, d) +
						   (u32)(step * 16 * layout::pitch_bytes));
			});
		}
	};
	for (; tile >= plain_tiles; tile--)
		process(masked_tile{});
	for (; tile >= 0; tile--)
		process(plain_tile{});

	rows_store(rows, shared, warp_row, lane, out, valid_rows);
}
