// Attention in one pass over the keys on Hopper: TMA, wgmma, scores and output in registers
// (FlashAttention-3: Shah et al., 2024, arXiv 2407.08608; online softmax: Milakov and Gimelshein,
// 2018, arXiv 1805.02867).
//
// A block takes BM query rows of one head at a time: a loading thread feeds rings of Q, K and V, and
// GROUPS warp groups have 64 rows each. Tiles of BN keys run from the last to the first, so that
// those which need masks come first. Per tile a group multiplies S = Q K^T, makes weights P of it and
// adds P V of the tile before to its output:
//   OVERLAP 1    both products are under way at once, and P V goes on beside the softmax of S
//   OVERLAP 0    both are waited for before the softmax; another group has to fill the gap
//   BARRIER      groups take turns: 1 with issuing products, 2 with the softmax
// A cluster takes CLUSTER neighbouring tiles of rows of a head, whose K and V it shares by multicast.
// Parameters: flash_wgmma.json.
#include "attention/flash_wgmma_rows.cuh"
#include "common/named_barrier.cuh"
#include "common/setmaxnreg.cuh"

constexpr int threads = 128 * (GROUPS + 1);

struct work {
	i32 head, kv_head; // over all sequences
	i32 row;           // the block's first query row
	i32 steps;         // tiles of keys that a row of the cluster sees
};

// Units of CLUSTER tiles of rows come in groups of `head_group` heads, inside a group from the last
// rows to the first (under a causal mask the longest), so that few heads' keys are in use at a time
// and the last units of all are short. Persistent blocks go through the list in rounds; under a
// causal mask every other round runs backwards, so that all get as much work.
struct schedule {
	i32 seq_q, seq_k, heads, kv_heads, head_count, row_units, head_group;
	i32 worker, workers, block; // the cluster, how many there are, the block in its cluster
	i32 round;

	__device__ __forceinline__ bool next(work &item)
	{
		i32 place = causal && (round & 1) ? workers - 1 - worker : worker;
		i32 unit = round * workers + place;
		++round;
		if (unit >= head_count * row_units)
			return false;
		i32 group = unit / (row_units * head_group);
		i32 in_group = unit - group * row_units * head_group;
		i32 group_heads = min(head_count - group * head_group, head_group);
		i32 first_row = (row_units - 1 - in_group / group_heads) * (CLUSTER * BM);
		item.head = group * head_group + in_group % group_heads;
		item.kv_head = item.head / heads * kv_heads +
			       item.head % heads / (heads / kv_heads);
		item.row = first_row + block * BM;
		i32 limit = seq_k;
		if (causal)
			limit = min(seq_k, min(seq_q, first_row + CLUSTER * BM) + seq_k - seq_q);
		item.steps = limit > 0 ? ceil_div(limit, BN) : 0;
		return true;
	}
};

// What the loading thread does.
struct loader {
	const tensor_map &map_q, &map_k, &map_v;
	query_ring q_ring;
	key_ring k_ring, v_ring;
	u32 block;
	query_ring::position q;
	key_ring::position k, v;

	__device__ __forceinline__ void load_keys(const work &item, i32 tile)
	{
		k_ring.claim(k);
		rows_load<BN, CLUSTER>(k_ring.at(k), map_k, k_ring.full(k), tile * BN,
			item.kv_head, block);
		k.next();
	}
	__device__ __forceinline__ void load_values(const work &item, i32 tile)
	{
		v_ring.claim(v);
		rows_load<BN, CLUSTER>(v_ring.at(v), map_v, v_ring.full(v), tile * BN,
			item.kv_head, block);
		v.next();
	}
	// In the order of need: V comes a tile behind K.
	__device__ __forceinline__ void run(const work &item)
	{
		if (item.steps == 0)
			return;
		q_ring.claim(q);
		rows_load<BM, 1>(q_ring.at(q), map_q, q_ring.full(q), item.row, item.head, 0);
		q.next();
		load_keys(item, item.steps - 1);
		for (i32 tile = item.steps - 2; tile >= 0; --tile) {
			load_keys(item, tile);
			load_values(item, tile + 1);
		}
		load_values(item, 0);
	}
};

