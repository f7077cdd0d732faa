// Grouped GEMM on Hopper's wgmma: persistent blocks that walk through the tiles of all groups, a
// loading warp that feeds a ring of stages by TMA, GROUPS multiplying warp groups. A tile's rows
// behind its group's end are another group's: multiplied, never stored. Ring, multiplication and
// stores are gemm/wgmma's.
// CLUSTER_M blocks of a cluster take tiles of the same columns one below the other and share B.
// SWAP, for few rows: B's rows take wgmma's m side, A's its n side, which may be as narrow as 8,
// and narrower still where a group ends.
#if SWAP
#define TILE_ROWS     BN
#define TILE_COLUMNS  BM
#define SHARE_ROWS    CLUSTER_M
#define SHARE_COLUMNS 1
#else
#define TILE_ROWS     BM
#define TILE_COLUMNS  BN
#define SHARE_ROWS    1
#define SHARE_COLUMNS CLUSTER_M
#endif
#define ROWS_TRANSPOSED    0
#define COLUMNS_TRANSPOSED 0
#define ROWS_ARE_B         SWAP
#define SCALE_SLACK        4
#include "gemm/wgmma_pipeline.cuh"
#include "gemm/wgmma_store.cuh"
#include "gemm/wgmma_turns.cuh"
#include "groups.cuh"
#include "parts.cuh"
#if SWAP
#include "swapped.cuh"
#endif

constexpr int threads = 128 * (GROUPS + 1);
constexpr int fragments = PINGPONG ? TILE_ROWS / 64 : TILE_ROWS / 64 / GROUPS;
constexpr bool move_registers = GROUPS * BLOCKS_PER_SM > 1;

// What a warp group finishes, by rows of A and columns of C.
constexpr int own_rows = SWAP ? BM : fragments * 64;
constexpr int own_columns = SWAP ? fragments * 64 : BN;
typedef tile_factors<own_rows, own_columns, 128> factors;

