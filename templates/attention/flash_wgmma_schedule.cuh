// Which tiles of rows a block works on. Units of CLUSTER tiles come in groups of `head_group` heads,
// inside a group from the last rows to the first (under a causal mask the longest), so that few
// heads' keys are in use at a time and the last units of all are short.
// A block begins with the unit of its own number. The next one is a grid further or, with a counter,
// the first that nobody has: blocks with short units take more. The loading thread takes the units
// and passes their numbers on.
//
// With PACKED_HEADS > 1 a tile's rows are the query heads of one head of K and V, side by side for each
// query: row r is head r % PACKED_HEADS of query r / PACKED_HEADS, and `head` counts heads of K and V.
#include "attention/flash_wgmma_rings.cuh"
#pragma once
struct work {
	i32 head, kv_head; // over all sequences
	i32 row;           // the block's first row
	i32 steps;         // tiles of keys that a row of the cluster sees
};

struct schedule {
	i32 seq_q, seq_k, heads, kv_heads, head_count, row_units, head_group;
	u32 block; // in its cluster

	__device__ __forceinline__ i32 units() const
	{
		return head_count * row_units;
	}

	__device__ __forceinline__ work place(i32 unit) const
	{
		i32 group = unit / (row_units * head_group);
		i32 in_group = unit - group * row_units * head_group;
		i32 group_heads = min(head_count - group * head_group, head_group);
		i32 first_row = (row_units - 1 - in_group / group_heads) * (CLUSTER * BM);
		work item;
		item.head = group * head_group + in_group % group_heads;
		item.kv_head = PACKED_HEADS > 1 ? item.head
						: item.head / heads * kv_heads +
							  item.head % heads / (heads / kv_heads);
		item.row = first_row + (i32)block * BM;
		i32 limit = seq_k;
		if (causal)
			limit = min(seq_k, key_limit(min(rows(), first_row + CLUSTER * BM) - 1));
		item.steps = limit > 0 ? ceil_div(limit, BN) : 0;
		return item;
	}
	// Of a head.
	__device__ __forceinline__ i32 rows() const
	{
		return seq_q * PACKED_HEADS;
	}
	// Under a causal mask row `row` sees the keys before this one.
	__device__ __forceinline__ i32 key_limit(i32 row) const
	{
		return row / PACKED_HEADS + seq_k - seq_q + 1;
	}
	// Where it lies in O, counted in rows.
	__device__ __forceinline__ i64 place_of_row(const work &item, i32 row) const
	{
		if constexpr (PACKED_HEADS > 1)
			return ((i64)item.head * PACKED_HEADS + row % PACKED_HEADS) * seq_q +
			       row / PACKED_HEADS;
		return (i64)item.head * seq_q + row;
	}
};

__device__ __forceinline__ void unit_pass(const unit_ring &ring, unit_ring::position &p, i32 unit)
{
	ring.claim(p);
	asm volatile("st.shared.b32 [%0], %1;" ::"r"(ring.at(p)), "r"(unit) : "memory");
	mbarrier_arrive(ring.full(p));
	p.next();
}

__device__ __forceinline__ i32 unit_take(const unit_ring &ring, unit_ring::position &p)
{
	i32 unit;
	ring.wait(p);
	asm volatile("ld.shared.b32 %0, [%1];" : "=r"(unit) : "r"(ring.at(p)) : "memory");
	__syncwarp();
	ring.release(p, threadIdx.x % 32);
	p.next();
	// The reduction tells the compiler that the value is the same in all lanes.
	return __reduce_max_sync(0xffffffffu, unit);
}

// The unit after `unit`. counter[0]: how many were taken beyond the first of each block.
__device__ __forceinline__ i32 unit_next(u32 *counter, i32 unit, i32 workers)
{
	return counter ? workers + (i32)atomicAdd(counter, 1) : unit + workers;
}

// The last block to call this leaves the counter as it was at the start. counter[1]: calls so far.
__device__ __forceinline__ void unit_finish(u32 *counter, i32 workers)
{
	if (!counter)
		return;
	__threadfence();
	if (atomicAdd(counter + 1, 1) == (u32)workers - 1) {
		counter[0] = 0;
		counter[1] = 0;
	}
}
