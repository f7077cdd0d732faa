// Which tile of which group a block works on.
#include "common/types.cuh"
#pragma once
// Where the rows of a group lie in A and C: one group after the other, or, LAYOUT_masked, at the
// beginning of a room of its own.
struct group_rows {
	const i32 *offsets; // contiguous: groups + 1
	const i32 *counts;  // masked: groups
	i32 room;           // masked: rows of A from group to group

	__device__ __forceinline__ i32 first(i32 group) const
	{
#if LAYOUT_masked
		return group * room;
#else
		return offsets[group];
#endif
	}
	__device__ __forceinline__ i32 end(i32 group) const
	{
#if LAYOUT_masked
		return group * room + min(counts[group], room);
#else
		return offsets[group + 1];
#endif
	}
};

// A tile of a group's part of C.
struct group_tile {
	i32 group;
	i32 row, end; // its first row; where the group ends
	i32 column;
};

// The tiles of all groups, one group after the other, in a group down the rows first: neighbours
// read the same columns of B. A warp walks through them together; it looks at 32 groups at once.
template <int ROWS, int COLUMNS> struct group_walk {
	group_rows rows;
	i32 groups, across; // across: tiles along N
	i32 base, before;   // the first of 32 groups, and the tiles of those before it
	i32 tiles;          // of this lane's group and of those of lower lanes

	__device__ __forceinline__ group_walk(const group_rows &rows, i32 groups, i32 n)
	    : rows(rows), groups(groups), across(ceil_div(n, COLUMNS)), base(0), before(0)
	{
		look();
	}

	// Number `unit`, not below that of the last call; false behind the last tile.
	__device__ __forceinline__ bool find(i32 unit, group_tile &tile)
	{
		u32 found;
		while (!(found = __ballot_sync(0xffffffffu, unit - before < tiles))) {
			before += __shfl_sync(0xffffffffu, tiles, 31);
			base += 32;
			if (base >= groups)
				return false;
			look();
		}
		i32 at = __ffs((int)found) - 1;
		tile.group = base + at;
		tile.end = rows.end(tile.group);
		i32 first = rows.first(tile.group), down = rows_of_tiles(tile.end - first);
		unit -= before + __shfl_sync(0xffffffffu, tiles, at) - down * across;
		tile.row = first + unit % down * ROWS;
		tile.column = unit / down * COLUMNS;
		return true;
	}

      private:
	static __device__ __forceinline__ i32 rows_of_tiles(i32 rows)
	{
		return rows > 0 ? ceil_div(rows, ROWS) : 0;
	}
	__device__ __forceinline__ void look()
	{
		i32 lane = (i32)threadIdx.x % 32, mine = base + lane;
		tiles = mine < groups ? rows_of_tiles(rows.end(mine) - rows.first(mine)) * across
				      : 0;
#pragma unroll
		for (i32 distance = 1; distance < 32; distance *= 2) {
			i32 lower = __shfl_sync(0xffffffffu, tiles, max(lane - distance, 0));
			tiles += lane >= distance ? lower : 0;
		}
	}
};
