// GEMM on Hopper's wgmma: persistent blocks, one producer warp group that feeds a ring of stages by
// TMA, GROUPS consumer warp groups. Cooperative: the groups share a tile, 64 * fragments rows each.
// PINGPONG: each group has a tile of its own, so that one group's stores run beside the other's
// multiplications. Parameters: see wgmma.json.
#define TILE_ROWS          BM
#define TILE_COLUMNS       BN
#define ROWS_TRANSPOSED    0
#define COLUMNS_TRANSPOSED B_LAYOUT_kn
#define SHARE_ROWS         CLUSTER_N
#define SHARE_COLUMNS      CLUSTER_M
#define ROWS_ARE_B         0
#ifndef B_LAYOUT_kn
#define B_LAYOUT_kn 0
#endif
#include "wgmma_pipeline.cuh"
#include "wgmma_partial.cuh"
#include "wgmma_schedule.cuh"
#include "wgmma_store.cuh"
#include "wgmma_turns.cuh"

constexpr int threads = 128 * (GROUPS + 1);
constexpr int fragments = PINGPONG ? BM / 64 : BM / 64 / GROUPS;

// Registers move from the producer to the consumers, which get REGISTERS each. One block of 256
// threads has enough for everyone from the start.
constexpr bool move_registers = GROUPS * BLOCKS_PER_SM > 1;
constexpr int producer_registers = GROUPS == 3 ? 32 : 40;

constexpr int ring_bytes = STAGES * stage_bytes;
#if STORE
constexpr int store_buffers = STORE == 1 ? STORE_DEPTH : 1;
typedef staging<STORE_BOX, store_buffers> staging_type;
constexpr int staging_bytes = staging_type::buffer_bytes * store_buffers;
#else
constexpr int staging_bytes = 0;
#endif
typedef tile_factors<fragments * 64, BN, 128> factors;
static_assert(SMEM_BYTES == ring_bytes + GROUPS * (staging_bytes + factors::bytes) +
				    STAGES * (16 + scale_bytes) + 16,
	"stages, store buffers, barriers, scales: what the launch asks for");

template <int COUNT, bool MORE> __device__ __forceinline__ void set_registers()
{
	if constexpr (move_registers && MORE)
		asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
	else if constexpr (move_registers)
		asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
	gemm_wgmma(const __grid_constant__ tensor_map map_a,
		const __grid_constant__ tensor_map map_b, const __grid_constant__ tensor_map map_c,
		output::memory *c, float *partial, u32 *flags, i32 m, i32 n, i32 k, i32 ldc,
		i32 along_n, i32 band, i32 products, i32 rows_a, i32 rows_b, EPILOGUE_PARAMETERS)
{
	extern __shared__ __align__(1024) u8 shared[];
	u32 base = shared_address(shared);
	u32 barriers = base + ring_bytes + GROUPS * staging_bytes;
	pipeline ring = {base, barriers, barriers + STAGES * 16 + 16};
	turns turn = {ring.barriers + STAGES * 16};
	cluster_place place(cluster_plane > 1 ? cluster_rank() : 0);
	// The shuffle tells the compiler that the value is the same in all lanes.
	u32 group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);

	// Three warps of the producer group prepare side by side: the first works out the tiles.
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
	schedule list(BATCHED ? products : 1, m, n, k, along_n, band, blockIdx.x / cluster_plane,
		gridDim.x / cluster_plane, place.row, place.column);
	work item;
	bool more = list.next(item);
	if constexpr (cluster_plane > 1)
		cluster_wait();
	else
		__syncthreads();

	position at;
	if (group == 0) {
		set_registers<producer_registers, false>();
		if (threadIdx.x < 32) {
			loader load = {map_a, map_b, place, 0, 0, {scale_a, (m + 3) / 4 * 4}};
			for (; more; more = list.next(item))
				load.run(ring, at, item.row + item.product * rows_a,
					item.column + item.product * rows_b, item.first_step,
					item.steps);
		}
		__syncwarp();
	} else {
		set_registers<REGISTERS, true>();
		group -= 1;
		u32 thread = threadIdx.x % 128;
		multiplier<fragments> multiply_by(
			PINGPONG ? 0 : group * fragments * 64, thread, place);
#if STORE
		staging_type stage = {base + ring_bytes + group * staging_bytes, group, thread};
#endif
		epilogue finish = {EPILOGUE_ARGUMENTS, m, n, ldc};
		float *shared_factors = (float *)(shared + (ring.scales - base) +
						  STAGES * scale_bytes + group * factors::bytes);
		float sums[fragments][BN / 2];
		u32 round = 0;
		block_scales<fragments> scales;
		// The next tile of this group; the reading of its scales begins.
		auto begin = [&](bool passed_over) {
			if (PINGPONG && more && passed_over) {
				at.skip(item.steps);
				more = list.next(item);
			}
			if (scales_blocks && more)
				scales.start(scale_b, n, list.steps, item.column,
					multiply_by.first_row, thread, item.first_step, item.steps);
		};
		begin(group == 1);
		while (more) {
			work tile = item;
			if (BATCHED) {
				tile.row += tile.product * m;
				finish.m = (tile.product + 1) * m;
			}
			factors own;
			own.load(
				finish, tile.row + (i32)multiply_by.first_row, tile.column, thread);
			if (PINGPONG)
				turn.wait(group, round++);
#if ACCUM_promoted
			multiply_by.run_promoted(sums, ring, at, tile.steps, scales);
			if (PINGPONG)
				turn.pass(group, thread);
#else
			u32 last = multiply_by.run(sums, ring, at, tile.steps);
			if (PINGPONG)
				turn.pass(group, thread);
			multiply_by.finish(sums, ring, last);
#endif
			// Not earlier than needed: numbers of two tiles take registers.
			if (scales_blocks) {
				more = list.next(item);
				begin(true);
			}
			bool store = true;
#if STREAM_K
			if (tile.first_worker != tile.last_worker)
				store = partial_exchange<fragments, BN>(sums, partial, flags,
					tile.first_worker, tile.last_worker, list.worker,
					(place.rank * GROUPS + group) * 128 + thread);
#endif
			if (store) {
				if (STORE != 1 && factors::bytes > 0)
					group_barrier(group);
				own.put(shared_factors, thread);
				if (factors::bytes > 0)
					group_barrier(group);
#pragma unroll
				for (int f = 0; f < fragments; ++f) {
					i32 row = tile.row + multiply_by.first_row + f * 64;
					// A box is clipped where C ends, not where a product ends:
					// what lies beyond is the next product's.
					if (BATCHED && row >= finish.m)
						break;
					thread_rows<factors> rows(finish, row, tile.column, thread,
						shared_factors, f);
#if STORE == 1
					stage.store_boxes<BN>(
						sums[f], rows, map_c, row, tile.column);
#elif STORE == 2
					stage.store_rows<BN>(sums[f], rows, c, row, tile.column);
#else
					store_direct<C_PAIRS, BN>(sums[f], c, rows);
#endif
				}
			}
			if (!scales_blocks) {
				more = list.next(item);
				begin(true);
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
