// Where an element of a tile lies in shared memory. A layout answers offset(row, byte): the byte
// address, from the tile's start, of byte `byte` of row `row`. whole_chunks: 16-byte chunks of a
// row stay together and aligned.
#include "common/swizzle.cuh"
#pragma once
// Rows of ROW_BYTES, unpadded, whose 16-byte chunks are exchanged by XOR (common/swizzle.cuh).
//
// SPREAD 1 serves accesses of 16 bytes per row. SPREAD 2 serves accesses of 32 bytes per row, as
// four rows of eight 32-bit elements: neighbouring rows are then moved by whole pairs of chunks.
template <int ROW_BYTES, int SPREAD = 1> struct swizzled_rows {
	static_assert(ROW_BYTES % 16 == 0, "a row is made of 16-byte chunks");
	static constexpr int row_bytes = ROW_BYTES;
	static constexpr int chunks = ROW_BYTES / 16;
	static constexpr int panel = swizzle_panel(chunks);
	static constexpr bool whole_chunks = true;

	// What is XORed to the byte within the row.
	static __device__ __forceinline__ int mask(int row)
	{
		return SPREAD * (row / (8 / panel)) % panel * 16;
	}

	static __device__ __forceinline__ int offset(int row, int byte)
	{
		return row * ROW_BYTES + (byte ^ mask(row));
	}
};

// Rows of ROW_BYTES that are PAD_BYTES apart.
template <int ROW_BYTES, int PAD_BYTES> struct padded_rows {
	static constexpr int row_bytes = ROW_BYTES + PAD_BYTES;
	static constexpr bool whole_chunks = row_bytes % 16 == 0;
	static __device__ __forceinline__ int offset(int row, int byte)
	{
		return row * row_bytes + byte;
	}
};

// The transpose of ROWS rows of 4-byte elements: element (row, column) lies in row `column`, and
// these are PAD_BYTES apart. One element at a time can be written.
template <int ROWS, int PAD_BYTES> struct transposed_rows {
	static constexpr int row_bytes = ROWS * 4 + PAD_BYTES;
	static constexpr bool whole_chunks = false;
	static __device__ __forceinline__ int offset(int row, int byte)
	{
		return byte / 4 * row_bytes + row * 4;
	}
};
