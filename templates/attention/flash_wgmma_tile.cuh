// flash_wgmma's tiles in shared memory: how they lie, how TMA fills them, how wgmma finds them.
// A tile of ROWS rows of Q, K or V lies as [boxes][ROWS][span], lines of `span` bytes along
// head_dim, swizzled by as much. Q and K are read along k = head_dim, V with n = head_dim
// innermost.
#include "attention/element.cuh"
#include "common/swizzle.cuh"
#include "common/tma.cuh"
#include "common/tma_ranks.cuh"
#include "common/wgmma_registers.cuh"
#pragma once
// PADDED_DIM and PADDED_DIM_V are head_dim and head_dim_v in whole k steps of 32 bytes; TMA fills
// what lies beyond with zeros.
constexpr int element_bytes = sizeof(element_memory);
constexpr __device__ __forceinline__ int line_span(int bytes)
{
	return bytes % 128 == 0 ? 128 : bytes % 64 == 0 ? 64 : 32;
}
constexpr int row_bytes = PADDED_DIM * element_bytes;
constexpr int span = line_span(row_bytes), value_span = line_span(PADDED_DIM_V * element_bytes);
constexpr int query_bytes = BM * row_bytes;
constexpr int key_bytes = BN * row_bytes;
constexpr int value_bytes = BN * PADDED_DIM_V * element_bytes;

#if DTYPE_fp16
#define FLASH_TYPE WGMMA_FP16
#elif DTYPE_bf16
#define FLASH_TYPE WGMMA_BF16
#endif
#if DTYPE_fp8_e4m3
WGMMA_DEFINE(multiply_keys, BN, WGMMA_E4M3, WGMMA_LAYOUT_ALONG_K)
#if P_SMEM
WGMMA_DEFINE(multiply_values, PADDED_DIM_V, WGMMA_E4M3, WGMMA_LAYOUT_ALONG_K)
#else
WGMMA_DEFINE_REGISTERS(multiply_values, PADDED_DIM_V, WGMMA_E4M3, WGMMA_LAYOUT_ALONG_K)
#endif
#else
WGMMA_DEFINE(multiply_keys, BN, FLASH_TYPE, WGMMA_LAYOUT(0, 0))
#if P_SMEM
WGMMA_DEFINE(multiply_values, PADDED_DIM_V, FLASH_TYPE, WGMMA_LAYOUT(0, 1))
#else
WGMMA_DEFINE_REGISTERS(multiply_values, PADDED_DIM_V, FLASH_TYPE, WGMMA_LAYOUT_B(1))
#endif
#endif

// Operand of the rows from `row` on, of a tile of ROWS rows with k along its lines of LINE bytes;
// and the distance to that of k step `step`.
template <int ROWS, int LINE = span> __device__ __forceinline__ u64 rows_operand(u32 tile, u32 row)
{
	return wgmma_descriptor<LINE>(tile + row * LINE, 16, 8 * LINE);
}
template <int ROWS, int LINE = span> constexpr __device__ __forceinline__ u32 rows_advance(int step)
{
	constexpr int box_steps = LINE / 32;
	return step / box_steps * (ROWS * LINE) + step % box_steps * 32;
}

#if !DTYPE_fp8_e4m3
// Operand of a tile of V, whose rows are k; and the distance to that of the 16 rows number `step`.
__device__ __forceinline__ u64 values_operand(u32 tile)
{
	return wgmma_descriptor<value_span>(tile, BN * value_span, 8 * value_span);
}
constexpr __device__ __forceinline__ u32 values_advance(int step)
{
	return step * 16 * value_span;
}
#endif

// Where the 16 bytes number `chunk` of a row of such a tile lie, swizzled as TMA does it.
template <int ROWS, int LINE>
__device__ __forceinline__ u32 rows_place(u32 tile, u32 row, u32 chunk)
{
	constexpr u32 chunks = LINE / 16;
	return tile + chunk / chunks * (ROWS * LINE) + row * LINE +
	       ((chunk % chunks) ^ swizzle<chunks>(row)) * 16;
}

// A group's weights, where they go through shared memory: 64 rows with k = keys along the lines.
constexpr int weight_span = line_span(BN * element_bytes);
constexpr int weight_bytes = P_SMEM ? 64 * BN * element_bytes : 0;

// Loads the rows from `row` on of matrix number `matrix`, COLUMNS wide; rows beyond its end become
// zeros. With SHARE > 1 this block loads slice number `slice` for all blocks of the cluster.
template <int ROWS, int COLUMNS, int SHARE>
__device__ __forceinline__ void rows_load(
	u32 tile, const tensor_map &map, u32 barrier, i32 row, i32 matrix, u32 slice)
{
	constexpr int line = line_span(COLUMNS * element_bytes), slice_rows = ROWS / SHARE;
	tile += slice * slice_rows * line;
	row += (i32)slice * slice_rows;
#pragma unroll
	for (int column = 0; column < COLUMNS; column += line / element_bytes) {
		u32 box = tile + column * element_bytes * ROWS;
		if constexpr (SHARE > 1)
			tma_load_multicast(
				box, map, barrier, column, row, matrix, (u16)((1u << SHARE) - 1u));
		else
			tma_load(box, map, barrier, column, row, matrix);
	}
}

// The same for a tile of queries: of PACKED_HEADS heads, those of a query side by side.
__device__ __forceinline__ void queries_load(
	u32 tile, const tensor_map &map, u32 barrier, i32 row, i32 matrix)
{
#pragma unroll
	for (int column = 0; column < PADDED_DIM; column += span / element_bytes)
		tma_load(tile + column * element_bytes * BM, map, barrier, column, 0,
			row / PACKED_HEADS, matrix);
}
