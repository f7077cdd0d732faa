// What flash_wgmma's loading thread does: it takes tiles of rows, passes their numbers on, and
// loads what they need in the order of need: Q, then K and V from the last tile of keys to the
// first, V a tile behind K.
#include "attention/flash_wgmma_schedule.cuh"
#pragma once
struct loader {
	const tensor_map &map_q, &map_k, &map_v;
	const rings &ring;
	u32 block; // in its cluster
	query_ring::position q;
	key_ring::position k;
	loaded_ring::position v;

	__device__ __forceinline__ void load_keys(const work &item, i32 tile)
	{
		ring.k.claim_for_copies(k);
		rows_load<BN, PADDED_DIM, CLUSTER>(
			ring.k.at(k), map_k, ring.k.full(k), tile * BN, item.kv_head, block);
		k.next();
	}
	__device__ __forceinline__ void load_values(const work &item, i32 tile)
	{
		ring.loaded.claim_for_copies(v);
		rows_load<BN, PADDED_DIM_V, CLUSTER>(ring.loaded.at(v), map_v, ring.loaded.full(v),
			tile * BN, item.kv_head, block);
		v.next();
	}
	__device__ __forceinline__ void load(const work &item)
	{
		if (item.steps == 0)
			return;
		ring.q.claim_for_copies(q);
		queries_load(ring.q.at(q), map_q, ring.q.full(q), item.row, item.head);
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
			unit_pass(ring.units, at, unit);
			load(list.place(unit));
		}
		unit_pass(ring.units, at, unit);
		unit_finish(counter, workers);
	}
};
