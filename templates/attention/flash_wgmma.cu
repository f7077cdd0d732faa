// Attention in one pass over the keys on Hopper: TMA, wgmma, scores and output in registers
// (FlashAttention-3: Shah et al., 2024, arXiv 2407.08608; online softmax: Milakov and Gimelshein,
// 2018, arXiv 1805.02867).
//
// A block takes BM query rows of one head at a time: a loading thread feeds rings of Q, K and V,
// and GROUPS warp groups have 64 rows each. Tiles of BN keys run from the last to the first, so
// that those which need masks come first. Per tile a group multiplies S = Q K^T, makes weights P of
// it and adds P V of the tile before to its output:
//   OVERLAP 1    both products are under way at once, and P V goes on beside the softmax of S
//           2    as 1, and the output is rescaled beside S of the next tile
//           3    as 1, and the output is rescaled only where a maximum of the warp's rows moved
//   OVERLAP 0    both are waited for before the softmax; another group has to fill the gap
//   BARRIER      groups take turns: 1 with issuing products, 2 with the softmax
// A cluster takes CLUSTER neighbouring tiles of rows of a head, whose K and V it shares by
// multicast. Parameters: flash_wgmma.json.
#include "attention/flash_wgmma_rows.cuh"
#if DTYPE_fp8_e4m3
#include "attention/flash_wgmma_fp8.cuh"
#endif
#include "common/named_barrier.cuh"
#include "hopper/roles.cuh"

constexpr int threads = 128 * (GROUPS + 1);
static_assert(PACK || PACKED_HEADS == 1, "rows of one head");
static_assert(query_ring::bytes + key_ring::bytes + value_ring::bytes + GROUPS * weight_bytes +
			      loaded_bytes + unit_ring::bytes + query_ring::barrier_bytes +
			      key_ring::barrier_bytes + value_ring::barrier_bytes +
			      loaded_barrier_bytes + unit_ring::barrier_bytes ==
		      SMEM,
	"flash_wgmma.json's smem_bytes");

// What the loading thread does.
struct loader {
	const tensor_map &map_q, &map_k, &map_v;
	unit_ring units;
	query_ring q_ring;
	key_ring k_ring;
	loaded_ring v_ring;
	u32 block;
	query_ring::position q;
	key_ring::position k;
	loaded_ring::position v;

	__device__ __forceinline__ void load_keys(const work &item, i32 tile)
	{
		k_ring.claim_for_copies(k);
		rows_load<BN, PADDED_DIM, CLUSTER>(
			k_ring.at(k), map_k, k_ring.full(k), tile * BN, item.kv_head, block);
		k.next();
	}
	__device__ __forceinline__ void load_values(const work &item, i32 tile)
	{
		v_ring.claim_for_copies(v);
		rows_load<BN, PADDED_DIM_V, CLUSTER>(
			v_ring.at(v), map_v, v_ring.full(v), tile * BN, item.kv_head, block);
		v.next();
	}
	// In the order of need: V comes a tile behind K.
	__device__ __forceinline__ void load(const work &item)
	{
		if (item.steps == 0)
			return;
		q_ring.claim_for_copies(q);
		queries_load(q_ring.at(q), map_q, q_ring.full(q), item.row, item.head);
		q.next();
		load_keys(item, item.steps - 1);
		for (i32 tile = item.steps - 2; tile >= 0; --tile) {
			load_keys(item, tile);
			load_values(item, tile + 1);
		}
		load_values(item, 0);
	}

