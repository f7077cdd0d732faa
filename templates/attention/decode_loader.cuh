// How a key warp of attention_decode gets its keys: by TMA into a ring of its own, which runs on
// across units, a slot of KEYS rows of K and V a step.
#include "attention/decode_rows.cuh"
#include "common/mbarrier.cuh"
#include "common/tma.cuh"
#include "common/tma_ranks.cuh"
#pragma once
constexpr int block_keys = KEY_WARPS * KEYS;
constexpr int slot_bytes = key_bytes + value_bytes;
constexpr int page_keys = PAGE > 0 ? PAGE : 1;
constexpr int boxes = PAGE > 0 && PAGE < KEYS ? KEYS / PAGE : 1; // of a slot
constexpr int box_keys = KEYS / boxes;

// How the units and their steps follow from the problem; the same in all blocks.
struct key_order {
	int unit_steps, row_blocks;
	int kv_heads, sequence_pages; // with PAGE
	const i32 *block_table;
};

// What one lane of a key warp's first row warp does. Where several row warps read a slot, each says
// when it is done.
struct key_loader {
	const tensor_map &map_k, &map_v;
	const key_order &order;
	u32 slots, full, empty;
	int left, unit, tile, first_key; // of the next step; steps that are left
	u64 policy;                      // of L2 for what is read once, or 0
	int slot = 0, filled = 0;        // next slot; how often the ring went round
	i32 page[boxes];                 // of the next slot

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

	__device__ __forceinline__ void next()
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
	// As many steps as there are slots.
	__device__ __forceinline__ void start()
	{
		if (left > 0)
			pages_find();
#pragma unroll 1
		for (int i = 0; i < STAGES && left > 0; i++)
			next();
	}
};
