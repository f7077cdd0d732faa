// From a warp group's accumulators to C, with the epilogue on the way: from registers (STORE 0),
// through shared memory by TMA (1), or through it row by row (2).
#include "hopper/direct.cuh"
#include "hopper/staging.cuh"
#if ROWS_ARE_B
#include "hopper/swapped.cuh"
#endif
#pragma once
// Blocks of 64 of wgmma's rows that a warp group has; what that is in rows and columns of C.
constexpr int fragments = (PINGPONG ? TILE_ROWS : TILE_ROWS / GROUPS) / 64;
constexpr int own_rows = ROWS_ARE_B ? TILE_COLUMNS : fragments * 64;
constexpr int own_columns = ROWS_ARE_B ? fragments * 64 : TILE_COLUMNS;
typedef tile_factors<own_rows, own_columns, 128> factors;

#if STORE
constexpr int store_buffers = STORE == 1 ? STORE_DEPTH : 1;
typedef staging<STORE_BOX, store_buffers> staging_type;
constexpr int staging_bytes = staging_type::buffer_bytes * store_buffers;
#else
constexpr int staging_bytes = 0;
struct staging_type {
	u32 buffers, group, thread;
	__device__ __forceinline__ void finish() const
	{
	}
};
#endif

struct group_store {
	const tensor_map &map;
	output::memory *c;
	float *shared_factors;
	staging_type &stage;
	u32 group, thread;

	// Writes a tile whose first row and column are the warp group's. LIST says how a part of C
	// (a product, a group) may end in it.
	template <typename LIST>
	__device__ __forceinline__ void run(const float (&sums)[fragments][TILE_COLUMNS / 2],
		const factors &own, const epilogue &finish, i32 row, i32 column) const
	{
		// Where all is stored in boxes, their last barrier comes after the last read of
		// factors.
		if (factors::bytes > 0 && (STORE != 1 || LIST::cuts_boxes))
			group_barrier(group);
		own.put(shared_factors, thread);
		if (factors::bytes > 0)
			group_barrier(group);
#if ROWS_ARE_B
		const swapped_tile<fragments, factors> swapped = {
			sums, finish, shared_factors, row, column, thread};
		if constexpr (STORE == 1)
			swapped.store(stage, map, c);
		else
			swapped.store(c);
#else
#pragma unroll
		for (int f = 0; f < fragments; ++f) {
			const i32 first = row + f * 64;
			if (LIST::leaves_boxes && first >= finish.m)
				break;
			thread_rows<factors> rows(finish, first, column, thread, shared_factors, f);
#if STORE == 1
			// TMA clips a box where C ends; beyond a part's end are the next one's
			// rows.
			if (!LIST::cuts_boxes || first + 64 <= finish.m) {
				stage.store_boxes<TILE_COLUMNS>(sums[f], rows, map, first, column);
			} else if (first < finish.m) {
				stage.finish();
				group_barrier(group);
				stage.store_rows<TILE_COLUMNS>(sums[f], rows, c, first, column);
			}
#elif STORE == 2
			stage.store_rows<TILE_COLUMNS>(sums[f], rows, c, first, column);
#else
			store_direct<C_PAIRS, TILE_COLUMNS>(sums[f], c, rows);
#endif
		}
#endif
	}
};
