// Grouped GEMM on Hopper's wgmma: persistent blocks that walk through the tiles of all groups, a
// loading warp that feeds a ring of stages by TMA, GROUPS multiplying warp groups that share a
// tile. A tile's rows behind its group's end are the next group's: multiplied, never stored. Ring
// and multiplication are gemm/wgmma's.
#define TILE_ROWS          BM
#define TILE_COLUMNS       BN
#define ROWS_TRANSPOSED    0
#define COLUMNS_TRANSPOSED 0
#define SHARE_ROWS         1
#define SHARE_COLUMNS      1
#define ROWS_ARE_B         0
#include "gemm/wgmma_pipeline.cuh"
#include "gemm/wgmma_store.cuh"
#include "gemm_grouped/groups.cuh"

constexpr int threads = 128 * (GROUPS + 1);
constexpr int fragments = BM / 64 / GROUPS;
constexpr int ring_bytes = STAGES * stage_bytes;
#if STORE
typedef staging<STORE_BOX, 1> staging_type;
constexpr int staging_bytes = staging_type::buffer_bytes;
#else
constexpr int staging_bytes = 0;
#endif
static_assert(SMEM_BYTES == ring_bytes + GROUPS * staging_bytes + STAGES * 16,
	"stages, store buffers, barriers: what the launch asks for");

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM) gemm_grouped_wgmma(
	const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b,
	const i32 *offsets, output::memory *c, i32 groups, i32 n, i32 k)
{
	extern __shared__ __align__(1024) u8 shared[];
	u32 base = shared_address(shared);
	pipeline ring = {base, base + ring_bytes + GROUPS * staging_bytes};
	// The shuffle tells the compiler that the value is the same in all lanes.
	u32 group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);

	if (threadIdx.x == 0) {
		ring.init(GROUPS);
		tensor_map_prefetch(map_a);
		tensor_map_prefetch(map_b);
	}
	__syncwarp();
	group_walk<BM, BN> walk(offsets, groups, n);
	__syncthreads();

	cluster_place place(0);
	position at;
	group_tile tile;
	if (group == 0) {
		if constexpr (GROUPS * BLOCKS_PER_SM > 1)
			asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(40));
		if (threadIdx.x < 32) {
			loader load = {map_a, map_b, place, 0, 0};
			for (i32 unit = (i32)blockIdx.x; walk.find(unit, tile);
				unit += (i32)gridDim.x) {
				if (threadIdx.x == 0)
					load.run(ring, at, tile.row, tile.group * n + tile.column,
						0, ceil_div(k, BK));
				__syncwarp();
			}
		}
	} else {
		if constexpr (GROUPS * BLOCKS_PER_SM > 1)
			asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
		group -= 1;
		u32 thread = threadIdx.x % 128;
		multiplier<fragments> multiply_by(group * fragments * 64, thread, place);
#if STORE
		staging_type stage = {base + ring_bytes + group * staging_bytes, group, thread};
#endif
		float sums[fragments][BN / 2];
		for (i32 unit = (i32)blockIdx.x; walk.find(unit, tile); unit += (i32)gridDim.x) {
			u32 last = multiply_by.run(sums, ring, at, ceil_div(k, BK));
			multiply_by.finish(sums, ring, last);
			const epilogue finish = {nullptr, nullptr, nullptr, nullptr, nullptr,
				nullptr, tile.end, n, n};
#pragma unroll
			for (int f = 0; f < fragments; ++f) {
				i32 row = tile.row + (i32)multiply_by.first_row + f * 64;
				thread_rows<tile_factors<BM / GROUPS, BN, 128>> rows(
					finish, row, tile.column, thread, nullptr, f);
#if STORE
				stage.store_rows<BN>(sums[f], rows, c, row, tile.column);
#else
				store_direct<C_PAIRS, BN>(sums[f], c, rows);
#endif
			}
		}
	}
}
