// GEMM on Hopper's wgmma: hopper/persistent.cuh over the tiles of wgmma_schedule.cuh.
// Parameters: see wgmma.json.
#define TILE_ROWS          BM
#define TILE_COLUMNS       BN
#define ROWS_TRANSPOSED    0
#define COLUMNS_TRANSPOSED B_LAYOUT_kn
#define SHARE_ROWS         CLUSTER_N
#define SHARE_COLUMNS      CLUSTER_M
#define STAGE_READERS      (PINGPONG ? 1 : GROUPS)
#define ROWS_ARE_B         0
#ifndef B_LAYOUT_kn
#define B_LAYOUT_kn 0
#endif
#include "hopper/persistent.cuh"
#include "wgmma_partial.cuh"
#include "wgmma_schedule.cuh"

// The tiles of a product or of a batch of them.
struct product_list {
	typedef work tile;
	struct arguments {
		i32 m, n, k, along_n, band, products, rows_a, rows_b;
		float *partial;
		u32 *flags;
		epilogue all; // of the first product
	};
	// The next tile is worked out ahead: it costs few instructions.
	static constexpr bool ahead = true;
	// C's end clips a box. With STORE 1, products end where a box does.
	static constexpr bool cuts_boxes = false, leaves_boxes = BATCHED;

	const arguments &of;
	const u32 rank;
	schedule list;
	work item;
	bool more;

	__device__ __forceinline__ product_list(const arguments &of, const cluster_place &place)
	    : of(of), rank(place.rank), list(BATCHED ? of.products : 1, of.m, of.n, of.k,
						of.along_n, of.band, blockIdx.x / cluster_plane,
						gridDim.x / cluster_plane, place.row, place.column),
	      more(list.next(item))
	{
	}
	__device__ __forceinline__ bool now(tile &it) const
	{
		if (more)
			it = item;
		return more;
	}
	__device__ __forceinline__ void advance()
	{
		more = list.next(item);
	}
	__device__ __forceinline__ bool may_have_more() const
	{
		return more;
	}
	__device__ __forceinline__ i32 next_steps() const
	{
		return item.steps;
	}
	__device__ __forceinline__ i32 row_of_a(const tile &it) const
	{
		return it.row + it.product * of.rows_a;
	}
	__device__ __forceinline__ i32 row_of_b(const tile &it) const
	{
		return it.column + (B_LAYOUT_kn ? 0 : it.product * of.rows_b);
	}
	__device__ __forceinline__ i32 k_of_b(const tile &it) const
	{
		return B_LAYOUT_kn ? it.product * of.rows_b : 0;
	}
	__device__ __forceinline__ i32 row_of_c(const tile &it) const
	{
		return BATCHED ? it.row + it.product * of.m : it.row;
	}
	__device__ __forceinline__ epilogue finish(const tile &it) const
	{
		epilogue its = of.all;
		if (BATCHED)
			its.m = (it.product + 1) * of.m;
		return its;
	}
	__device__ __forceinline__ scale_source scales() const
	{
		return {of.all.scale_a, (of.m + 3) / 4 * 4};
	}
	__device__ __forceinline__ void start_scales(block_scales<fragments> &scales,
		const tile &it, i32 column, u32 first_row, u32 thread) const
	{
		scales.start(of.all.scale_b, of.n, list.steps, column, first_row, thread,
			it.first_step, it.steps);
	}
	__device__ __forceinline__ bool gather(
		float (&sums)[fragments][BN / 2], const tile &it, u32 group, u32 thread) const
	{
#if STREAM_K
		if (it.first_worker != it.last_worker)
			return partial_exchange<fragments, BN>(sums, of.partial, of.flags,
				it.first_worker, it.last_worker, list.worker,
				(rank * GROUPS + group) * 128 + thread);
#endif
		return true;
	}
};

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
	gemm_wgmma(const __grid_constant__ tensor_map map_a,
		const __grid_constant__ tensor_map map_b, const __grid_constant__ tensor_map map_c,
		output::memory *c, float *partial, u32 *flags, i32 m, i32 n, i32 k, i32 ldc,
		i32 along_n, i32 band, i32 products, i32 rows_a, i32 rows_b, EPILOGUE_PARAMETERS)
{
	gemm_persistent<product_list>(map_a, map_b, map_c, c,
		{m, n, k, along_n, band, products, rows_a, rows_b, partial, flags,
			{EPILOGUE_ARGUMENTS, m, n, ldc}});
}
