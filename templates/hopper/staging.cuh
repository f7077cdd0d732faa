// A warp group's way to 16-bit C through shared memory, by one of two ways from there.
//
//   store_boxes  C whose rows are 16-byte aligned: stmatrix into a ring of small buffers, from
//                there by TMA while the group goes on
//   store_rows   C of any pitch: the same buffers, then row pieces by each warp
#include "common/stmatrix.cuh"
#include "hopper/mainloop.cuh"
#pragma once
#if OUT_DTYPE_fp16 || OUT_DTYPE_bf16
// The buffers of one warp group: DEPTH times 64 rows x BOX columns.
template <int BOX, int DEPTH> struct staging {
	static constexpr int line_bytes = BOX * 2;
	static constexpr int buffer_bytes = 64 * line_bytes;

	u32 buffers; // shared address, aligned to 1024 bytes
	u32 group, thread;
	u32 at = 0;

	// Spreads the 16-byte columns of 8 rows over the banks. TMA undoes it: a swizzle of the
	// line's width. Lines of an odd number of 16-byte columns are spread already and lie as
	// they are.
	static __device__ __forceinline__ u32 place(u32 row, u32 chunk)
	{
		u32 turn = line_bytes == 128  ? row % 8
			   : line_bytes == 64 ? row / 2 % 4
			   : line_bytes == 32 ? row / 4 % 2
					      : 0;
		return row * line_bytes + (chunk ^ turn) * 16;
	}

	// Rounds the sums of box number `box` into a buffer. Each warp fills 16 rows.
	template <int COLUMNS, typename ROWS>
	__device__ __forceinline__ void fill(
		const float (&sums)[COLUMNS / 2], const ROWS &rows, u32 buffer, int box) const
	{
		u32 lane = thread % 32;
		u32 line = thread / 32 * 16 + lane % 16;
#pragma unroll
		for (int j = 0; j < BOX / 8; j += 2) {
			u32 words[4];
#pragma unroll
			for (int i = 0; i < 2; ++i) {
				// The last block of 8 columns may have no partner.
				if (j + i >= BOX / 8)
					continue;
				float high[2], low[2];
				rows.values(sums, box * BOX / 8 + j + i, high, low);
				words[2 * i] = output::store2(high[0], high[1]);
				words[2 * i + 1] = output::store2(low[0], low[1]);
			}
			if (j + 1 < BOX / 8)
				stmatrix_x4(buffer + place(line, j + lane / 16), words[0], words[1],
					words[2], words[3]);
			else
				stmatrix_x2(buffer + place(line, j), words[0], words[1]);
		}
	}

	// Writes 64 x COLUMNS sums to the matrix of `map` at (row, column).
	template <int COLUMNS, typename ROWS>
	__device__ __forceinline__ void store_boxes(const float (&sums)[COLUMNS / 2],
		const ROWS &rows, const tensor_map &map, i32 row, i32 column)
	{
		static_assert(DEPTH >= 2, "one buffer is written while another is read");
#pragma unroll
		for (int box = 0; box < COLUMNS / BOX; ++box) {
			u32 buffer = buffers + at * buffer_bytes;
			fill<COLUMNS>(sums, rows, buffer, box);
			proxy_fence();
			// Once the copy before the last DEPTH - 1 has been read, the next buffer is
			// free.
			if (thread == 0)
				tma_store_wait_read<DEPTH - 2>();
			group_barrier(group);
			if (thread == 0) {
				tma_store(map, buffer, column + box * BOX, row);
				tma_store_commit();
			}
			at = at + 1 == DEPTH ? 0 : at + 1;
		}
	}

	// Before the block ends, its shared memory must have been read.
	__device__ __forceinline__ void finish() const
	{
		if (STORE == 1 && thread == 0)
			tma_store_wait_read<0>();
	}

	static __device__ __forceinline__ u32 element(u32 buffer, u32 row, u32 column)
	{
		u16 value;
		asm volatile("ld.shared.u16 %0, [%1];"
			     : "=h"(value)
			     : "r"(buffer + place(row, column / 8) + column % 8 * 2)
			     : "memory");
		return value;
	}

	// A warp writes the first `count` columns of a line of the buffer to `to`. Lanes write the
	// aligned words inside it, and its two ends by single elements.
	__device__ __forceinline__ void store_piece(u16 *to, u32 line, i32 count, i32 lane) const
	{
		i32 odd = (i32)((u64)to / 2 & 1);
#pragma unroll
		for (i32 base = 0; base < BOX; base += 64) {
			i32 from = base + 2 * lane - odd;
			bool low = from >= 0 && from < count, high = from + 1 < count;
			u32 value = low ? element(buffers, line, from) : 0;
			if (high)
				value |= element(buffers, line, from + 1) << 16;
			if (low && high)
				*(u32 *)(to + from) = value;
			else if (low)
				to[from] = (u16)value;
			else if (high)
				to[from + 1] = (u16)(value >> 16);
		}
		// The one element that an odd beginning pushed out of the last 64.
		if (BOX % 64 == 0 && odd && lane == 0 && count == BOX)
			to[BOX - 1] = (u16)element(buffers, line, BOX - 1);
	}

	// Writes 64 x COLUMNS sums to C of any pitch, every warp the lines that it filled.
	template <int COLUMNS, typename ROWS>
	__device__ __forceinline__ void store_rows(const float (&sums)[COLUMNS / 2],
		const ROWS &rows, u16 *c, i32 row, i32 column) const
	{
		const i32 m = rows.finish.m, n = rows.finish.n, ldc = rows.finish.ldc;
		i32 lane = thread % 32;
		u32 first_line = thread / 32 * 16;
#pragma unroll
		for (int box = 0; box < COLUMNS / BOX; ++box) {
			fill<COLUMNS>(sums, rows, buffers, box);
			__syncwarp();
			i32 count = min(BOX, n - column - box * BOX);
			i32 lines = min(16, m - row - (i32)first_line);
#pragma unroll 2
			for (i32 line = 0; line < lines; ++line)
				store_piece(c + (i64)(row + (i32)first_line + line) * ldc + column +
						    box * BOX,
					first_line + line, count, lane);
			__syncwarp();
		}
	}
};
#endif