constexpr int ring_bytes = STAGES * stage_bytes;
constexpr int store_buffers = STORE == 2 ? 1 : 2;
typedef staging<STORE_BOX, store_buffers> staging_type;
constexpr int staging_bytes = STORE ? staging_type::buffer_bytes * store_buffers : 0;
static_assert(SMEM_BYTES == ring_bytes + GROUPS * (staging_bytes + factors::bytes) +
				    STAGES * (16 + scale_bytes) + 16,
	"stages, store buffers, factors, barriers, scales: what the launch asks for");

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
	gemm_grouped_wgmma(const __grid_constant__ tensor_map map_a,
		const __grid_constant__ tensor_map map_b, const __grid_constant__ tensor_map map_c,
		const i32 *offsets, const i32 *counts, const float *scale_a, const float *scale_b,
		output::memory *c, i32 groups, i32 room, i32 n, i32 k, i32 scale_pitch)
{
	extern __shared__ __align__(1024) u8 shared[];
	u32 base = shared_address(shared);
	u32 barriers = base + ring_bytes + GROUPS * staging_bytes;
	pipeline ring = {base, barriers, barriers + STAGES * 16 + 16};
	turns turn = {ring.barriers + STAGES * 16};
	cluster_place place(cluster_plane > 1 ? cluster_rank() : 0);
	// The shuffle tells the compiler that the value is the same in all lanes.
	u32 group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);

	if (threadIdx.x == 32) {
		turn.init();
		ring.init(PINGPONG ? 1 : GROUPS);
	}
	if (threadIdx.x == 64) {
		tensor_map_prefetch(map_a);
		tensor_map_prefetch(map_b);
		if (STORE == 1)
			tensor_map_prefetch(map_c);
	}
	__syncwarp();
	if constexpr (cluster_plane > 1)
		cluster_arrive();
	group_walk<BM * CLUSTER_M, BN> walk({offsets, counts, room}, groups, n);
	if constexpr (cluster_plane > 1)
		cluster_wait();
	else
		__syncthreads();

	position at;
	group_tile tile;
	i32 unit = (i32)blockIdx.x / CLUSTER_M, stride = (i32)gridDim.x / CLUSTER_M;
	i32 block_row = (i32)(SWAP ? place.column : place.row) * BM, steps = ceil_div(k, BK);
	if (group == 0) {
		if constexpr (move_registers)
			asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(40));
		if (threadIdx.x < 32) {
			loader load = {SWAP ? map_b : map_a, SWAP ? map_a : map_b, place, 0, 0,
				{scale_a, scale_pitch}};
			for (; walk.find(unit, tile); unit += stride) {
				i32 of_a = tile.row + block_row,
				    of_b = tile.group * n + tile.column;
				load.run(ring, at, SWAP ? of_b : of_a, SWAP ? of_a : of_b, 0,
					steps);
			}
		}
	} else {
		if constexpr (move_registers)
			asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
		group -= 1;
		u32 thread = threadIdx.x % 128;
		part_multiplier<fragments> multiply_by(
			PINGPONG ? 0 : group * fragments * 64, thread, place);
		i32 own_row = SWAP ? 0 : (i32)multiply_by.first_row;
		i32 own_column = SWAP ? (i32)multiply_by.first_row : 0;
		staging_type stage = {base + ring_bytes + group * staging_bytes, group, thread};
		float *shared_factors = (float *)(shared + (ring.scales - base) +
						  STAGES * scale_bytes + group * factors::bytes);
		float sums[fragments][TILE_COLUMNS / 2];
		u32 round = 0;
		if (PINGPONG && group == 1) {
			at.skip(steps);
			unit += stride;
		}
		while (walk.find(unit, tile)) {
			const i32 row = tile.row + block_row + own_row;
			const i32 column = tile.column + own_column;
			const epilogue finish = {scale_a,
				scale_b + (scales_rows ? (i64)tile.group * n : tile.group), nullptr,
				nullptr, nullptr, nullptr, tile.end, n, n};
			factors own;
			own.load(finish, row, column, thread);
			if (PINGPONG)
				turn.wait(group, round++);
#if ACCUM_promoted
			block_scales<fragments> scales;
			if constexpr (scales_blocks) {
				i64 lines = (i64)tile.group * ceil_div(n, 128);
				scales.start(scale_b + lines * ((steps + 3) / 4 * 4), n, steps,
					column, multiply_by.first_row, thread, 0, steps);
				scales.a += (u32)tile.row % 4 * 4;
			}
			multiply_by.run_promoted(sums, ring, at, steps, scales);
			if (PINGPONG)
				turn.pass(group, thread);
#else
			u32 last = multiply_by.run_rows(
				sums, ring, at, steps, tile.end - row, group);
			if (PINGPONG)
				turn.pass(group, thread);
			multiply_by.finish(sums, ring, last);
#endif
			if constexpr (factors::bytes > 0) {
				group_barrier(group);
				own.put(shared_factors, thread);
				group_barrier(group);
			}
#if SWAP
			const swapped_tile<fragments, factors> swapped = {
				sums, finish, shared_factors, row, column, thread};
			if constexpr (STORE == 1)
				swapped.store(stage, map_c, c);
			else
				swapped.store(c);
#else
#pragma unroll
			for (int f = 0; f < fragments; ++f) {
				thread_rows<factors> rows(
					finish, row + f * 64, column, thread, shared_factors, f);
#if STORE == 1
				// TMA would write the next group's rows.
				if (row + f * 64 + 64 <= tile.end) {
					stage.store_boxes<BN>(
						sums[f], rows, map_c, row + f * 64, column);
				} else if (row + f * 64 < tile.end) {
					stage.finish();
					group_barrier(group);
					stage.store_rows<BN>(
						sums[f], rows, c, row + f * 64, column);
				}
#elif STORE == 2
				stage.store_rows<BN>(sums[f], rows, c, row + f * 64, column);
#else
				store_direct<C_PAIRS, BN>(sums[f], c, rows);
#endif
			}
#endif
			unit += stride;
			if (PINGPONG) {
				at.skip(steps);
				unit += stride;
			}
		}
#if STORE == 1
		stage.finish();
#endif
	}
	__syncwarp();
	// A block's barriers and stages must outlive the arrivals and slices of its neighbours.
	if constexpr (cluster_plane > 1)
		cluster_sync();
}
