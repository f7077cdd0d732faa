// Attention for few queries against many keys (decoding): reading K and V once at the speed of
// memory is all there is (sm_90).
//
// The query rows that share a head of K and V (heads / kv_heads times seq_q of them, neighbours in
// memory) are packed into one tile of up to block_rows rows: a unit. The keys of all units, in
// steps of KEY_WARPS * KEYS, form one sequence, which is cut into equal shares, one per block; so a
// block may finish one unit, do others as a whole and begin another (LeanAttention: Sanovar et al.,
// 2024, arXiv 2405.10480). In a step every key warp has KEYS keys of its own: it fetches them by
// TMA into its own ring of STAGES slots, which runs on across units, and keeps its own softmax
// state. Warps of a block wait for each other only where a unit ends.
// With PAGE a sequence's keys lie in pages of so many, [pages, PAGE, kv_heads, columns], which the
// block table finds; a slot is then of one page, or of KEYS / PAGE of them.
//
// A unit that one block has seen as a whole is written at once. Otherwise each block leaves its
// state in the workspace, and the one that arrives last combines them, in the order of the keys, so
// that the result has the same bits in every run. The counter of arrivals is 0 again afterwards.
// With CLUSTER the blocks of a cluster have neighbouring parts of a unit; they leave their states
// in shared memory and each combine a share of the columns, so that a cluster leaves one part; of
// the blocks that have the same rank in their cluster the last to arrive combines its share of all
// parts.
#include "common/cluster.cuh"
#include "common/cluster_load.cuh"
#include "common/mbarrier.cuh"
#include "common/tma.cuh"
#include "common/tma_ranks.cuh"
#include "decode_parts.cuh"

constexpr int warps = ROW_WARPS * KEY_WARPS;
constexpr int threads = 32 * warps;
constexpr int block_keys = KEY_WARPS * KEYS;
constexpr int slot_bytes = key_bytes + value_bytes;
constexpr int ring_bytes = KEY_WARPS * STAGES * slot_bytes;
constexpr int exchange_states = KEY_WARPS > 1 ? KEY_WARPS / 2 : CLUSTER > 1;
constexpr int exchange_bytes = exchange_states * ROW_WARPS * state_vectors * 16;
constexpr int barrier_bytes = 16 + KEY_WARPS * STAGES * 16;
static_assert(ring_bytes + 2 * query_bytes + exchange_bytes + barrier_bytes + 16 == SMEM,
	"decode.json's smem_bytes");
constexpr int page_keys = PAGE > 0 ? PAGE : 1;
constexpr int boxes = PAGE > 0 && PAGE < KEYS ? KEYS / PAGE : 1; // of a slot
constexpr int box_keys = KEYS / boxes;

// How the units and their steps follow from the problem; the same in all blocks.
struct key_order {
	int unit_steps, row_blocks;
	int kv_heads, sequence_pages; // with PAGE
	const i32 *block_table;
};

// TMA's side of a key warp's ring. Slots are filled in the order of steps; where several row warps
// read a slot, each says when it is done.
struct key_loader {
	const key_order &order;
	u32 slots, full, empty;
	int left, unit, tile, first_key;
	u64 policy;               // of L2 for what is read once, or 0
	int slot = 0, filled = 0; // next slot; how often the ring went round
	i32 page[boxes];          // of the next slot

