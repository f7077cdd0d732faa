// Scales and bias of the ROWS x COLUMNS of a tile that THREADS threads finish. Each asks for its
// share before the multiplication and leaves it in shared memory afterwards: nobody waits for
// memory. In shared memory: scales of rows, scales of columns, bias, all fp32.
#include "epilogue.cuh"
#pragma once
template <int ROWS, int COLUMNS, int THREADS> struct tile_factors {
	static constexpr bool has_rows = scales_rows || scales_all;
	static constexpr int rows_each = (ROWS + THREADS - 1) / THREADS;
	static constexpr int columns_each = (COLUMNS + THREADS - 1) / THREADS;
	static constexpr int columns_at = has_rows ? ROWS : 0;
	static constexpr int bias_at = columns_at + (scales_rows ? COLUMNS : 0);
	static constexpr int bytes = 4 * (bias_at + (adds_bias ? COLUMNS : 0));
	float row[rows_each], column[columns_each], bias[columns_each];

	__device__ __forceinline__ void load(
		const epilogue &finish, i32 first_row, i32 first_column, u32 thread)
	{
#pragma unroll
		for (int i = 0; i < rows_each; ++i) {
			i32 at = min(first_row + (i32)thread + THREADS * i, finish.m - 1);
			if constexpr (has_rows)
				row[i] = finish.scale_a[scales_all ? 0 : at];
		}
#pragma unroll
		for (int i = 0; i < columns_each; ++i) {
			i32 at = min(first_column + (i32)thread + THREADS * i, finish.n - 1);
			if constexpr (has_rows)
				column[i] = finish.scale_b[scales_all ? 0 : at];
			if constexpr (adds_bias)
				bias[i] = bias_type::load(finish.bias_values[at]);
		}
	}

	// Nobody reads `shared` any more; a barrier of the threads has to follow.
	__device__ __forceinline__ void put(float *shared, u32 thread) const
	{
#pragma unroll
		for (int i = 0; i < rows_each; ++i) {
			u32 at = thread + THREADS * i;
			if (has_rows && (ROWS % THREADS == 0 || at < ROWS))
				shared[at] = scales_all ? row[i] * column[0] : row[i];
		}
#pragma unroll
		for (int i = 0; i < columns_each; ++i) {
			u32 at = thread + THREADS * i;
			if (COLUMNS % THREADS != 0 && at >= COLUMNS)
				continue;
			if constexpr (scales_rows)
				shared[columns_at + at] = column[i];
			if constexpr (adds_bias)
				shared[bias_at + at] = bias[i];
		}
	}

	// Of COUNT columns of the tile from a multiple of COUNT on; of one of its rows.
	template <int COUNT>
	static __device__ __forceinline__ epilogue_columns<COUNT> columns(
		const float *shared, u32 column)
	{
		epilogue_columns<COUNT> some = {};
		if constexpr (scales_rows)
			load_run<fp32>(shared + columns_at + column, COUNT, true, some.scale);
		if constexpr (adds_bias)
			load_run<fp32>(shared + bias_at + column, COUNT, true, some.bias);
		return some;
	}
	static __device__ __forceinline__ float row_scale(const float *shared, u32 row)
	{
		return has_rows ? shared[row] : 1.0f;
	}
};
