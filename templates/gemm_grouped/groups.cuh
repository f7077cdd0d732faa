// Which tile of which group a block works on.
#include "common/convert.cuh"
#pragma once
#if DTYPE_fp16
typedef fp16 element;
#else
typedef bf16 element;
#endif

// A tile of a group's part of C.
struct group_tile {
	i32 group;
	i32 row, end; // its first row; where the group ends
	i32 column;
};

// The tiles of all groups, one group after the other, in a group down the rows first: neighbours
// read the same columns of B. All lanes of a warp call this with the same unit; false behind the
// last tile.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ bool group_tile_find(
	const i32 *offsets, i32 groups, i32 n, i32 unit, group_tile &tile)
{
	i32 lane = (i32)threadIdx.x % 32, across = ceil_div(n, COLUMNS);
	for (i32 base = 0; base < groups; base += 32) {
		i32 mine = min(base + lane, groups - 1);
		i32 begin = offsets[mine], end = base + lane < groups ? offsets[mine + 1] : begin;
		for (i32 i = 0; i < 32; ++i) {
			i32 first = __shfl_sync(0xffffffffu, begin, i);
			i32 last = __shfl_sync(0xffffffffu, end, i);
			i32 down = (last - first + ROWS - 1) / ROWS; // 0 of no rows
			if (unit < down * across) {
				tile.group = base + i;
				tile.row = first + unit % down * ROWS;
				tile.end = last;
				tile.column = unit / down * COLUMNS;
				return true;
			}
			unit -= down * across;
		}
	}
	return false;
}