	__device__ __forceinline__ void run(const schedule &list, u32 *counter)
	{
		i32 workers = (i32)gridDim.x / CLUSTER, unit = (i32)blockIdx.x / CLUSTER;
		unit_ring::position at;
		for (; unit < list.units(); unit = unit_next(counter, unit, workers)) {
			unit_pass(units, at, unit);
			load(list.place(unit));
		}
		unit_pass(units, at, unit);
		unit_finish(counter, workers);
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
	unit_ring units;
	query_ring q_ring;
	key_ring k_ring;
	value_ring v_ring;
	u32 weights; // P in shared memory
	u32 group, thread;
	turns<BARRIER == 1> product_turn;
	turns<BARRIER == 2> softmax_turn;
	float scale, value_scale;
	unit_ring::position at;
	query_ring::position q;
	key_ring::position k;
	value_ring::position v;
	row_state rows;
	score_fragment s;
	weight_fragment p;
	i32 limit[2];    // see scores_mask()
	float factor[2]; // see scores_raise()

	__device__ __forceinline__ i32 thread_row(const work &item) const
	{
		return item.row + (i32)(group * 64 + thread / 32 * 16 + thread % 32 / 4);
	}
	__device__ __forceinline__ void store(
		const schedule &list, const work &item, output_memory *out) const
	{
		output_store(rows, out, list, item, thread_row(item), value_scale);
	}
	// The next tile with work; false at the end. Rows that see no key get zeros.
	__device__ __forceinline__ bool next(const schedule &list, work &item, output_memory *out)
	{
		for (;;) {
			i32 unit = unit_take(units, at);
			if (unit >= list.units())
				return false;
			item = list.place(unit);
			if (!causal || item.steps > 0)
				return true;
			output_zero(out, list, item, group * 128 + thread);
		}
	}

	// Where Q has two buffers the compiler does not see that all lanes have the same address,
	// and would move each operand to uniform registers: the reduction tells it.
	static __device__ __forceinline__ u32 uniform(u32 address)
	{
		return Q_BUFFERS > 1 ? __reduce_max_sync(0xffffffffu, address) : address;
	}
	__device__ __forceinline__ void issue_scores()
	{
		u64 a = rows_operand<BM>(uniform(q_ring.at(q)), group * 64);
		u64 b = rows_operand<BN>(uniform(k_ring.at(k)), 0);
#pragma unroll
		for (int i = 0; i < row_bytes / 32; ++i)
			multiply_keys(s, wgmma_advance(a, rows_advance<BM>(i)),
				wgmma_advance(b, rows_advance<BN>(i)), i > 0);
		wgmma_commit();
	}
	__device__ __forceinline__ void issue_output()
	{
		u64 b = values_operand(uniform(v_ring.at(v)));
#if P_SMEM
		u64 a = rows_operand<64, weight_span>(weights, 0);
#endif
#pragma unroll
		for (int i = 0; i < value_steps; ++i)
#if P_SMEM
			multiply_values(rows.output,
				wgmma_advance(a, rows_advance<64, weight_span>(i)),
				wgmma_advance(b, values_advance(i)), 1);
#else
			multiply_values(rows.output, p[i], wgmma_advance(b, values_advance(i)), 1);
#endif
		wgmma_commit();
	}
	__device__ __forceinline__ void keep_weights()
	{
#if P_SMEM
		weights_store(weights, thread, s);
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

	// Scores become weights.
	template <bool MASKED> __device__ __forceinline__ void soften(float (&factor)[2])
	{
		float offset[2];
		softmax_turn.wait();
		if constexpr (MASKED)
			scores_mask(s, limit);
		scores_raise<MASKED>(s, rows, scale, offset, factor);
		scores_weigh<MASKED>(s, rows, scale, offset, factor);
		softmax_turn.pass();
	}

	// Tiles of keys of which this group's rows see nothing, but other groups' do, are released
	// at once, with the turns that go with them: at most so many, and one tile stays in any
	// case.
	__device__ __forceinline__ void skip(
		const schedule &list, work &item, value_ring::position &value, i32 most)
	{
		if constexpr (!causal)
			return;
		i32 limit = list.key_limit(item.row + (i32)group * 64 + 63);
		i32 steps = max(1, ceil_div(min(list.seq_k, limit), BN));
		for (; item.steps > steps && most > 0; --most) {
			k_ring.wait(k);
			product_turn.wait();
			product_turn.pass();
			v_ring.wait(value);
			softmax_turn.wait();
			softmax_turn.pass();
			// No product keeps the group's warps together here: one that came late
			// would find the buffers' parities turned twice.
			named_barrier_wait(1 + GROUPS + group, 128);
			release_keys();
			v_ring.release(value, thread);
			value.next();
			--item.steps;
		}
	}

	// The first scores of a tile of rows are on their way when this returns.
	__device__ __forceinline__ void begin()
	{
		q_ring.wait(q);
		k_ring.wait(k);
		product_turn.wait();
		wgmma_fence();
		issue_scores();
		product_turn.pass();
	}

	template <bool MASKED> __device__ __forceinline__ void step()
	{
		k_ring.wait(k);
		if constexpr (OVERLAP) {
			product_turn.wait();
			wgmma_fence();
			issue_scores();
			if constexpr (OVERLAP == 2)
				output_rescale(rows, factor);
			v_ring.wait(v);
			wgmma_fence();
			issue_output();
			product_turn.pass();
			wgmma_wait<1>();
			wgmma_hold(s);
			release_keys();
			soften<MASKED>(factor);
			wgmma_wait<0>();
			wgmma_hold(rows.output);
			wgmma_hold(s); // P is in use until here
			release_values();
		} else {
			v_ring.wait(v);
			product_turn.wait();
			wgmma_fence();
			issue_output();
			issue_scores();
			product_turn.pass();
			wgmma_wait<1>();
			release_values();
			wgmma_wait<0>();
			wgmma_hold(rows.output);
			wgmma_hold(s);
			release_keys();
			soften<MASKED>(factor);
		}
		if constexpr (OVERLAP == 3) {
			if (__any_sync(0xffffffffu, factor[0] != 1.0f || factor[1] != 1.0f))
				output_rescale(rows, factor);
		} else if constexpr (OVERLAP != 2)
			output_rescale(rows, factor);
		keep_weights();
	}

	// A tile of rows but for its last P V. begin() has come before.
	__device__ __forceinline__ void run(const schedule &list, const work &item)
	{
		i32 tile = item.steps - 1;
		i32 first_column = (i32)(thread % 4) * 2 + tile * BN;
#pragma unroll
		for (int half = 0; half < 2; ++half) {
			i32 seen = list.seq_k;
			if (causal)
				seen = min(seen, list.key_limit(thread_row(item) + half * 8));
			limit[half] = seen - first_column;
		}
		rows.clear();
		wgmma_wait<0>();
		wgmma_hold(s);
		release_keys();
		soften<true>(factor);
		keep_weights();
		--tile;
		if constexpr (causal) {
			i32 group_limit = list.key_limit(item.row + (i32)group * 64);
			i32 plain_tiles = max(0, min(list.seq_k, group_limit)) / BN;
			for (; tile >= plain_tiles; --tile) {
				limit[0] += BN;
				limit[1] += BN;
				step<true>();
			}
		}
		for (; tile >= 0; --tile)
			step<false>();
		q_ring.release(q, thread);
		q.next();
	}

	__device__ __forceinline__ void begin_end()
	{
		v_ring.wait(v);
		if constexpr (OVERLAP == 2)
			output_rescale(rows, factor);
		wgmma_fence();
		issue_output();
	}
	template <int PENDING>
	__device__ __forceinline__ void end(
		const schedule &list, const work &item, output_memory *out)
	{
		wgmma_wait<PENDING>();
		wgmma_hold(rows.output);
		release_values();
		store(list, item, out);
	}

	// With two buffers of Q, the next tile's first scores are computed beside the last P V and
	// the stores of this one.
	__device__ __forceinline__ void run_all(const schedule &list, output_memory *out)
	{
		work item;
#if Q_BUFFERS == 1
		while (next(list, item, out)) {
			skip(list, item, v, item.steps);
			begin();
			run(list, item);
			begin_end();
			end<0>(list, item, out);
		}
#else
		if (!next(list, item, out))
			return;
		skip(list, item, v, item.steps);
		begin();
		for (;;) {
			work done = item;
			run(list, item);
			if (!next(list, item, out)) {
				item = done;
				break;
			}
			// This tile's last V keeps its buffer until end().
			value_ring::position next_value = v;
			next_value.next();
			skip(list, item, next_value, STAGES - 1);
			begin_end();
			begin();
			end<1>(list, done, out);
			v = next_value;
		}
		begin_end();
		end<0>(list, item, out);
#endif
	}
};

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS) flash_wgmma(
	const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k,
	const __grid_constant__ tensor_map map_v, output_memory *O, u32 *counter,
	const float *Q_scale, const float *K_scale, const float *V_scale, i32 seq_q, i32 seq_k,
	i32 heads, i32 kv_heads, i32 head_count, i32 row_units, i32 head_group)
{
	extern __shared__ __align__(1024) u8 shared[];
	query_ring q_ring = {shared_address(shared)};
	// What has the wider swizzle comes first: both then begin at whole periods of theirs.
	constexpr bool keys_first = span >= value_span;
	u32 after_queries = q_ring.buffers + query_ring::bytes;
	key_ring k_ring = {after_queries + (keys_first ? 0 : value_ring::bytes)};
	value_ring v_ring = {after_queries + (keys_first ? key_ring::bytes : 0)};
	u32 weights = after_queries + key_ring::bytes + value_ring::bytes;
	unit_ring units = {weights + GROUPS * weight_bytes + loaded_bytes};
	units.barriers = units.buffers + unit_ring::bytes;
	q_ring.barriers = units.barriers + unit_ring::barrier_bytes;
	k_ring.barriers = q_ring.barriers + query_ring::barrier_bytes;
	v_ring.barriers = k_ring.barriers + key_ring::barrier_bytes;
#if DTYPE_fp8_e4m3
	loaded_ring loaded = {
		weights + GROUPS * weight_bytes, v_ring.barriers + value_ring::barrier_bytes};
	const float scale = score_scale() * *Q_scale * *K_scale, value_scale = *V_scale;
#else
	const loaded_ring &loaded = v_ring;
	const float scale = score_scale(), value_scale = 1.0f;
#endif
	u32 block = CLUSTER > 1 ? cluster_rank() : 0;
	u32 group = same_in_lanes(threadIdx.x / 128);

	if (threadIdx.x == 0) {
		units.init();
		q_ring.init();
		k_ring.init();
		v_ring.init();
		if constexpr (transposers > 0)
			loaded.init();
		mbarrier_init_fence();
		tensor_map_prefetch(map_q);
		tensor_map_prefetch(map_k);
		tensor_map_prefetch(map_v);
	}
	blocks_meet<CLUSTER>();

	schedule list = {seq_q, seq_k, heads, kv_heads, head_count, row_units,
		min(head_group, head_count), block};
	if (group == 0) {
		registers_for_loading<CONSUMER_REGISTERS != 0 ? PRODUCER_REGISTERS : 0>();
		if (threadIdx.x == 0) {
			loader load = {map_q, map_k, map_v, units, q_ring, k_ring, loaded, block};
			load.run(list, counter);
		}
#if DTYPE_fp8_e4m3
		if (threadIdx.x >= 32) {
			transposer transpose = {units, loaded, v_ring, threadIdx.x / 32 - 1};
			transpose.run(list);
		}
#endif
		__syncwarp();
	} else {
		registers_for_multiplying<CONSUMER_REGISTERS>();
		group -= 1;
		multiplier multiply = {units, q_ring, k_ring, v_ring,
			weights + group * weight_bytes, group, threadIdx.x % 128, {group}, {group},
			scale, value_scale};
		multiply.product_turn.init();
		multiply.softmax_turn.init();
		multiply.run_all(list, O);
	}
	blocks_part<CLUSTER>();
}
