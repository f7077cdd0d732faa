// Swapped tiles' ways from the transposed sums to C.
#include "hopper/direct.cuh"
#include "hopper/staging.cuh"
#pragma once
// Of a warp group: BM rows and FRAGMENTS * 64 columns of C, from (row, column) on.
template <int FRAGMENTS, typename FACTORS> struct swapped_tile {
	const float (&sums)[FRAGMENTS][BM / 2];
	const epilogue &finish;
	const float *factors;
	i32 row, column;
	u32 thread;

	// The pair of columns 2*(thread % 4).. of wgmma's block `block` of 8, for the thread's row
	// of B, or the one 8 further.
	__device__ __forceinline__ void pair(
		int fragment, int block, int lower, float (&values)[2]) const
	{
		u32 in_column = fragment * 64 + thread / 32 * 16 + thread % 32 / 4 + lower * 8;
		epilogue_columns<1> its = FACTORS::template columns<1>(factors, in_column);
#pragma unroll
		for (int e = 0; e < 2; ++e) {
			u32 in_row = block * 8 + thread % 4 * 2 + e;
			float value[1] = {sums[fragment][4 * block + 2 * lower + e]};
			finish.apply(value,
				finish.row(row + (i32)in_row, FACTORS::row_scale(factors, in_row)),
				its, column + (i32)in_column);
			values[e] = value[0];
		}
	}

	// From registers.
	__device__ __forceinline__ void store(output::memory *c) const
	{
#pragma unroll
		for (int block = 0; block < BM / 8; ++block) {
			if (row + block * 8 >= finish.m)
				break;
#pragma unroll
			for (int i = 0; i < FRAGMENTS * 2; ++i) {
				float values[2];
				pair(i / 2, block, i % 2, values);
				i32 to = column + i / 2 * 64 +
					 (i32)(thread / 32 * 16 + thread % 32 / 4) + i % 2 * 8;
				i32 from = row + block * 8 + (i32)thread % 4 * 2;
#pragma unroll
				for (int e = 0; e < 2; ++e)
					if (from + e < finish.m && to < finish.n)
						c[(i64)(from + e) * finish.ldc + to] =
							output::store(values[e]);
			}
		}
	}

	typedef staging<64, 2> buffers;

	// Rounds 64 rows of C and 64 columns into a buffer. Each warp fills 16 columns.
	__device__ __forceinline__ void fill(u32 buffer, int first_block, int fragment) const
	{
		u32 lane = thread % 32, chunk = thread / 32 * 2 + lane / 8 % 2;
#pragma unroll
		for (int j = 0; j < 8; j += 2) {
			u32 words[4];
#pragma unroll
			for (int i = 0; i < 4; ++i) {
				float values[2];
				pair(fragment, first_block + j + i / 2, i % 2, values);
				words[i] = output::store2(values[0], values[1]);
			}
			stmatrix_x4_trans(
				buffer + buffers::place((j + lane / 16) * 8 + lane % 8, chunk),
				words[0], words[1], words[2], words[3]);
		}
	}

	// Through shared memory: 64 rows by TMA where they are the group's, else row by row.
	template <typename STAGING>
	__device__ __forceinline__ void store(
		STAGING &stage, const tensor_map &map, output::memory *c) const
	{
#pragma unroll
		for (int half = 0; half < BM / 64; ++half) {
			i32 first = row + half * 64;
			if (first >= finish.m)
				break;
#pragma unroll
			for (int f = 0; f < FRAGMENTS; ++f) {
				STAGING here = stage;
				here.buffers += stage.at * buffers::buffer_bytes;
				fill(here.buffers, half * 8, f);
				i32 left = column + f * 64;
				if (first + 64 <= finish.m) {
					proxy_fence();
					if (thread == 0)
						tma_store_wait_read<0>();
					group_barrier(stage.group);
					if (thread == 0) {
						tma_store(map, here.buffers, left, first);
						tma_store_commit();
					}
					stage.at ^= 1;
				} else {
					group_barrier(stage.group);
					for (u32 line = thread / 32; line < (u32)(finish.m - first);
						line += 4)
						here.store_piece(
							c + (i64)(first + (i32)line) * finish.ldc +
								left,
							line, min(64, finish.n - left),
							(i32)thread % 32);
					group_barrier(stage.group);
				}
			}
		}
	}
};
