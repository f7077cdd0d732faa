// Tiles of rows in shared memory, moved by cp.async and read by ldmatrix.
// A row holds COLUMNS 16-bit elements, in chunks of 8 (16 bytes, what cp.async and ldmatrix move).
// Two layouts, both without bank conflicts where 8 rows are read at the same chunk:
//
//   padded     the pitch is an odd number of chunks: 8 rows start in 8 different groups of 4 banks
//   swizzled   no padding; the chunk's place is XORed with bits of the row. 2, 4 or 8k chunks
//
#include "common/cp_async.cuh"
#include "common/ldmatrix.cuh"
#include "common/swizzle.cuh"
#pragma once
template <int COLUMNS, bool SWIZZLED> struct row_layout {
	static_assert(COLUMNS % 16 == 0, "a k step of the tensor cores is two chunks");
	static constexpr int chunks = COLUMNS / 8;
	static_assert(!SWIZZLED || chunks == 2 || chunks == 4 || chunks % 8 == 0,
		"XOR stays inside a row only for these widths");
	static constexpr int pitch_bytes = (SWIZZLED ? chunks : chunks + 1) * 16;

	static __device__ __forceinline__ int twist(int row)
	{
		return SWIZZLED ? (int)swizzle<chunks>((u32)row) : 0;
	}
	static __device__ __forceinline__ u32 offset(int row, int chunk)
	{
		return (u32)(row * pitch_bytes + (chunk ^ twist(row)) * 16);
	}
	// From the address of (row, chunk 0 or 1) to that of the same row, 2*step chunks further.
	// The tile starts at a multiple of 128 bytes, so the XOR meets the chunk's bits alone.
	static __device__ __forceinline__ u32 advance(u32 address, int step)
	{
		u32 bytes = (u32)step * 32u;
		if constexpr (SWIZZLED)
			return (address ^ (bytes & 0x70u)) + (bytes & ~0x70u);
		else
			return address + bytes;
	}
};

// Rows of WIDTH elements, one after another without gap in global memory, into a tile of ROWS rows.
// With EDGE only `valid_rows` of them exist, the others become zeros. Called by all BLOCK_THREADS
// threads.
template <class LAYOUT, int WIDTH, int ROWS, int BLOCK_THREADS, bool EDGE>
__device__ __forceinline__ void rows_load(u32 tile, const void *source, int valid_rows)
{
	constexpr int row_chunks = WIDTH / 8;
	constexpr int total = ROWS * row_chunks;
	constexpr int passes = (total + BLOCK_THREADS - 1) / BLOCK_THREADS;
	// If a pass covers whole rows (and whole periods of the swizzle), addresses advance evenly.
	constexpr int pass_rows = BLOCK_THREADS / row_chunks;
	constexpr bool even = BLOCK_THREADS % row_chunks == 0 &&
			      (LAYOUT::pitch_bytes % 32 == 16 || pass_rows % 8 == 0);
	int thread = (int)threadIdx.x;
	const u8 *from = (const u8 *)source;
	u32 first = LAYOUT::offset(thread / row_chunks, thread % row_chunks);
#pragma unroll
	for (int pass = 0; pass < passes; pass++) {
		int chunk = thread + pass * BLOCK_THREADS;
		if (total % BLOCK_THREADS != 0 && chunk >= total)
			break;
		u32 to = even ? first + (u32)(pass * pass_rows * LAYOUT::pitch_bytes)
			      : LAYOUT::offset(chunk / row_chunks, chunk % row_chunks);
		if constexpr (EDGE) {
			bool inside = chunk < valid_rows * row_chunks;
			cp_async<16>(
				tile + to, inside ? from + (i64)chunk * 16 : from, inside ? 16 : 0);
		} else {
			cp_async<16>(tile + to, from + (i64)chunk * 16);
		}
	}
}

// A tile that may reach past the last row: the common case runs without a test per chunk.
template <class LAYOUT, int WIDTH, int ROWS, int BLOCK_THREADS>
__device__ __forceinline__ void rows_load_any(u32 tile, const void *source, int valid_rows)
{
	if (valid_rows >= ROWS)
		rows_load<LAYOUT, WIDTH, ROWS, BLOCK_THREADS, false>(tile, source, ROWS);
	else
		rows_load<LAYOUT, WIDTH, ROWS, BLOCK_THREADS, true>(tile, source, valid_rows);
}

// Zeros in the last chunk of ROWS rows: rows of an odd number of chunks are padded to whole k
// steps.
template <class LAYOUT, int ROWS, int BLOCK_THREADS>
__device__ __forceinline__ void rows_zero_last_chunk(u8 *tile)
{
	for (int row = (int)threadIdx.x; row < ROWS; row += BLOCK_THREADS)
		*(vec16 *)(tile + LAYOUT::offset(row, LAYOUT::chunks - 1)) = vec16{{0, 0, 0, 0}};
}
