// The body of GEMM kernels with persistent blocks: a loading warp feeds a ring of stages by TMA,
// GROUPS warp groups multiply out of it and store. Cooperative: the groups share a tile, 64 *
// fragments rows each. PINGPONG: each group has a tile of its own, so that one group's stores run
// beside the other's multiplications.
//
// It walks a LIST of tiles, which is constructed from LIST::arguments and the block's place in its
// cluster, alike by all blocks of a cluster:
//
//	struct tile              `column` in C, `first_step` and `steps` of k, what LIST likes
//	bool now(tile &)         the tile at hand; false behind the last. Whole warps call it
//	void advance()           to the next tile
//	bool may_have_more()     false: now() is false
//	i32 next_steps()         k steps of the tile at hand
//	i32 row_of_a(tile)       its first row in A; row_of_b, row_of_c likewise
//	i32 k_of_b(tile)         where k begins in B
//	epilogue finish(tile)    its m ends the tile's part of C (a product, a group)
//	scale_source scales()    of blocks of A
//	void start_scales(scales, tile, column, first_row, thread)    of blocks of B
//	bool gather(sums, tile, group, thread)    adds sums of other blocks; whether to store
//
// and these constants:
//
//	ahead           the tile at hand is known early: its scales can be asked for
//	cuts_boxes      a part of C may end within the 64 rows of a box that TMA stores
//	leaves_boxes    64 rows of a tile may lie behind the end of its part
#include "hopper/promoted.cuh"
#include "hopper/roles.cuh"
#include "hopper/store.cuh"
#include "hopper/turns.cuh"
#pragma once
constexpr int threads = 128 * (GROUPS + 1);
constexpr int ring_bytes = stage_ring::bytes;
static_assert(SMEM_BYTES == ring_bytes + GROUPS * (staging_bytes + factors::bytes) +
				    STAGES * (16 + scale_bytes) + 16,
	"stages, store buffers, factors, barriers, scales: what the launch asks for");

// Registers move from the producer to the consumers, which get REGISTERS each. One block of 256
// threads has enough for everyone from the start.
constexpr bool move_registers = GROUPS * BLOCKS_PER_SM > 1;
constexpr int producer_registers = !move_registers ? 0 : GROUPS == 3 ? 32 : 40;
constexpr int consumer_registers = move_registers ? REGISTERS : 0;

// A block's shared memory: stages, store buffers of each group, barriers of the ring and of turns,
// A's scales, factors of each group.
struct block_memory {
	u8 *shared;
	pipeline stages;
	turns turn;

	__device__ __forceinline__ explicit block_memory(u8 *shared) : shared(shared)
	{
		u32 base = shared_address(shared);
		u32 barriers = base + ring_bytes + GROUPS * staging_bytes;
		stages = {{base, barriers}, barriers + STAGES * 16 + 16};
		turn = {barriers + STAGES * 16, 0};
	}
	__device__ __forceinline__ u32 store_buffers_of(u32 group) const
	{
		return stages.ring.buffers + ring_bytes + group * staging_bytes;
	}
	__device__ __forceinline__ float *factors_of(u32 group) const
	{
		return (float *)(shared + (stages.scales - stages.ring.buffers) +
				 STAGES * scale_bytes + group * factors::bytes);
	}
};

template <typename LIST>
__device__ __forceinline__ void produce(const pipeline &stages, const loader &load, LIST &list)
{
	position at;
	for (typename LIST::tile tile; list.now(tile); list.advance()) {
		i32 of_a = list.row_of_a(tile), of_b = list.row_of_b(tile);
		load.run(stages, at, ROWS_ARE_B ? of_b : of_a, ROWS_ARE_B ? of_a : of_b,
			tile.first_step, tile.steps, list.k_of_b(tile));
	}
}

template <typename LIST>
__device__ __forceinline__ void consume(const block_memory &memory, const cluster_place &place,
	const tensor_map &map_c, output::memory *c, u32 group, LIST &list)
{
	position at;
	const u32 thread = threadIdx.x % 128;
	const pipeline &stages = memory.stages;
	turns turn = memory.turn;
	const multiplier<fragments> multiply_by(
		PINGPONG ? 0 : group * fragments * 64, thread, place);
	const u32 own_row = ROWS_ARE_B ? 0 : multiply_by.first_row;
	const u32 own_column = ROWS_ARE_B ? multiply_by.first_row : 0;
	staging_type stage = {memory.store_buffers_of(group), group, thread};
	const group_store store = {map_c, c, memory.factors_of(group), stage, group, thread};
	float sums[fragments][TILE_COLUMNS / 2];
	// Not earlier than needed: numbers of two tiles take registers.
	constexpr bool early = scales_blocks && LIST::ahead;
	block_scales<fragments> scales;
	auto start_scales = [&](const typename LIST::tile &tile) {
		list.start_scales(
			scales, tile, tile.column + own_column, multiply_by.first_row, thread);
	};
	own_tiles<LIST> tiles(list, at, group);
	typename LIST::tile tile;
	if (early && list.now(tile))
		start_scales(tile);
	while (list.now(tile)) {
		const i32 row = list.row_of_c(tile) + own_row, column = tile.column + own_column;
		const epilogue finish = list.finish(tile);
		factors own;
		own.load(finish, row, column, thread);
		turn.wait(group);
#if ACCUM_promoted
		if (scales_blocks && !early)
			start_scales(tile);
		promotion<fragments>{multiply_by, stages, at, scales}.run(sums, tile.steps);
		turn.pass(group, thread);
#else
		const u32 last =
			multiply_by.run_rows(sums, stages, at, tile.steps, finish.m - row, group);
		turn.pass(group, thread);
		multiply_by.finish(sums, stages, last);
#endif
		if (early) {
			tiles.advance();
			typename LIST::tile next;
			if (list.now(next))
				start_scales(next);
		}
		if (list.gather(sums, tile, group, thread))
			store.run<LIST>(sums, own, finish, row, column);
		if (!early)
			tiles.advance();
	}
	stage.finish();
}

template <typename LIST>
__device__ __forceinline__ void gemm_persistent(const tensor_map &map_a, const tensor_map &map_b,
	const tensor_map &map_c, output::memory *c, const typename LIST::arguments &arguments)
{
	extern __shared__ __align__(1024) u8 shared[];
	const block_memory memory(shared);
	const cluster_place place(cluster_plane > 1 ? cluster_rank() : 0);
	const u32 group = same_in_lanes(threadIdx.x / 128);

	// Three warps of the producer group prepare side by side: the first works out the tiles.
	if (threadIdx.x == 32) {
		memory.turn.init();
		memory.stages.init();
	}
	if (threadIdx.x == 64) {
		tensor_map_prefetch(map_a);
		tensor_map_prefetch(map_b);
		if (STORE == 1)
			tensor_map_prefetch(map_c);
	}
	blocks_meet_arrive<cluster_plane>();
	LIST list(arguments, place);
	blocks_meet_wait<cluster_plane>();

	if (group == 0) {
		registers_for_loading<producer_registers>();
		if (threadIdx.x < 32)
			produce(memory.stages,
				{ROWS_ARE_B ? map_b : map_a, ROWS_ARE_B ? map_a : map_b, place, 0,
					0, list.scales()},
				list);
	} else {
		registers_for_multiplying<consumer_registers>();
		consume(memory, place, map_c, c, group - 1, list);
	}
	blocks_part<cluster_plane>();
}
