// Attention for few queries against many keys (decoding): reading K and V once at the speed of
// memory is all there is (sm_90).
//
// The query rows that share a head of K and V (heads / kv_heads times seq_q of them, neighbours in
// memory) are packed into one tile of up to block_rows rows: a unit. The keys of all units, in
// steps of KEY_WARPS * KEYS, form one sequence, which is cut into equal shares, one per block; so a
// block may finish one unit, do others as a whole and begin another (LeanAttention: Sanovar et al.,
// 2024, arXiv 2405.10480). What of a share is of one unit is a segment. In a step every key warp
// has KEYS keys of its own: it fetches them by TMA into its own ring of STAGES slots, which runs on
// across units, and keeps its own softmax state. Warps of a block wait for each other only where a
// unit ends.
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
#include "attention/decode_finish.cuh"
#include "attention/decode_loader.cuh"

constexpr int warps = ROW_WARPS * KEY_WARPS;
constexpr int threads = 32 * warps;
constexpr int ring_bytes = KEY_WARPS * STAGES * slot_bytes;
constexpr int exchange_states = KEY_WARPS > 1 ? KEY_WARPS / 2 : CLUSTER > 1;
constexpr int exchange_bytes = exchange_states * ROW_WARPS * state_vectors * 16;
constexpr int barrier_bytes = 16 + KEY_WARPS * STAGES * 16;
static_assert(ring_bytes + 2 * query_bytes + exchange_bytes + barrier_bytes + 16 == SMEM,
	"decode.json's smem_bytes");

// The two buffers of queries, of segments in turn.
struct query_tiles {
	u32 buffers, barriers;

	__device__ __forceinline__ void init() const
	{
		mbarrier_init(barriers, 1);
		mbarrier_init(barriers + 8, 1);
	}
	__device__ __forceinline__ void start(
		const tensor_map &map, int unit, int buffer, int row_blocks) const
	{
		u32 barrier = barriers + (u32)buffer * 8;
		mbarrier_arrive_expect(barrier, query_bytes);
#pragma unroll
		for (int column = 0; column < head_dim; column += 64)
			tma_load(buffers + (u32)(buffer * query_bytes +
						   column / 64 * block_rows * row_pitch),
				map, barrier, column, unit % row_blocks * block_rows,
				unit / row_blocks);
	}
	__device__ __forceinline__ void wait(int buffer, u32 parity) const
	{
		mbarrier_wait(barriers + (u32)buffer * 8, parity);
	}
};

// A key warp's steps of a segment.
struct key_reader {
	u32 full, empty;
	u32 key_lane, value_lane; // where this lane's ldmatrix reads in slot 0
	int lane, row_warp;
	bool loads; // this lane refills the slots
	int seq_q, seq_k;
	float scale;
	int slot = 0;
	u32 phase = 0;
	int limit[ROW_TILES][2] = {}; // a row sees the keys before it

	// Its rows are those of a unit that begins with row `first_row`.
	__device__ __forceinline__ void rows_begin(int first_row)
	{
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
	}
	// `steps` steps from the one that begins with the warp's key number `key`. `query` is where
	// this lane's ldmatrix reads queries.
	__device__ __forceinline__ void segment(
		row_state &state, key_loader &loader, u32 query, int key, int steps)
	{
		const int plain_limit = // all rows see the keys before it
			causal ? seq_k - seq_q + 1 : seq_k;
		row_fragments held[Q_REGS ? dim_steps : 1];
		if constexpr (Q_REGS != 0)
#pragma unroll
			for (int i = 0; i < dim_steps; i++)
				query_load(held[i], query, i);

#pragma unroll 1
		for (int i = 0; i < steps; i++, key += block_keys) {
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
				loader.next();
			if (++slot == STAGES) {
				slot = 0;
				phase ^= 1;
			}
		}
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
	float4 *exchange = (float4 *)(shared + ring_bytes + 2 * query_bytes);
	const u32 barriers = base + ring_bytes + 2 * query_bytes + exchange_bytes;
	const query_tiles queries = {base + ring_bytes, barriers};
	const u32 full = barriers + 16 + (u32)(key_warp * STAGES) * 8,
		  empty = full + KEY_WARPS * STAGES * 8;
	const meeting parts_meet = {
		parts, arrived, (bool *)(shared + (barriers - base) + barrier_bytes)};

	// With CLUSTER, `cluster_parts` clusters share a unit.
	const u32 rank = CLUSTER > 1 ? cluster_rank() : 0;
	int first_step = (int)blockIdx.x * share, last_step = min(first_step + share, steps);
	if constexpr (CLUSTER > 1) {
		const int cluster = (int)blockIdx.x / CLUSTER;
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
		if (loads_queries)
			queries.init();
		mbarrier_init_fence();
	}

	int step = first_step, unit = first_step / unit_steps;
	const u32 slots = base + (u32)(key_warp * STAGES * slot_bytes);
	const key_order order = {unit_steps, row_blocks, kv_heads, sequence_pages, block_table};
	key_loader loader = {map_k, map_v, order, slots, full, empty, last_step - first_step, unit,
		first_step - unit * unit_steps, key_warp * KEYS,
		row_blocks == 1 ? l2_policy_evict_first() : 0};
	if (loads_queries)
		queries.start(map_q, unit, 0, row_blocks);
	if (loads)
		loader.start();
	__syncthreads();

	const u32 query_lane = queries.buffers + (u32)(row_warp * ROW_TILES * 16 * row_pitch) +
			       layout::offset(lane % 16, lane / 16);
	key_reader reader = {full, empty,
		slots + layout::offset(lane % 8 + lane / 16 * 8, lane / 8 % 2),
		slots + key_bytes + layout::offset(lane % 16, lane / 16), lane, row_warp, loads,
		seq_q, seq_k, score_scale()};
#pragma unroll 1
	for (int segment = 0; step < last_step; segment++, unit++) {
		const int tile = step - unit * unit_steps;
		const int segment_steps = min(unit_steps - tile, last_step - step);
		const int buffer = segment & 1;
		// The other buffer was last read before the barriers at the end of a unit.
		if (loads_queries && step + segment_steps < last_step)
			queries.start(map_q, unit + 1, buffer ^ 1, row_blocks);

		const int first_row = unit % row_blocks * block_rows;
		reader.rows_begin(first_row);
		row_state state;
		state.clear();
		queries.wait(buffer, (u32)(segment >> 1) & 1);
		reader.segment(state, loader, query_lane + (u32)(buffer * query_bytes),
			tile * block_keys + key_warp * KEYS, segment_steps);
		step += segment_steps;

		states_merge(state, exchange, key_warp, row_warp, lane);
		const unit_rows of = {lane, key_warp, row_warp,
			O + (i64)(unit / row_blocks) * rows * HEAD_DIM_V,
			first_row + row_warp * ROW_TILES * 16, rows};
		if constexpr (CLUSTER > 1) {
			finish_cluster(state, of, parts_meet, unit, exchange, rank, cluster_parts);
			break; // such a block has one segment
		}
		if (segment_steps == unit_steps)
			finish_alone(state, of);
		else
			finish_parts(state, of, parts_meet, unit, unit_steps, share);
	}
}
