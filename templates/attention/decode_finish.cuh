// The end of a unit, or of a block's part of it: the state of key warp 0, in which those of the
// block's other key warps are, becomes rows of O or a part in the workspace.
#include "attention/decode_parts.cuh"
#include "common/cluster.cuh"
#include "common/cluster_load.cuh"
#pragma once
// A warp's place in its block, and the rows of O that are the unit's: `out` is the first row of
// those that share a head of K and V, `rows` how many there are, `row` the warp's first one.
struct unit_rows {
	int lane, key_warp, row_warp;
	element_memory *out;
	int row, rows;
};

// Where blocks meet that have parts of a unit. `last_arrival` lies in shared memory.
struct meeting {
	float4 *parts;
	u32 *arrived;
	bool *last_arrival;

	__device__ __forceinline__ float4 *part(const unit_rows &of, i64 index) const
	{
		return parts + (index * ROW_WARPS + of.row_warp) * state_vectors + of.lane;
	}
};

// This block has seen all keys of the unit.
__device__ __forceinline__ void finish_alone(const row_state &state, const unit_rows &of)
{
	if (of.key_warp == 0) {
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
				tile_store(of.out, of.row + r * 16, of.rows, t, scaled, of.lane);
			}
		}
	}
	__syncthreads(); // the exchange may be written again
}

// Blocks that follow each other have parts of the unit; the last to arrive combines them. A block's
// first unit has the workspace's part 2 * block, its last one, if that is another, the part behind.
__device__ __forceinline__ void finish_parts(const row_state &state, const unit_rows &of,
	const meeting &at, int unit, int unit_steps, int share)
{
	const int unit_first = unit * unit_steps;
	const int first_block = unit_first / share;
	const int count = (unit_first + unit_steps - 1) / share - first_block + 1;
	auto part_of = [&](int block) {
		return at.part(of, 2 * (i64)block + (block * share < unit_first ? 1 : 0));
	};
	if (of.key_warp == 0) {
		float4 *mine = part_of((int)blockIdx.x);
		state_write(state, [&](int i, float4 value) { __stcg(mine + i, value); });
		__threadfence();
	}
	if (last_to_arrive(at.arrived + unit, count, at.last_arrival)) {
		// A block's other units come first; only the first block's part can be its second.
		constexpr i64 distance = (i64)2 * ROW_WARPS * state_vectors;
		const float4 *first_part = part_of(first_block);
		const float4 *other_parts = part_of(first_block + 1) - distance;
		auto part = [&](int i, int vector) {
			return __ldcg((i == 0 ? first_part : other_parts + i * distance) + vector);
		};
		parts_finish<KEY_WARPS>(part, count, of.key_warp, of.out, of.row, of.rows, of.lane);
	}
}

// The blocks of a cluster have parts of the unit: each combines its share of the columns of all of
// them. Where that is not all of the unit, `cluster_parts` clusters leave a part each, and of the
// blocks of the same rank the last to arrive combines its share of those.
__device__ __forceinline__ void finish_cluster(const row_state &state, const unit_rows &of,
	const meeting &at, int unit, float4 *exchange, u32 rank, int cluster_parts)
{
	float4 *mine = exchange + of.row_warp * state_vectors + of.lane;
	if (of.key_warp == 0)
		state_write(state, [&](int i, float4 value) { mine[i] = value; });
	cluster_sync();
	u32 place = shared_address(mine);
	auto part = [&](int i, int vector) {
		return cluster_load4(cluster_address(place, (u32)i) + (u32)vector * 16);
	};
	int worker = of.key_warp * CLUSTER + (int)rank; // few columns: blocks first
	if (cluster_parts == 1) {
		parts_finish<KEY_WARPS * CLUSTER>(
			part, CLUSTER, worker, of.out, of.row, of.rows, of.lane);
		cluster_sync(); // a block stays while others read its state
		return;
	}
	auto part_of = [&](int index) { return at.part(of, (i64)(unit * cluster_parts + index)); };
	float4 *to = part_of((int)blockIdx.x / CLUSTER % cluster_parts);
	parts_combine<KEY_WARPS * CLUSTER>(
		part, CLUSTER, worker,
		[&](int i, const float(&top)[2], const float(&sum)[2]) {
			if (worker == 0)
				__stcg(to + i, make_float4(top[0], top[1], sum[0], sum[1]));
		},
		[&](int, int i, int t, const float(&sum)[4]) {
			__stcg(to + i + (t + 1) * 32, make_float4(sum[0], sum[1], sum[2], sum[3]));
		});
	__threadfence();
	cluster_sync();
	if (last_to_arrive(at.arrived + unit * CLUSTER + (int)rank, cluster_parts, at.last_arrival))
		parts_finish<KEY_WARPS * CLUSTER>(
			[&](int i, int vector) { return __ldcg(part_of(i) + vector); },
			cluster_parts, worker, of.out, of.row, of.rows, of.lane);
}
