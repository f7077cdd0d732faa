// What a multiplying warp group of flash_wgmma does with its 64 rows of each tile of rows. S and P V
// are asynchronous: issued, later waited for. A tile of rows with n tiles of keys is
//
//	scores_begin()     S of the last tile of keys is issued
//	keys_walk()        softmax of it; n - 1 times step(): S of the next tile and P V of the one
//	                   before, softmax
//	output_begin()     P V of the first tile of keys, the last one to be multiplied, is issued
//	output_finish()    it is waited for; the rows are stored
//
// With two buffers of Q scores_begin() of the next tile of rows stands between the last two: its S
// is computed beside the last P V and the stores. See run().
#include "attention/flash_wgmma_rows.cuh"
#include "attention/flash_wgmma_turns.cuh"
#if DTYPE_fp8_e4m3
#include "attention/flash_wgmma_fp8.cuh"
#endif
#pragma once
struct multiplier {
	rings ring;
	u32 weights;       // P of the group, where it goes through shared memory
	u32 group, thread; // `thread` of the group
	float scale, value_scale;
	// The next buffer of each ring.
	struct {
		unit_ring::position unit;
		query_ring::position q;
		key_ring::position k;
		value_ring::position v;
	} at;
	// The tile of rows: output and its factors, scores or weights, rounded weights.
	row_state rows;
	score_fragment s;
	weight_fragment p;

