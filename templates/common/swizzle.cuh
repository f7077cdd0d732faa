// The exchange of 16-byte chunks in the rows of a tile in shared memory, so that the eight rows of an
// ldmatrix (or lanes that walk down a column) fall into different banks. TMA's swizzles of 128, 64
// and 32 bytes do the same to lines of 8, 4 and 2 chunks.
#include "common/types.cuh"
#pragma once
// Chunks that change places among each other: the largest power of two, at most 8 (the 128 bytes of
// all 32 banks), that divides the chunks of a row. So none ever leaves its row.
constexpr __device__ __forceinline__ int swizzle_panel(int chunks)
{
	return chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
}

// What is XORed to the number of a chunk in row `row`, of rows of CHUNKS: with a panel of p chunks
// 8/p consecutive rows start in different banks by themselves, and only then the XOR changes.
template <int CHUNKS> constexpr __device__ __forceinline__ u32 swizzle(u32 row)
{
	constexpr u32 panel = swizzle_panel(CHUNKS);
	return row / (8 / panel) % panel;
}
