// Tiles in shared memory as operands of mma.sync: how rows lie, where a lane's ldmatrix row is, the
// inner step of both products, and how sums of the first become operands of the second.
#include "common/activation.cuh"
#include "common/ldmatrix.cuh"
#include "common/mma.cuh"
#include "gemm/layout.cuh"
#include "gemm_chain/chain_types.cuh"
#pragma once
// Rows of COLUMNS elements, a multiple of 16, whose 16-byte chunks are exchanged by XOR: neither
// ldmatrix nor cp.async meets bank conflicts. (Rows padded by one chunk have none either, but make
// cp.async up to 1.4 times slower: its rows then straddle the 128-byte lines of shared memory.)
template <int COLUMNS> struct rows_of : swizzled_rows<COLUMNS * 2> {
	static_assert(COLUMNS % 16 == 0, "a k step of the tensor cores is two chunks");
	// The bits of a byte's place in its row that the XOR may change.
	static constexpr u32 panel_bits = swizzled_rows<COLUMNS * 2>::panel * 16 - 1;
};

// Where a lane reads in 16 x 16 pieces of a tile: row lane % 16, columns 8 * (lane / 16). With
// ldmatrix that is an A operand from rows of k; transposed, a B operand from rows of columns.
template <typename LAYOUT> struct lane_view {
	u32 start;

	__device__ __forceinline__ explicit lane_view(int lane)
	{
		start = (u32)LAYOUT::offset(lane % 16, lane / 16 * 16);
	}

	// Rows from 16 * row16 on, columns from 16 * column16 on. The XOR's pattern repeats every 8
	// rows and the tile starts at a multiple of 128 bytes, so that only the columns meet it.
	__device__ __forceinline__ u32 address(u32 tile, int row16, int column16) const
	{
		u32 bytes = (u32)(column16 * 32);
		return tile + (u32)(row16 * 16 * LAYOUT::row_bytes) +
		       (start ^ (bytes & LAYOUT::panel_bits)) + (bytes & ~LAYOUT::panel_bits);
	}
};

// ROWS16 * 16 rows of an A operand, 16 of k.
template <int ROWS16, typename LAYOUT>
__device__ __forceinline__ void operand_load(
	u32 (&a)[ROWS16][4], const lane_view<LAYOUT> &view, u32 tile, int row16, int k16)
{
#pragma unroll
	for (int r = 0; r < ROWS16; r++)
		ldmatrix_x4(a[r], view.address(tile, row16 + r, k16));
}

// sum += A B over 16 of k: A in registers, B as rows of columns in shared memory, COLUMNS16 * 16
// columns wide.
template <int ROWS16, int COLUMNS16, typename LAYOUT>
__device__ __forceinline__ void multiply_step(float (&sum)[ROWS16][2 * COLUMNS16][4],
	const u32 (&a)[ROWS16][4], const lane_view<LAYOUT> &view, u32 tile, int k16, int column16)
{
#pragma unroll
	for (int j = 0; j < COLUMNS16; j++) {
		u32 b[4];
		ldmatrix_x4_trans(b, view.address(tile, k16, column16 + j));
		const u32 low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
#pragma unroll
		for (int r = 0; r < ROWS16; r++) {
			mma_sync<element>::accumulate(sum[r][2 * j], a[r], low);
			mma_sync<element>::accumulate(sum[r][2 * j + 1], a[r], high);
		}
	}
}

template <int ROWS16, int COLUMNS8>
__device__ __forceinline__ void sums_clear(float (&sum)[ROWS16][COLUMNS8][4])
{
#pragma unroll
	for (int r = 0; r < ROWS16; r++)
#pragma unroll
		for (int j = 0; j < COLUMNS8; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				sum[r][j][i] = 0.0f;
}

// act(T), rounded: 16 columns of T's sums, from 16 * column16 on, as 16 of k of an A operand.
template <int ROWS16, int COLUMNS8>
__device__ __forceinline__ void operand_round(
	u32 (&operand)[ROWS16][4], const float (&t)[ROWS16][COLUMNS8][4], int column16)
{
#pragma unroll
	for (int r = 0; r < ROWS16; r++)
#pragma unroll
		for (int side = 0; side < 2; side++) {
			const float(&x)[4] = t[r][2 * column16 + side];
			operand[r][2 * side] = element::store2(activate(x[0]), activate(x[1]));
			operand[r][2 * side + 1] = element::store2(activate(x[2]), activate(x[3]));
		}
}
