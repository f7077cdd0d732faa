// Copying the tile of a matrix from global into shared memory by all threads of a block.
//
// A tile has ROWS rows of COLS elements; COLS runs along memory. It moves in pieces of WIDTH
// elements, as wide as the matrix's pitch keeps aligned: the threads form a grid of thread_rows x
// thread_cols pieces that passes over the tile. Whole tiles are copied without any test; tiles at
// an edge read only what lies inside and are filled up with zeros, which add nothing to a sum.
#include "common/cp_async.cuh"
#pragma once
template <typename MEMORY, int ROWS, int COLS, int WIDTH, int THREADS, typename LAYOUT>
struct tile_copy {
	static constexpr int element_bytes = sizeof(MEMORY);
	static constexpr int piece_bytes = WIDTH * element_bytes;
	// cp.async moves at least 4 bytes. Narrower elements at odd addresses pass through
	// registers, two at a time, because shared memory is written by words.
	static constexpr bool by_element = piece_bytes < 4;
	static constexpr int piece = by_element ? 4 / element_bytes : WIDTH;
	static constexpr int pieces = COLS / piece; // per row
	static_assert(COLS % piece == 0, "a row is made of whole pieces");
	static_assert(!by_element || element_bytes == 2, "8-bit elements need an aligned pitch");

	static constexpr int thread_cols = pieces < THREADS ? pieces : THREADS;
	static constexpr int thread_rows = THREADS / thread_cols;
	static constexpr int col_passes = (pieces + thread_cols - 1) / thread_cols;
	static constexpr int row_passes = (ROWS + thread_rows - 1) / thread_rows;
	static constexpr int passes = row_passes * col_passes;

	const MEMORY *matrix; // an address that can always be read
	const MEMORY *source; // this thread's first piece in the tile to copy next
	i64 pass_pitch;       // elements from one row pass to the next
	int row, col;         // that piece's place in the tile

	// `start` is the tile's first element, inside the matrix.
	__device__ __forceinline__ tile_copy(const MEMORY *base, const MEMORY *start, i64 pitch)
	{
		row = (int)threadIdx.x / thread_cols;
		col = (int)threadIdx.x % thread_cols * piece;
		matrix = base;
		source = start + row * pitch + col;
		pass_pitch = thread_rows * pitch;
	}

	__device__ __forceinline__ void advance(i64 elements)
	{
		source += elements;
	}

	// Whether this thread has a piece in a pass; a constant true wherever the threads fit
	// evenly.
	__device__ __forceinline__ bool has_piece(int row_pass, int col_pass) const
	{
		return (thread_rows * thread_cols == THREADS || row < thread_rows) &&
		       ((row_pass + 1) * thread_rows <= ROWS ||
			       row + row_pass * thread_rows < ROWS) &&
		       ((col_pass + 1) * thread_cols <= pieces ||
			       col / piece + col_pass * thread_cols < pieces);
	}

	// How many elements of a piece lie inside, of a tile with that many rows and columns
	// inside.
	__device__ __forceinline__ int inside(int row_pass, int col_pass, int rows, int cols) const
	{
		int left = cols - (col + col_pass * thread_cols * piece);
		left = left < 0 ? 0 : left > piece ? piece : left;
		return row + row_pass * thread_rows < rows ? left : 0;
	}

	// Where element e of a piece goes.
	__device__ __forceinline__ u32 target(u32 tile, int row_pass, int col_pass, int e = 0) const
	{
		return tile + LAYOUT::offset(row + row_pass * thread_rows,
				      (col + col_pass * thread_cols * piece + e) * element_bytes);
	}

	// Calls visit(pass, row_pass, col_pass, address) for each piece of this thread.
	template <typename VISIT> __device__ __forceinline__ void each_piece(VISIT visit) const
	{
		const MEMORY *line = source;
#pragma unroll
		for (int row_pass = 0; row_pass < row_passes; row_pass++) {
#pragma unroll
			for (int col_pass = 0; col_pass < col_passes; col_pass++)
				if (has_piece(row_pass, col_pass))
					visit(row_pass * col_passes + col_pass, row_pass, col_pass,
						line + col_pass * thread_cols * piece);
			line += pass_pitch;
		}
	}

