// Panels of a matrix product in shared memory: ROWS rows of WIDTH 16-bit elements cut out of a
// matrix with any pitch, for kernels that walk along k. Rows are padded by one chunk of 16 bytes,
// so ldmatrix meets no bank conflict (see row_layout). Plain products of one warp tile follow.
#include "attention/element.cuh"
#include "attention/rows.cuh"
#include "common/mma.cuh"
#pragma once
// Element (r, c) of the panel is source[r * pitch + c]; what lies outside of valid_rows x
// valid_columns is zero. Valid columns are a multiple of 8 (or negative: none) and rows start at
// multiples of 16 bytes.
template <int WIDTH, int ROWS, int BLOCK_THREADS>
__device__ __forceinline__ void panel_load(
	u32 panel, const element_memory *source, i64 pitch, int valid_rows, int valid_columns)
{
	constexpr int chunks = WIDTH / 8;
#pragma unroll
	for (int i = (int)threadIdx.x; i < ROWS * chunks; i += BLOCK_THREADS) {
		int row = i / chunks, chunk = i % chunks;
		bool inside = row < valid_rows && chunk * 8 < valid_columns;
		cp_async<16>(panel + row_layout<WIDTH, false>::offset(row, chunk),
			inside ? source + row * pitch + chunk * 8 : source, inside ? 16 : 0);
	}
}

// C += A B over DEPTH of k, for a warp tile of ROW_TILES * 16 rows and COLUMN_TILES * 8 columns.
// A lies as rows of k. B lies as rows of k, one per column (TRANSPOSED), or as rows of columns, one
// per k. Addresses are those of the warp's first row or column; pitches in bytes.
template <int ROW_TILES, int COLUMN_TILES, int DEPTH, bool TRANSPOSED>
__device__ __forceinline__ void panel_multiply(
	float (&c)[ROW_TILES][COLUMN_TILES][4], u32 a_panel, int a_pitch, u32 b_panel, int b_pitch)
{
	static_assert(COLUMN_TILES % 2 == 0, "ldmatrix brings operands for 16 columns");
	int lane = (int)threadIdx.x % 32;
	u32 a_lane = a_panel + (u32)(lane % 16 * a_pitch + lane / 16 * 16);
	u32 b_lane = b_panel +
		     (u32)(TRANSPOSED ? (lane % 8 + lane / 16 * 8) * b_pitch + lane / 8 % 2 * 16
				      : lane % 16 * b_pitch + lane / 16 * 16);
#pragma unroll
	for (int k = 0; k < DEPTH; k += 16) {
		u32 a[ROW_TILES][4];
#pragma unroll
		for (int r = 0; r < ROW_TILES; r++)
			ldmatrix_x4(a[r], a_lane + (u32)(r * 16 * a_pitch + k * 2));
#pragma unroll
		for (int j = 0; j < COLUMN_TILES / 2; j++) {
			u32 b[4];
			if constexpr (TRANSPOSED)
				ldmatrix_x4(b, b_lane + (u32)(j * 16 * b_pitch + k * 2));
			else
				ldmatrix_x4_trans(b, b_lane + (u32)(k * b_pitch + j * 32));
			const u32 b_low[2] = {b[0], b[1]}, b_high[2] = {b[2], b[3]};
#pragma unroll
			for (int r = 0; r < ROW_TILES; r++) {
				mma_sync<element>::accumulate(c[r][2 * j], a[r], b_low);
				mma_sync<element>::accumulate(c[r][2 * j + 1], a[r], b_high);
			}
		}
	}
}