// The groups' turns go round, from the first to the last. Each group takes as many as the others.
template <bool USED> struct turns {
	u32 group;
	__device__ __forceinline__ void init() const
	{
		if (USED && group == GROUPS - 1)
			pass();
	}
	__device__ __forceinline__ void wait() const
	{
		if constexpr (USED)
			named_barrier_wait(1 + group, 256);
	}
	__device__ __forceinline__ void pass() const
	{
		if constexpr (USED)
			named_barrier_arrive(group == GROUPS - 1 ? 1 : 2 + group, 256);
	}
};

// What a multiplying warp group does.
struct multiplier {
	query_ring q_ring;
	key_ring k_ring, v_ring;
	u32 group, thread;
	turns<BARRIER == 1> product_turn;
	turns<BARRIER == 2> softmax_turn;
	query_ring::position q;
	key_ring::position k, v;
	row_state rows;
#if P_SMEM
	u32 p; // shared address
#else
	weight_fragment p;
#endif
	float scale;

	__device__ __forceinline__ void issue_scores(score_fragment &s) const
	{
		u64 a = rows_operand<BM>(q_ring.at(q), group * 64);
		u64 b = rows_operand<BN>(k_ring.at(k), 0);
#pragma unroll
		for (int i = 0; i < PADDED_DIM / 16; ++i)
			multiply_keys(s, wgmma_advance(a, rows_advance<BM>(i)),
				wgmma_advance(b, rows_advance<BN>(i)), i > 0);
		wgmma_commit();
	}
	__device__ __forceinline__ void issue_output()
	{
		u64 b = values_operand(v_ring.at(v));
#pragma unroll
		for (int i = 0; i < value_steps; ++i)
#if P_SMEM
			multiply_values(rows.output,
				wgmma_advance(rows_operand<64, weight_span>(p, 0),
					rows_advance<64, weight_span>(i)),
				wgmma_advance(b, values_advance(i)), 1);
#else
			multiply_values(
				rows.output, p[i], wgmma_advance(b, values_advance(i)), 1);
#endif
		wgmma_commit();
	}
	__device__ __forceinline__ void keep_weights(const score_fragment &s)
	{
#if P_SMEM
		weights_store(p, thread, s);
#else
		weights_round(p, s);
#endif
	}
	__device__ __forceinline__ void release_keys()
	{
		k_ring.release(k, thread);
		k.next();
	}
	__device__ __forceinline__ void release_values()
	{
		v_ring.release(v, thread);
		v.next();
	}

	// Scores become weights; `limit`: see scores_mask().
	template <bool MASKED>
	__device__ __forceinline__ void soften(
		score_fragment &s, const i32 (&limit)[2], float (&factor)[2])
	{
		float offset[2];
		softmax_turn.wait();
		if constexpr (MASKED)
			scores_mask(s, limit);
		scores_raise<MASKED>(s, rows, scale, offset, factor);
		scores_weigh<MASKED>(s, rows, scale, offset, factor);
		softmax_turn.pass();
	}

	// The first tile has no output before it.
	__device__ __forceinline__ void first(const i32 (&limit)[2])
	{
		score_fragment s;
		float factor[2];
		k_ring.wait(k);
		product_turn.wait();
		wgmma_fence();
		issue_scores(s);
		product_turn.pass();
		wgmma_wait<0>();
		wgmma_hold(s);
		release_keys();
		soften<true>(s, limit, factor);
		keep_weights(s);
	}

	template <bool MASKED> __device__ __forceinline__ void step(const i32 (&limit)[2])
	{
		score_fragment s;
		float factor[2];
		k_ring.wait(k);
		if constexpr (OVERLAP) {
			product_turn.wait();
			wgmma_fence();
			issue_scores(s);
			v_ring.wait(v);
			issue_output();
			product_turn.pass();
			wgmma_wait<1>();
			wgmma_hold(s);
			release_keys();
			soften<MASKED>(s, limit, factor);
			wgmma_wait<0>();
			wgmma_hold(rows.output);
			wgmma_hold(s); // P is in use until here
			release_values();
		} else {
			v_ring.wait(v);
			product_turn.wait();
			wgmma_fence();
			issue_output();
			issue_scores(s);
			product_turn.pass();
			wgmma_wait<1>();
			release_values();
			wgmma_wait<0>();
			wgmma_hold(rows.output);
			wgmma_hold(s);
			release_keys();
			soften<MASKED>(s, limit, factor);
		}
		output_rescale(rows, factor);
		keep_weights(s);
	}