	__device__ __forceinline__ int next_key() const
	{
		return tile * block_keys + first_key;
	}
	// Its pages are looked up a step ahead of the copies. Behind the last key anything may be
	// copied.
	__device__ __forceinline__ void pages_find()
	{
		if constexpr (PAGE > 0) {
			i64 sequence = unit / (order.row_blocks * order.kv_heads);
			const i32 *table = order.block_table + sequence * order.sequence_pages;
#pragma unroll
			for (int box = 0; box < boxes; box++)
				page[box] =
					__ldg(table + min((next_key() + box * box_keys) / page_keys,
							      order.sequence_pages - 1));
		}
	}
	template <int COLUMNS>
	__device__ __forceinline__ void rows_load(u32 to, const tensor_map &map, u32 barrier)
	{
		int matrix = unit / order.row_blocks;
#pragma unroll
		for (int box = 0; box < boxes; box++) {
			int row = next_key();
			if constexpr (PAGE > 0)
				row = page[box] * PAGE + row % page_keys;
#pragma unroll
			for (int column = 0; column < COLUMNS; column += 64) {
				u32 place = to + (u32)((column / 64 * KEYS + box * box_keys) *
							 row_pitch);
				int head = PAGE > 0 ? matrix % order.kv_heads : matrix;
				if (policy)
					tma_load_hint(
						place, map, barrier, column, row, head, policy);
				else
					tma_load(place, map, barrier, column, row, head);
			}
		}
	}

	__device__ __forceinline__ void next(const tensor_map &map_k, const tensor_map &map_v)
	{
		if (ROW_WARPS > 1 && filled > 0)
			mbarrier_wait(empty + (u32)slot * 8, (u32)(filled - 1) & 1);
		u32 to = slots + (u32)(slot * slot_bytes), barrier = full + (u32)slot * 8;
		mbarrier_arrive_expect(barrier, slot_bytes);
		rows_load<head_dim>(to, map_k, barrier);
		rows_load<HEAD_DIM_V>(to + key_bytes, map_v, barrier);
		if (++slot == STAGES) {
			slot = 0;
			filled++;
		}
		if (++tile == order.unit_steps) {
			tile = 0;
			unit++;
		}
		if (--left > 0)
			pages_find();
	}
};

