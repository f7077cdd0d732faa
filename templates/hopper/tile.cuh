// The block's tile in shared memory, for every GEMM family on wgmma: where operands lie, how TMA
// fills them, how wgmma finds them. wgmma's m side is called rows, its n side columns; which of A
// and B is which decides the including .cu, by defining before the include:
//   TILE_ROWS, TILE_COLUMNS            the block's tile; TILE_COLUMNS is also the instruction's n
//   ROWS_TRANSPOSED, COLUMNS_TRANSPOSED    1: that operand lies with k outermost in memory
//   SHARE_ROWS, SHARE_COLUMNS          blocks of a cluster that need the same rows (columns): each
//                                      loads one slice of them and multicasts it to the others
// and BK, STAGES from the build.
#include "common/tma.cuh"
#include "common/wgmma.cuh"
#include "gemm/gemm_types.cuh"
#pragma once
constexpr int element_bytes = sizeof(input::memory);
constexpr int cluster_plane = SHARE_ROWS * SHARE_COLUMNS;
constexpr int instructions_per_step = BK * element_bytes / 32; // 32 bytes of k each

static_assert(BK * element_bytes % 128 == 0, "a k step fills whole lines of 128 bytes");

// One operand's tile of EXTENT rows (or columns) by BK.
//   k innermost: lines of 128 bytes along k, [BK*bytes/128][EXTENT][128], swizzled by 128 bytes.
//   transposed:  lines of `span` bytes along EXTENT, [EXTENT*bytes/span][BK][span].
// One box is one TMA copy; SHARE blocks fill it together, by slices of rows (or of k, transposed).
template <int EXTENT, int TRANSPOSED, int SHARE> struct operand {
	static constexpr int extent_bytes = EXTENT * element_bytes;
	static constexpr int span = !TRANSPOSED || extent_bytes % 128 == 0 ? 128
				    : extent_bytes % 64 == 0               ? 64
									   : 32;
	static constexpr int bytes = extent_bytes * BK;
	static constexpr int lines = TRANSPOSED ? BK : EXTENT; // lines of a box
	static constexpr int boxes = bytes / (lines * span);
	static constexpr int slice_lines = lines / SHARE;

	static_assert(lines % (8 * SHARE) == 0, "a slice is made of whole groups of 8 lines");

	// `first` is the tile's first row (column) and k its first k, in elements of the whole
	// matrix.
	static __device__ __forceinline__ void load(u32 tile, const tensor_map &map, u32 barrier,
		i32 first, i32 k, i32 slice, u16 blocks, u64 policy)
	{
		constexpr int span_elements = span / element_bytes;
		u32 destination = tile + slice * slice_lines * span;
#pragma unroll
		for (int box = 0; box < boxes; ++box) {
			i32 inner = (TRANSPOSED ? first : k) + box * span_elements;
			i32 outer = (TRANSPOSED ? k : first) + slice * slice_lines;
			if constexpr (SHARE > 1)
				tma_load_multicast(destination, map, barrier, inner, outer, blocks);
			else if (policy)
				tma_load_hint(destination, map, barrier, inner, outer, policy);
			else
				tma_load(destination, map, barrier, inner, outer);
			destination += lines * span;
		}
	}

	// What wgmma needs for the rows from `offset` on (transposed: whole spans).
	static __device__ __forceinline__ u64 descriptor(u32 tile, u32 offset)
	{
		if constexpr (TRANSPOSED)
			return wgmma_descriptor<span>(
				tile + offset * element_bytes / span * (BK * span), BK * span,
				8 * span);
		else
			return wgmma_descriptor<span>(tile + offset * span, 16, 8 * span);
	}

	// Distance in bytes to the operand of the step's instruction number `index`.
	static constexpr __device__ __forceinline__ u32 advance(int index)
	{
		return TRANSPOSED ? index * (32 / element_bytes) * span
				  : index / 4 * (EXTENT * span) + index % 4 * 32;
	}
};

typedef operand<TILE_ROWS, ROWS_TRANSPOSED, SHARE_ROWS> rows_operand;
typedef operand<TILE_COLUMNS, COLUMNS_TRANSPOSED, SHARE_COLUMNS> columns_operand;

constexpr int stage_bytes = rows_operand::bytes + columns_operand::bytes;

// A block's place in its cluster: ranks run along the blocks that share columns, then along those
// that share rows, then along k.
struct cluster_place {
	u32 rank, row, column, depth;
	__device__ __forceinline__ explicit cluster_place(u32 rank)
	    : rank(rank), row(rank % SHARE_COLUMNS), column(rank / SHARE_COLUMNS % SHARE_ROWS),
	      depth(rank / cluster_plane)
	{
	}

	// The blocks that receive this block's slice of the shared rows, of the shared columns.
	__device__ __forceinline__ u16 row_blocks() const
	{
		u32 mask = 0;
		for (u32 i = 0; i < SHARE_ROWS; ++i)
			mask |= 1u << (row + i * SHARE_COLUMNS + depth * cluster_plane);
		return (u16)mask;
	}
	__device__ __forceinline__ u16 column_blocks() const
	{
		return (u16)(((1u << SHARE_COLUMNS) - 1u) << (rank - row));
	}
	// The n-th of the blocks that write into this block's stages (itself included), which must
	// know when a stage is free: first those that share columns, then the others that share
	// rows.
	__device__ __forceinline__ u32 writer(u32 n) const
	{
		if (n < SHARE_COLUMNS)
			return rank - row + n;
		u32 other = n - SHARE_COLUMNS;
		other += other >= column;
		return row + other * SHARE_COLUMNS + depth * cluster_plane;
	}
};

constexpr int stage_writers = SHARE_ROWS + SHARE_COLUMNS - 1;