	__device__ __forceinline__ i32 thread_row(const work &item) const
	{
		return item.row + (i32)(group * 64 + thread / 32 * 16 + thread % 32 / 4);
	}
	// The next tile with work; false at the end. Rows that see no key get zeros.
	__device__ __forceinline__ bool next(const schedule &list, work &item, output_memory *out)
	{
		for (;;) {
			i32 unit = unit_take(ring.units, at.unit);
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
		u64 a = rows_operand<BM>(uniform(ring.q.at(at.q)), group * 64);
		u64 b = rows_operand<BN>(uniform(ring.k.at(at.k)), 0);
#pragma unroll
		for (int i = 0; i < row_bytes / 32; ++i)
			multiply_keys(s, wgmma_advance(a, rows_advance<BM>(i)),
				wgmma_advance(b, rows_advance<BN>(i)), i > 0);
		wgmma_commit();
	}
	__device__ __forceinline__ void issue_output()
	{
		u64 b = values_operand(uniform(ring.v.at(at.v)));
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
		ring.k.release(at.k, thread);
		at.k.next();
	}
	__device__ __forceinline__ void release_values(value_ring::position &v)
	{
		ring.v.release(v, thread);
		v.next();
	}

	// Scores become weights. `limit`: see scores_mask().
	template <bool MASKED> __device__ __forceinline__ void soften(const i32 (&limit)[2])
	{
		float offset[2];
		softmax_turns::wait(group);
		if constexpr (MASKED)
			scores_mask(s, limit);
		scores_raise<MASKED>(s, rows, scale, offset);
		scores_weigh<MASKED>(s, rows, scale, offset);
		softmax_turns::pass(group);
	}

	// Tiles of keys of which this group's rows see nothing, but other groups' do, are released
	// at once, with the turns that go with them: at most so many, and one tile stays in any
	// case. `v` is the buffer of the tile's V.
	__device__ __forceinline__ void skip(
		const schedule &list, work &item, value_ring::position &v, i32 most)
	{
		if constexpr (!causal)
			return;
		i32 limit = list.key_limit(item.row + (i32)group * 64 + 63);
		i32 steps = max(1, ceil_div(min(list.seq_k, limit), BN));
		for (; item.steps > steps && most > 0; --most) {
			ring.k.wait(at.k);
			product_turns::wait(group);
			product_turns::pass(group);
			ring.v.wait(v);
			softmax_turns::wait(group);
			softmax_turns::pass(group);
			// No product keeps the group's warps together here: one that came late
			// would find the buffers' parities turned twice.
			group_meets(group);
			release_keys();
			release_values(v);
			--item.steps;
		}
	}

	__device__ __forceinline__ void scores_begin()
	{
		ring.q.wait(at.q);
		ring.k.wait(at.k);
		product_turns::wait(group);
		wgmma_fence();
		issue_scores();
		product_turns::pass(group);
	}

	template <bool MASKED> __device__ __forceinline__ void step(const i32 (&limit)[2])
	{
		ring.k.wait(at.k);
		if constexpr (OVERLAP) {
			product_turns::wait(group);
			wgmma_fence();
			issue_scores();
			if constexpr (OVERLAP == 2)
				output_rescale(rows);
			ring.v.wait(at.v);
			wgmma_fence();
			issue_output();
			product_turns::pass(group);
			wgmma_wait<1>();
			wgmma_hold(s);
			release_keys();
			soften<MASKED>(limit);
			wgmma_wait<0>();
			wgmma_hold(rows.output);
			wgmma_hold(s); // P is in use until here
			release_values(at.v);
		} else {
			ring.v.wait(at.v);
			product_turns::wait(group);
			wgmma_fence();
			issue_output();
			issue_scores();
			product_turns::pass(group);
			wgmma_wait<1>();
			release_values(at.v);
			wgmma_wait<0>();
			wgmma_hold(rows.output);
			wgmma_hold(s);
			release_keys();
			soften<MASKED>(limit);
		}
		if constexpr (OVERLAP == 3) {
			if (__any_sync(
				    0xffffffffu, rows.factor[0] != 1.0f || rows.factor[1] != 1.0f))
				output_rescale(rows);
		} else if constexpr (OVERLAP != 2)
			output_rescale(rows);
		keep_weights();
	}

	__device__ __forceinline__ void keys_walk(const schedule &list, const work &item)
	{
		i32 tile = item.steps - 1;
		i32 first_column = (i32)(thread % 4) * 2 + tile * BN;
		i32 limit[2];
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
		soften<true>(limit);
		keep_weights();
		--tile;
		if constexpr (causal) {
			i32 group_limit = list.key_limit(item.row + (i32)group * 64);
			i32 plain_tiles = max(0, min(list.seq_k, group_limit)) / BN;
			for (; tile >= plain_tiles; --tile) {
				limit[0] += BN;
				limit[1] += BN;
				step<true>(limit);
			}
		}
		for (; tile >= 0; --tile)
			step<false>(limit);
		ring.q.release(at.q, thread);
		at.q.next();
	}

	__device__ __forceinline__ void output_begin()
	{
		ring.v.wait(at.v);
		if constexpr (OVERLAP == 2)
			output_rescale(rows);
		wgmma_fence();
		issue_output();
	}
	// PENDING: groups of products that were issued after it.
	template <int PENDING>
	__device__ __forceinline__ void output_finish(
		const schedule &list, const work &item, output_memory *out)
	{
		wgmma_wait<PENDING>();
		wgmma_hold(rows.output);
		release_values(at.v);
		output_store(rows, out, list, item, thread_row(item), value_scale);
	}

	__device__ __forceinline__ void run(const schedule &list, output_memory *out)
	{
		product_turns::init(group);
		softmax_turns::init(group);
		work item;
#if Q_BUFFERS == 1
		while (next(list, item, out)) {
			skip(list, item, at.v, item.steps);
			scores_begin();
			keys_walk(list, item);
			output_begin();
			output_finish<0>(list, item, out);
		}
#else
		if (!next(list, item, out))
			return;
		skip(list, item, at.v, item.steps);
		scores_begin();
		for (;;) {
			work done = item;
			keys_walk(list, item);
			if (!next(list, item, out)) {
				item = done;
				break;
			}
			// This tile's last V keeps its buffer until output_finish().
			value_ring::position next_value = at.v;
			next_value.next();
			skip(list, item, next_value, STAGES - 1);
			output_begin();
			scores_begin();
			output_finish<1>(list, done, out);
			at.v = next_value;
		}
		output_begin();
		output_finish<0>(list, item, out);
#endif
	}
};