	// A tile of rows. Row `row` of this thread sees the keys before seen[half].
	__device__ __forceinline__ void run(const work &item, i32 seq_q, i32 seq_k)
	{
		rows.clear();
		if (item.steps == 0)
			return;
		i32 group_row = item.row + (i32)group * 64, diagonal = seq_k - seq_q;
		i32 row = group_row + (i32)(thread / 32 * 16 + thread % 32 / 4);
		i32 tile = item.steps - 1;
		i32 column = (i32)(thread % 4) * 2, limit[2];
#pragma unroll
		for (int half = 0; half < 2; ++half) {
			i32 seen = causal ? min(seq_k, row + half * 8 + diagonal + 1) : seq_k;
			limit[half] = seen - column - tile * BN;
		}
		q_ring.wait(q);
		first(limit);
		--tile;
		if constexpr (causal) {
			i32 plain_tiles = max(0, min(seq_k, group_row + diagonal + 1)) / BN;
			for (; tile >= plain_tiles; --tile) {
				limit[0] += BN;
				limit[1] += BN;
				step<true>(limit);
			}
		}
		for (; tile >= 0; --tile)
			step<false>(limit);
		q_ring.release(q, thread);
		q.next();
		v_ring.wait(v);
		wgmma_fence();
		issue_output();
		wgmma_wait<0>();
		wgmma_hold(rows.output);
		release_values();
	}
};

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS) flash_wgmma(
	const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k,
	const __grid_constant__ tensor_map map_v, element_memory *O, i32 seq_q, i32 seq_k, i32 heads,
	i32 kv_heads, i32 head_count, i32 row_units, i32 head_group)
{
	extern __shared__ __align__(1024) u8 shared[];
	u32 base = shared_address(shared);
	u32 weights = base + query_ring::bytes + 2 * key_ring::bytes;
	u32 barriers = weights + GROUPS * weight_bytes;
	query_ring q_ring = {base, barriers};
	key_ring k_ring = {base + query_ring::bytes, barriers + query_ring::barrier_bytes};
	key_ring v_ring = {k_ring.buffers + key_ring::bytes,
		k_ring.barriers + key_ring::barrier_bytes};
	u32 block = CLUSTER > 1 ? cluster_rank() : 0;
	// The shuffle tells the compiler that the value is the same in all lanes.
	u32 group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);

	if (threadIdx.x == 0) {
		q_ring.init();
		k_ring.init();
		v_ring.init();
		mbarrier_init_fence();
		tensor_map_prefetch(map_q);
		tensor_map_prefetch(map_k);
		tensor_map_prefetch(map_v);
	}
	__syncwarp();
	if constexpr (CLUSTER > 1)
		cluster_sync();
	else
		__syncthreads();

	schedule list = {seq_q, seq_k, heads, kv_heads, head_count, row_units,
		min(head_group, head_count), (i32)(blockIdx.x / CLUSTER), (i32)(gridDim.x / CLUSTER),
		(i32)block, 0};
	work item;
	if (group == 0) {
		if constexpr (CONSUMER_REGISTERS != 0)
			registers_lower<PRODUCER_REGISTERS>();
		if (threadIdx.x == 0) {
			loader load = {map_q, map_k, map_v, q_ring, k_ring, v_ring, block};
			while (list.next(item))
				load.run(item);
		}
		__syncwarp();
	} else {
		if constexpr (CONSUMER_REGISTERS != 0)
			registers_raise<CONSUMER_REGISTERS>();
		multiplier multiply;
		multiply.q_ring = q_ring;
		multiply.k_ring = k_ring;
		multiply.v_ring = v_ring;
		multiply.group = group - 1;
		multiply.thread = threadIdx.x % 128;
		multiply.product_turn = {group - 1};
		multiply.softmax_turn = {group - 1};
		multiply.product_turn.init();
		multiply.softmax_turn.init();
		multiply.scale = score_scale();
#if P_SMEM
		multiply.p = weights + (group - 1) * weight_bytes;
#endif
		while (list.next(item)) {
			multiply.run(item, seq_q, seq_k);
			i32 row = item.row + (i32)((group - 1) * 64 + threadIdx.x % 128 / 32 * 16 +
							   threadIdx.x % 32 / 4);
			output_store(multiply.rows,
				O + ((i64)item.head * seq_q + row) * head_dim, row, seq_q);
		}
	}
	__syncwarp();
	// A block's barriers and buffers must outlive the arrivals and slices of its neighbours.
	if constexpr (CLUSTER > 1)
		cluster_sync();
}