	// Starts copying; the caller commits the group. WHOLE: the tile lies inside the matrix;
	// else it has `rows` rows and `cols` columns inside (0 and less are fine).
	template <bool WHOLE>
	__device__ __forceinline__ void start(u32 tile, int rows, int cols) const
	{
		if constexpr (by_element) {
			copy_elements<WHOLE>(tile, rows, cols);
		} else if constexpr (WHOLE) {
			// Many narrow pieces: unrolled to the end, their addresses would fill the
			// registers.
			constexpr int unroll = passes <= 16 ? row_passes : 4;
			const MEMORY *line = source;
#pragma unroll unroll
			for (int row_pass = 0; row_pass < row_passes; row_pass++) {
#pragma unroll
				for (int col_pass = 0; col_pass < col_passes; col_pass++)
					if (has_piece(row_pass, col_pass))
						cp_async<piece_bytes>(
							target(tile, row_pass, col_pass),
							line + col_pass * thread_cols * piece);
				line += pass_pitch;
			}
		} else {
			// A rolled loop: unrolled, the compiler would mix it, predicated, into the
			// whole tiles' path.
#pragma unroll 1
			for (int pass = 0; pass < passes; pass++) {
				int row_pass = pass / col_passes, col_pass = pass % col_passes;
				if (!has_piece(row_pass, col_pass))
					continue;
				int count = inside(row_pass, col_pass, rows, cols);
				const MEMORY *from = source + row_pass * pass_pitch +
						     col_pass * thread_cols * piece;
				cp_async<piece_bytes>(target(tile, row_pass, col_pass),
					count > 0 ? from : matrix, count * element_bytes);
			}
		}
	}

	// The same copy in two halves, for a register prefetch of 4-byte elements: fetch reads,
	// put writes to shared memory later.
	template <bool WHOLE>
	__device__ __forceinline__ void fetch(u32 (&word)[passes * WIDTH], int rows, int cols) const
	{
		static_assert(element_bytes == 4, "registers hold whole words");
		each_piece([&](int pass, int row_pass, int col_pass, const MEMORY *from) {
			int count = WHOLE ? piece : inside(row_pass, col_pass, rows, cols);
			if (WIDTH == 4 && count == 4) {
				vec16 four = *(const vec16 *)from;
#pragma unroll
				for (int e = 0; e < WIDTH; e++)
					word[pass * WIDTH + e] = four.word[e % 4];
				return;
			}
#pragma unroll
			for (int e = 0; e < WIDTH; e++)
				word[pass * WIDTH + e] = e < count ? ((const u32 *)from)[e] : 0;
		});
	}

	__device__ __forceinline__ void put(u32 tile, const u32 (&word)[passes * WIDTH]) const
	{
		each_piece([&](int pass, int row_pass, int col_pass, const MEMORY *) {
			if constexpr (WIDTH == 4 && LAYOUT::whole_chunks)
				asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(
						     target(tile, row_pass, col_pass)),
					     "r"(word[pass * WIDTH]), "r"(word[pass * WIDTH + 1]),
					     "r"(word[pass * WIDTH + 2]),
					     "r"(word[pass * WIDTH + 3])
					     : "memory");
			else
#pragma unroll
				for (int e = 0; e < WIDTH; e++)
					store_word(target(tile, row_pass, col_pass, e),
						word[pass * WIDTH + e]);
		});
	}

      private:
	static __device__ __forceinline__ void store_word(u32 address, u32 word)
	{
		asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
	}

	// Pairs of 16-bit elements at addresses of which nothing is known. A batch of loads comes
	// before the batch's first store, so that they are in flight together, and few enough to
	// stay in registers.
	template <bool WHOLE>
	__device__ __forceinline__ void copy_elements(u32 tile, int rows, int cols) const
	{
		constexpr int batch = 8;
		const MEMORY *line = source;
#pragma unroll(WHOLE ? passes : 1)
		for (int first = 0; first < passes; first += batch) {
			u32 low[batch], high[batch];
#pragma unroll
			for (int b = 0; b < batch; b++) {
				int row_pass = (first + b) / col_passes,
				    col_pass = (first + b) % col_passes;
				const MEMORY *from = line + col_pass * thread_cols * piece;
				if (first + b < passes && has_piece(row_pass, col_pass)) {
					int count = WHOLE ? piece
							  : inside(row_pass, col_pass, rows, cols);
					low[b] = count > 0 ? (u32)from[0] : 0;
					high[b] = count > 1 ? (u32)from[1] : 0;
				}
				if (col_pass == col_passes - 1)
					line += pass_pitch;
			}
#pragma unroll
			for (int b = 0; b < batch; b++) {
				int row_pass = (first + b) / col_passes,
				    col_pass = (first + b) % col_passes;
				if (first + b < passes && has_piece(row_pass, col_pass))
					store_word(target(tile, row_pass, col_pass),
						low[b] | high[b] << 16);
			}
		}
	}
};
