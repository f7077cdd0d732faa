// Grouped GEMM on Hopper's wgmma: hopper/persistent.cuh over the tiles of all groups. A tile's rows
// behind its group's end are another group's: multiplied (perhaps in part), never stored.
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
#define STAGE_READERS      (PINGPONG ? 1 : GROUPS)
#define STORE_DEPTH        2
#define ROWS_ARE_B         SWAP
#define SCALE_SLACK        4
#include "groups.cuh"
#include "hopper/persistent.cuh"

struct group_list {
	struct tile : group_tile {
		i32 first_step, steps;
	};
	struct arguments {
		group_rows rows;
		i32 groups, n, k, scale_pitch;
		const float *scale_a, *scale_b;
	};
	static constexpr bool ahead = false, cuts_boxes = true, leaves_boxes = false;

	const arguments &of;
	group_walk<BM * CLUSTER_M, BN> walk;
	const i32 block_row, steps, stride;
	i32 unit;

	__device__ __forceinline__ group_list(const arguments &of, const cluster_place &place)
	    : of(of), walk(of.rows, of.groups, of.n),
	      block_row((i32)(SWAP ? place.column : place.row) * BM), steps(ceil_div(of.k, BK)),
	      stride((i32)gridDim.x / CLUSTER_M), unit((i32)blockIdx.x / CLUSTER_M)
	{
	}
	__device__ __forceinline__ bool now(tile &it)
	{
		it.first_step = 0;
		it.steps = steps;
		return walk.find(unit, it);
	}
	__device__ __forceinline__ void advance()
	{
		unit += stride;
	}
	__device__ __forceinline__ bool may_have_more() const
	{
		return true;
	}
	__device__ __forceinline__ i32 next_steps() const
	{
		return steps;
	}
	__device__ __forceinline__ i32 row_of_a(const tile &it) const
	{
		return it.row + block_row;
	}
	__device__ __forceinline__ i32 row_of_b(const tile &it) const
	{
		return it.group * of.n + it.column;
	}
	__device__ __forceinline__ i32 k_of_b(const tile &) const
	{
		return 0;
	}
	__device__ __forceinline__ i32 row_of_c(const tile &it) const
	{
		return it.row + block_row;
	}
	__device__ __forceinline__ epilogue finish(const tile &it) const
	{
		return {of.scale_a, of.scale_b + (scales_rows ? (i64)it.group * of.n : it.group),
			nullptr, nullptr, nullptr, nullptr, it.end, of.n, of.n};
	}
	__device__ __forceinline__ scale_source scales() const
	{
		return {of.scale_a, of.scale_pitch};
	}
	__device__ __forceinline__ void start_scales(block_scales<fragments> &scales,
		const tile &it, i32 column, u32 first_row, u32 thread) const
	{
		i64 lines = (i64)it.group * ceil_div(of.n, 128);
		scales.start(of.scale_b + lines * ((steps + 3) / 4 * 4), of.n, steps, column,
			first_row, thread, 0, steps);
		scales.a += (u32)it.row % 4 * 4;
	}
	__device__ __forceinline__ bool gather(
		float (&)[fragments][TILE_COLUMNS / 2], const tile &, u32, u32) const
	{
		return true;
	}
};

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
	gemm_grouped_wgmma(const __grid_constant__ tensor_map map_a,
		const __grid_constant__ tensor_map map_b, const __grid_constant__ tensor_map map_c,
		const i32 *offsets, const i32 *counts, const float *scale_a, const float *scale_b,
		output::memory *c, i32 groups, i32 room, i32 n, i32 k, i32 scale_pitch)
{
	gemm_persistent<group_list>(map_a, map_b, map_c, c,
		{{offsets, counts, room}, groups, n, k, scale_pitch, scale_a, scale_b});
}
