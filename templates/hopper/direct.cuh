// From a warp group's accumulators to any C: every thread finishes its sums and writes its pairs of
// columns.
#include "gemm/tile_factors.cuh"
#pragma once
// Writes columns column and column + 1 of one row of C. PAIRS: the pitch is even, so that a pair
// that begins at an even column is one access.
template <int PAIRS>
__device__ __forceinline__ void store_pair(
	output::memory *c, i64 offset, i32 column, i32 n, float low, float high)
{
	if constexpr (PAIRS) {
		if (column + 1 < n) {
			if constexpr (sizeof(output::memory) == 4) {
				vec8 pair = {{__float_as_uint(low), __float_as_uint(high)}};
				*(vec8 *)(c + offset + column) = pair;
			} else if constexpr (sizeof(output::memory) == 1) {
				*(u16 *)(c + offset + column) =
					(u16)((u32)output::store(low) | (u32)output::store(high)
										<< 8);
			} else {
				*(u32 *)(c + offset + column) =
					(u32)output::store(low) | (u32)output::store(high) << 16;
			}
			return;
		}
	}
	if (column < n)
		c[offset + column] = output::store(low);
	if (column + 1 < n)
		c[offset + column + 1] = output::store(high);
}

// What the epilogue needs for the two rows of a thread among 64.
template <typename FACTORS> struct thread_rows {
	const epilogue &finish;
	i32 row, column; // the thread's first, in C
	const float *factors;
	u32 first; // the thread's first column in the tile
	epilogue_row upper, lower;

	// For the fragment's 64 rows from first_row on, in C.
	__device__ __forceinline__ thread_rows(const epilogue &finish, i32 first_row,
		i32 first_column, u32 thread, const float *factors, int fragment)
	    : finish(finish), row(first_row + (i32)(thread / 32 * 16 + thread % 32 / 4)),
	      column(first_column + (i32)(thread % 4 * 2)), factors(factors), first(thread % 4 * 2)
	{
		u32 in_tile = fragment * 64 + thread / 32 * 16 + thread % 32 / 4;
		upper = finish.row(row, FACTORS::row_scale(factors, in_tile));
		lower = finish.row(row + 8, FACTORS::row_scale(factors, in_tile + 8));
	}

	// The four values of the block of 8 columns number `block`: two of each row.
	__device__ __forceinline__ void values(
		const float *sums, int block, float (&high)[2], float (&low)[2]) const
	{
		i32 at = column + block * 8;
		epilogue_columns<2> columns =
			FACTORS::template columns<2>(factors, first + block * 8);
		high[0] = sums[4 * block];
		high[1] = sums[4 * block + 1];
		low[0] = sums[4 * block + 2];
		low[1] = sums[4 * block + 3];
		finish.apply(high, upper, columns, at);
		finish.apply(low, lower, columns, at);
	}
};

// Writes the 64 x COLUMNS sums of a warp group.
template <int PAIRS, int COLUMNS, typename ROWS>
__device__ __forceinline__ void store_direct(
	const float (&sums)[COLUMNS / 2], output::memory *c, const ROWS &rows)
{
	const epilogue &finish = rows.finish;
	i64 upper = (i64)rows.row * finish.ldc, lower = upper + (i64)finish.ldc * 8;
#pragma unroll
	for (int j = 0; j < COLUMNS / 8; ++j) {
		float high[2], low[2];
		rows.values(sums, j, high, low);
		if (rows.row < finish.m)
			store_pair<PAIRS>(
				c, upper, rows.column + j * 8, finish.n, high[0], high[1]);
		if (rows.row + 8 < finish.m)
			store_pair<PAIRS>(c, lower, rows.column + j * 8, finish.n, low[0], low[1]);
	}
}
