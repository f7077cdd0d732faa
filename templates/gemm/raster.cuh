// Which tile and which share of k a block works on.
#include "common/types.cuh"
#pragma once
struct tile_place {
	int m, n; // tile indices
};

// Blocks run roughly in order of their index, so neighbours in time should share rows of A and
// columns of B in L2. The tiles are walked in bands of group_m tile rows; inside a band down the
// rows first. group_m = 1 walks row by row; group_m >= the tile rows walks column by column.
__device__ __forceinline__ tile_place grouped_tile(u32 block, u32 tiles_m, u32 tiles_n, u32 group_m)
{
	u32 band_tiles = group_m * tiles_n;
	u32 first = block / band_tiles * group_m;
	u32 height = tiles_m - first < group_m ? tiles_m - first : group_m;
	u32 inside = block % band_tiles;
	return {(int)(first + inside % height), (int)(inside / height)};
}

struct k_share {
	int first, count; // steps of BK
};

// The steps of a sum are dealt in equal runs, the last ones shorter or empty.
__device__ __forceinline__ k_share share_of_k(int steps, int split, int splits)
{
	int run = ceil_div(steps, splits);
	i64 first = (i64)split * run;
	i64 left = steps - first;
	return {(int)(left > 0 ? first : 0), (int)(left < 0 ? 0 : left < run ? left : run)};
}
