// The multiply loop of a warp group: stages out of the ring, wgmma, stages released. A tile that
// ends early may be multiplied in part: its first BLOCKS blocks of 64 rows, its first COLUMNS
// columns. Sums left out are not stored, and hold anything.
//   QUARTERS     1: a quarter, half or three quarters of the columns (swapped tiles), whose widths
//                are ONE_QUARTER, TWO_QUARTERS, THREE_QUARTERS
//   PART_ROWS    1: some blocks of 64 rows, perhaps none
#include "common/named_barrier.cuh"
#include "hopper/loader.cuh"
#pragma once
// One instruction of n columns, into the first of a tile's sums.
template <int COLUMNS>
__device__ __forceinline__ void multiply(
	float (&sums)[TILE_COLUMNS / 2], u64 rows, u64 columns, u32 add);
#if DTYPE_fp8_e4m3
#define MULTIPLY_TYPE   WGMMA_E4M3
#define MULTIPLY_LAYOUT WGMMA_LAYOUT_ALONG_K
#else
#if DTYPE_fp16
#define MULTIPLY_TYPE WGMMA_FP16
#else
#define MULTIPLY_TYPE WGMMA_BF16
#endif
#define MULTIPLY_LAYOUT WGMMA_LAYOUT(ROWS_TRANSPOSED, COLUMNS_TRANSPOSED)
#endif
#define MULTIPLY_DEFINE(n)                                                                         \
	template <>                                                                                \
	WGMMA_DEFINE_INTO(multiply<n>, TILE_COLUMNS / 2, n, MULTIPLY_TYPE, MULTIPLY_LAYOUT)
MULTIPLY_DEFINE(TILE_COLUMNS)
#if QUARTERS
MULTIPLY_DEFINE(ONE_QUARTER)
MULTIPLY_DEFINE(TWO_QUARTERS)
MULTIPLY_DEFINE(THREE_QUARTERS)
#endif

// Barrier 0 belongs to __syncthreads; each multiplying group has one of its own.
__device__ __forceinline__ void group_barrier(u32 group)
{
	named_barrier_wait(group + 1, 128);
}

// What a multiplying warp group knows: FRAGMENTS times 64 rows from `first_row` on.
template <int FRAGMENTS> struct multiplier {
	typedef float sums_type[FRAGMENTS][TILE_COLUMNS / 2];

	u32 first_row;
	u32 thread;      // 0..127 in the group
	u32 writer_rank; // the block that this thread tells about a free stage, if thread <
			 // stage_writers

	__device__ __forceinline__ multiplier(u32 first_row, u32 thread, const cluster_place &place)
	    : first_row(first_row), thread(thread), writer_rank(place.writer(thread))
	{
	}

	// A stage by its number.
	__device__ __forceinline__ void release(const pipeline &stages, u32 stage) const
	{
		stages.ring.release({stage, 0}, thread, writer_rank);
	}

	// Issues one k step; `add` = 0 starts new sums.
	template <int BLOCKS = FRAGMENTS, int COLUMNS = TILE_COLUMNS>
	__device__ __forceinline__ void step(
		sums_type &sums, const pipeline &stages, const position &at, u32 add) const
	{
		u64 columns = columns_operand::descriptor(stages.columns(at), 0);
		wgmma_fence();
#pragma unroll
		for (int block = 0; block < BLOCKS; ++block) {
			u64 rows =
				rows_operand::descriptor(stages.rows(at), first_row + block * 64);
#pragma unroll
			for (int i = 0; i < instructions_per_step; ++i)
				multiply<COLUMNS>(sums[block],
					wgmma_advance(rows, rows_operand::advance(i)),
					wgmma_advance(columns, columns_operand::advance(i)),
					i ? 1 : add);
		}
		wgmma_commit();
	}

	__device__ __forceinline__ void hold(sums_type &sums) const
	{
#pragma unroll
		for (int fragment = 0; fragment < FRAGMENTS; ++fragment)
			wgmma_hold(sums[fragment]);
	}

	// Multiplies `steps` >= 1 stages into fresh sums, except that the last step stays in
	// flight: a stage is released when the step after it has been issued. Returns the last
	// stage, for finish().
	template <int BLOCKS = FRAGMENTS, int COLUMNS = TILE_COLUMNS>
	__device__ __forceinline__ u32 run(
		sums_type &sums, const pipeline &stages, position &at, i32 steps) const
	{
		u32 previous = at.buffer, add = 0;
		for (; steps > 0; --steps) {
			stages.ring.wait(at);
			step<BLOCKS, COLUMNS>(sums, stages, at, add);
			if (add) {
				wgmma_wait<1>();
				release(stages, previous);
			}
			add = 1;
			previous = at.buffer;
			at.next();
		}
		return previous;
	}

	// The same for a tile with `left` rows of A from this warp group's first on.
	__device__ __forceinline__ u32 run_rows(sums_type &sums, const pipeline &stages,
		position &at, i32 steps, i32 left, u32 group) const
	{
#if QUARTERS
		if (left <= ONE_QUARTER)
			return run<FRAGMENTS, ONE_QUARTER>(sums, stages, at, steps);
		if (left <= TWO_QUARTERS)
			return run<FRAGMENTS, TWO_QUARTERS>(sums, stages, at, steps);
		if (left <= THREE_QUARTERS)
			return run<FRAGMENTS, THREE_QUARTERS>(sums, stages, at, steps);
#elif PART_ROWS
		if (left <= 0)
			return pass_over(stages, at, steps, group);
		if constexpr (FRAGMENTS > 1)
			if (left <= 64)
				return run<1>(sums, stages, at, steps);
		if constexpr (FRAGMENTS > 2)
			if (left <= 128)
				return run<2>(sums, stages, at, steps);
#endif
		return run(sums, stages, at, steps);
	}

	// Multiplies nothing. Stages are released in their order, the last one by finish().
	__device__ __forceinline__ u32 pass_over(
		const pipeline &stages, position &at, i32 steps, u32 group) const
	{
		u32 previous = at.buffer;
		for (; steps > 0; --steps) {
			stages.ring.wait(at);
			// every thread has seen the stage before one of them lets it go
			group_barrier(group);
			if (steps > 1)
				release(stages, at.buffer);
			previous = at.buffer;
			at.next();
		}
		return previous;
	}

	__device__ __forceinline__ void finish(
		sums_type &sums, const pipeline &stages, u32 last) const
	{
		wgmma_wait<0>();
		hold(sums);
		release(stages, last);
	}

	static __device__ __forceinline__ void clear(sums_type &sums)
	{
#pragma unroll
		for (int fragment = 0; fragment < FRAGMENTS; ++fragment)
#pragma unroll
			for (int i = 0; i < TILE_COLUMNS / 2; ++i)
				sums[fragment][i] = 0.0f;
	}
};
