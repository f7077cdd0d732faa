// Tiles that a group's end cuts: what the group does not reach is not multiplied. Of swapped tiles,
// whose rows of A are wgmma's columns, that is quarters; of others blocks of 64 rows (PART_ROWS),
// perhaps all of a warp group's. The sums left out are not stored.
#include "gemm/wgmma_pipeline.cuh"
#include "gemm/wgmma_store.cuh"
#pragma once
#if DTYPE_fp8_e4m3
#define PART_DEFINE(name, n) WGMMA_DEFINE(name, n, WGMMA_E4M3, WGMMA_LAYOUT_ALONG_K)
#elif DTYPE_fp16
#define PART_DEFINE(name, n) WGMMA_DEFINE(name, n, WGMMA_FP16, WGMMA_LAYOUT(0, 0))
#else
#define PART_DEFINE(name, n) WGMMA_DEFINE(name, n, WGMMA_BF16, WGMMA_LAYOUT(0, 0))
#endif
#if QUARTERS
PART_DEFINE(multiply_quarter, ONE_QUARTER)
PART_DEFINE(multiply_half, TWO_QUARTERS)
PART_DEFINE(multiply_three_quarters, THREE_QUARTERS)
#endif

template <int FRAGMENTS> struct part_multiplier : multiplier<FRAGMENTS> {
	typedef multiplier<FRAGMENTS> whole;
	typedef typename whole::sums_type sums_type;
	using whole::whole;

	// multiplier::run, for a tile with `left` rows from this warp group's first to the group's
	// end.
	__device__ __forceinline__ u32 run_rows(sums_type &sums, const pipeline &ring, position &at,
		i32 steps, i32 left, u32 group) const
	{
#if QUARTERS
		if (left <= ONE_QUARTER)
			return run_part<1, FRAGMENTS>(sums, ring, at, steps);
		if (left <= TWO_QUARTERS)
			return run_part<2, FRAGMENTS>(sums, ring, at, steps);
		if (left <= THREE_QUARTERS)
			return run_part<3, FRAGMENTS>(sums, ring, at, steps);
#elif PART_ROWS
		if (left <= 0)
			return pass_over(ring, at, steps, group);
		if constexpr (FRAGMENTS > 1)
			if (left <= 64)
				return run_part<4, 1>(sums, ring, at, steps);
		if constexpr (FRAGMENTS > 2)
			if (left <= 128)
				return run_part<4, 2>(sums, ring, at, steps);
#endif
		return this->run(sums, ring, at, steps);
	}

      private:
	template <int PARTS_OF_4>
	static __device__ __forceinline__ void multiply_part(
		float (&sums)[TILE_COLUMNS / 2], u64 rows, u64 columns, u32 add)
	{
#if QUARTERS
		if constexpr (PARTS_OF_4 == 1)
			multiply_quarter(reinterpret_cast<float(&)[ONE_QUARTER / 2]>(sums), rows,
				columns, add);
		else if constexpr (PARTS_OF_4 == 2)
			multiply_half(reinterpret_cast<float(&)[TWO_QUARTERS / 2]>(sums), rows,
				columns, add);
		else if constexpr (PARTS_OF_4 == 3)
			multiply_three_quarters(
				reinterpret_cast<float(&)[THREE_QUARTERS / 2]>(sums), rows, columns,
				add);
		else
#endif
			multiply(sums, rows, columns, add);
	}

	// multiplier::run, with the first quarters of the tile's columns and the first BLOCKS of 64
	// rows.
	template <int PARTS_OF_4, int BLOCKS>
	__device__ __forceinline__ u32 run_part(
		sums_type &sums, const pipeline &ring, position &at, i32 steps) const
	{
		u32 previous = at.stage, add = 0;
		for (; steps > 0; --steps) {
			mbarrier_wait(ring.full(at.stage), at.parity);
			u64 columns = columns_operand::descriptor(ring.columns(at.stage), 0);
			wgmma_fence();
#pragma unroll
			for (int f = 0; f < BLOCKS; ++f) {
				u64 rows = rows_operand::descriptor(
					ring.rows(at.stage), this->first_row + f * 64);
#pragma unroll
				for (int i = 0; i < instructions_per_step; ++i)
					multiply_part<PARTS_OF_4>(sums[f],
						wgmma_advance(rows, rows_operand::advance(i)),
						wgmma_advance(columns, columns_operand::advance(i)),
						i ? 1 : add);
			}
			wgmma_commit();
			if (add) {
				wgmma_wait<1>();
				this->release(ring, previous);
			}
			add = 1;
			previous = at.stage;
			at.next();
		}
		return previous;
	}

	// Stages are released in their order, the last one by finish().
	__device__ __forceinline__ u32 pass_over(
		const pipeline &ring, position &at, i32 steps, u32 group) const
	{
		u32 previous = at.stage;
		for (; steps > 0; --steps) {
			mbarrier_wait(ring.full(at.stage), at.parity);
			// every thread has seen the stage before one of them lets it go
			group_barrier(group);
			if (steps > 1)
				this->release(ring, at.stage);
			previous = at.stage;
			at.next();
		}
		return previous;
	}
};
