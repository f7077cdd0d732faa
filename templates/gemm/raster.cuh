// Which tile and which share of k a block works on.
#include "common/types.cuh"

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

// Hilbert's curve through a square of `side` x `side` tiles, a power of two: it begins in the corner
// (0, 0), ends in (side - 1, 0), so that squares can be strung along the first direction, and every
// step goes to a neighbour.
__device__ __forceinline__ tile_place hilbert_tile(u32 index, u32 side)
{
	u32 along = 0, across = 0;
	for (u32 half = 1; half < side; half *= 2, index /= 4) {
		u32 right = index / 2 & 1, up = (index ^ right) & 1;
		if (!up) {
			u32 kept = right ? half - 1 - along : along;
			along = right ? half - 1 - across : across;
			across = kept;
		}
		along += half * right;
		across += half * up;
	}
	return {(int)along, (int)across};
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