// `rows` query rows share a head of K and V; a unit has block_rows of them. A unit's keys are
// `unit_steps` steps, all units' `steps`, a block's `share`.
extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM) attention_decode(
	const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k,
	const __grid_constant__ tensor_map map_v, const i32 *block_table, element_memory *O,
	float4 *parts, u32 *arrived, int seq_q, int seq_k, int kv_heads, int sequence_pages,
	int rows, int row_blocks, int unit_steps, int steps, int share, int cluster_parts)
{
	extern __shared__ __align__(1024) u8 shared[];
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int key_warp = warp / ROW_WARPS, row_warp = warp % ROW_WARPS;
	const u32 base = shared_address(shared);
	const u32 queries = base + ring_bytes;
	float4 *exchange = (float4 *)(shared + ring_bytes + 2 * query_bytes);
	const u32 barriers = queries + 2 * query_bytes + exchange_bytes;
	const u32 query_full = barriers, full = barriers + 16 + (u32)(key_warp * STAGES) * 8,
		  empty = full + KEY_WARPS * STAGES * 8;
	bool *last_arrival = (bool *)(shared + (barriers - base) + barrier_bytes);

	// With CLUSTER, `cluster_parts` clusters share a unit.
	const u32 rank = CLUSTER > 1 ? cluster_rank() : 0;
	const int cluster = (int)blockIdx.x / CLUSTER;
	int first_step = (int)blockIdx.x * share, last_step = min(first_step + share, steps);
	if constexpr (CLUSTER > 1) {
		int end = (cluster / cluster_parts + 1) * unit_steps;
		first_step =
			end - unit_steps + (cluster % cluster_parts * CLUSTER + (int)rank) * share;
		last_step = min(first_step + share, end);
	}
	// One lane of each warp, whichever: see elect(). The predicate must be elect's own.
	const bool one = elect();
	const bool loads = row_warp == 0 && one, loads_queries = warp == 0 && one;
	// A ring's barriers are made by the thread that loads it, which need not wait for the
	// others.
	if (loads) {
		for (int i = 0; i < STAGES; i++) {
			mbarrier_init(full + (u32)i * 8, 1);
			if (ROW_WARPS > 1)
				mbarrier_init(empty + (u32)i * 8, ROW_WARPS);
		}
		if (loads_queries) {
			mbarrier_init(query_full, 1);
			mbarrier_init(query_full + 8, 1);
		}
		mbarrier_init_fence();
	}

	auto query_start = [&](int unit, int buffer) {
		u32 barrier = query_full + (u32)buffer * 8;
		mbarrier_arrive_expect(barrier, query_bytes);
#pragma unroll
		for (int column = 0; column < head_dim; column += 64)
			tma_load(queries + (u32)(buffer * query_bytes +
						   column / 64 * block_rows * row_pitch),
				map_q, barrier, column, unit % row_blocks * block_rows,
				unit / row_blocks);
	};
	int step = first_step, unit = first_step / unit_steps;
	const key_order order = {unit_steps, row_blocks, kv_heads, sequence_pages, block_table};
	key_loader loader = {order, base + (u32)(key_warp * STAGES * slot_bytes), full, empty,
		last_step - first_step, unit, first_step - unit * unit_steps, key_warp * KEYS,
		row_blocks == 1 ? l2_policy_evict_first() : 0};
	if (loads_queries)
		query_start(unit, 0);
	if (loads) {
		if (loader.left > 0)
			loader.pages_find();
#pragma unroll 1
		for (int i = 0; i < STAGES && loader.left > 0; i++)
			loader.next(map_k, map_v);
	}
	__syncthreads();

	const u32 query_lane = queries + (u32)(row_warp * ROW_TILES * 16 * row_pitch) +
			       layout::offset(lane % 16, lane / 16);
	const u32 key_lane = loader.slots + layout::offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
	const u32 value_lane = loader.slots + key_bytes + layout::offset(lane % 16, lane / 16);
	const float scale = score_scale();
	int slot = 0;
	u32 phase = 0;

#pragma unroll 1
	for (int segment = 0; step < last_step; segment++, unit++) {
		const int tile = step - unit * unit_steps;
		const int segment_steps = min(unit_steps - tile, last_step - step);
		const int buffer = segment & 1;
		// The other buffer was last read before the barriers at the end of a unit.
		if (loads_queries && step + segment_steps < last_step)
			query_start(unit + 1, buffer ^ 1);

		// A row sees the keys before its limit; all rows see those before plain_limit.
		int limit[ROW_TILES][2], first_row = unit % row_blocks * block_rows;
#pragma unroll
		for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
			for (int half = 0; half < 2; half++) {
				int row = first_row + (row_warp * ROW_TILES + r) * 16 + half * 8 +
					  lane / 4;
				limit[r][half] =
					causal ? min(seq_k, row % seq_q + 1 + seq_k - seq_q)
					       : seq_k;
			}
		const int plain_limit = causal ? seq_k - seq_q + 1 : seq_k;

		row_state state;
		state.clear();
		mbarrier_wait(query_full + (u32)buffer * 8, (u32)(segment >> 1) & 1);
		const u32 query = query_lane + (u32)(buffer * query_bytes);
		row_fragments held[Q_REGS ? dim_steps : 1];
		if constexpr (Q_REGS != 0)
#pragma unroll
			for (int i = 0; i < dim_steps; i++)
				query_load(held[i], query, i);

		int key = tile * block_keys + key_warp * KEYS;
#pragma unroll 1
		for (int i = 0; i < segment_steps; i++, key += block_keys) {
			mbarrier_wait(full + (u32)slot * 8, phase);
			u32 at = (u32)(slot * slot_bytes);
			int visible[ROW_TILES][2];
			if (key + KEYS <= plain_limit) {
				rows_step<false>(state, held, query, key_lane + at, value_lane + at,
					visible, KEYS, scale);
			} else {
#pragma unroll
				for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
					for (int half = 0; half < 2; half++)
						visible[r][half] = limit[r][half] - key;
				rows_step<true>(state, held, query, key_lane + at, value_lane + at,
					visible, seq_k - key, scale);
			}
			__syncwarp();
			if (ROW_WARPS > 1 && lane == 0)
				mbarrier_arrive(empty + (u32)slot * 8);
			if (loads && loader.left > 0)
				loader.next(map_k, map_v);
			if (++slot == STAGES) {
				slot = 0;
				phase ^= 1;
			}
		}
		step += segment_steps;

		states_merge(state, exchange, key_warp, row_warp, lane);
		element_memory *out = O + (i64)(unit / row_blocks) * rows * HEAD_DIM_V;
		int row = first_row + row_warp * ROW_TILES * 16;
		if constexpr (CLUSTER > 1) {
			float4 *mine = exchange + row_warp * state_vectors + lane;
			if (key_warp == 0)
				state_write(state, [&](int at, float4 value) { mine[at] = value; });
			cluster_sync();
			u32 place = shared_address(mine);
			auto part = [&](int i, int at) {
				return cluster_load4(cluster_address(place, (u32)i) + (u32)at * 16);
			};
			int worker = key_warp * CLUSTER + (int)rank; // few columns: blocks first
			if (cluster_parts == 1) {
				parts_finish<KEY_WARPS * CLUSTER>(
					part, CLUSTER, worker, out, row, rows, lane);
				cluster_sync(); // a block stays while others read its state
				return;
			}
			auto part_of = [&](int index) {
				i64 place =
					(i64)(unit * cluster_parts + index) * ROW_WARPS + row_warp;
				return parts + place * state_vectors + lane;
			};
			float4 *to = part_of(cluster % cluster_parts);
			parts_combine<KEY_WARPS * CLUSTER>(
				part, CLUSTER, worker,
				[&](int at, const float(&top)[2], const float(&sum)[2]) {
					if (worker == 0)
						__stcg(to + at, make_float4(top[0], top[1], sum[0],
									sum[1]));
				},
				[&](int, int at, int t, const float(&sum)[4]) {
					__stcg(to + at + (t + 1) * 32,
						make_float4(sum[0], sum[1], sum[2], sum[3]));
				});
			__threadfence();
			cluster_sync();
			if (last_to_arrive(arrived + unit * CLUSTER + (int)rank, cluster_parts,
				    last_arrival))
				parts_finish<KEY_WARPS * CLUSTER>(
					[&](int i, int at) { return __ldcg(part_of(i) + at); },
					cluster_parts, worker, out, row, rows, lane);
			return;
		}
		if (segment_steps == unit_steps) {
			if (key_warp == 0) {
#pragma unroll
				for (int r = 0; r < ROW_TILES; r++) {
					float inverse[2] = {inverse_sum(quad_sum(state.sum[r][0])),
						inverse_sum(quad_sum(state.sum[r][1]))};
#pragma unroll
					for (int t = 0; t < state_tiles; t++) {
						float scaled[4];
#pragma unroll
						for (int i = 0; i < 4; i++)
							scaled[i] = state_value(state, r, t, i) *
								    inverse[state_half(i)];
						tile_store(
							out, row + r * 16, rows, t, scaled, lane);
					}
				}
			}
			__syncthreads(); // the exchange may be written again
			continue;
		}

		// Blocks that have a part of this unit; a block's first unit has its slot 2 *
		// block, its last one, if that is another, the slot behind.
		const int unit_first = unit * unit_steps;
		const int first_block = unit_first / share;
		const int count = (unit_first + unit_steps - 1) / share - first_block + 1;
		auto part_of = [&](int block) {
			i64 index = 2 * (i64)block + (block * share < unit_first ? 1 : 0);
			return parts + (index * ROW_WARPS + row_warp) * state_vectors + lane;
		};
		if (key_warp == 0) {
			float4 *mine = part_of((int)blockIdx.x);
			state_write(state, [&](int at, float4 value) { __stcg(mine + at, value); });
			__threadfence();
		}
		if (last_to_arrive(arrived + unit, count, last_arrival)) {
			// A block's other units come first; only the first block's part can be its
			// second.
			constexpr i64 distance = (i64)2 * ROW_WARPS * state_vectors;
			const float4 *first_part = part_of(first_block);
			const float4 *other_parts = part_of(first_block + 1) - distance;
			auto part = [&](int i, int at) {
				return __ldcg(
					(i == 0 ? first_part : other_parts + i * distance) + at);
			};
			parts_finish<KEY_WARPS>(part, count, key_warp, out, row, rows, lane);
		}
	}
}
