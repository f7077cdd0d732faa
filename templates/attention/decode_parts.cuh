// How the states of warps and of blocks that saw different keys of a unit become its rows of O.
#include "decode_rows.cuh"
#pragma once
// The warps' states become that of key warp 0, by halves.
__device__ __forceinline__ void states_merge(
	row_state &rows, float4 *exchange, int key_warp, int row_warp, int lane)
{
#pragma unroll
	for (int half = KEY_WARPS / 2; half > 0; half /= 2) {
		float4 *place =
			exchange + (key_warp % half * ROW_WARPS + row_warp) * state_vectors + lane;
		if (key_warp >= half && key_warp < 2 * half)
			state_write(rows, [&](int at, float4 value) { place[at] = value; });
		__syncthreads();
		if (key_warp < half)
			state_add(rows, place);
		if (half > 1)
			__syncthreads();
	}
}

// Vector t of a state of a row tile, as rows of O. `out` is the unit's first row, `row` the tile's.
__device__ __forceinline__ void tile_store(
	element_memory *out, int row, int rows, int t, const float (&sum)[4], int lane)
{
#pragma unroll
	for (int i = 0; i < 4; i += 2) {
		int place = row + state_half(i) * 8 + lane / 4, d = state_columns(t, i);
		if (place < rows && (dim_tiles * STATE_HALVES % 2 == 0 || d < dim_tiles))
			*(u32 *)(out + (i64)place * HEAD_DIM_V + d * 8 + lane % 4 * 2) =
				element::store2(sum[i], sum[i + 1]);
	}
}

// A unit's result from the states that `count` blocks have left: part(i, at) is vector `at` of the
// i-th. Each of WORKERS warps has vectors of its own. `emit` gets a row tile's maxima and
// sums, then these tiles.
template <int WORKERS, class PART, class HEAD, class TILE>
__device__ __forceinline__ void parts_combine(
	PART part, int count, int worker, HEAD emit_head, TILE emit_tile)
{
	constexpr int own_tiles = (state_tiles + WORKERS - 1) / WORKERS;
	constexpr int ahead = own_tiles <= 2 ? 8 : 4; // parts whose loads are under way at once
	if (WORKERS > state_tiles && worker >= state_tiles)
		return;
#pragma unroll 1
	for (int r = 0; r < ROW_TILES; r++) {
		int at = r * (state_tiles + 1) * 32;
		float top[2] = {masked_score(), masked_score()}, sum[2] = {0.0f, 0.0f};
#pragma unroll 8
		for (int i = 0; i < count; i++) {
			float4 head = part(i, at);
			top[0] = fmaxf(top[0], head.x);
			top[1] = fmaxf(top[1], head.y);
		}
		float output[own_tiles][4] = {};
#pragma unroll ahead
		for (int i = 0; i < count; i++) {
			float4 head = part(i, at);
			float factor[2] = {exp2_fast(head.x - exponent_offset(top[0])),
				exp2_fast(head.y - exponent_offset(top[1]))};
			sum[0] += head.z * factor[0];
			sum[1] += head.w * factor[1];
#pragma unroll
			for (int j = 0; j < own_tiles; j++) {
				int t = worker + j * WORKERS;
				if (state_tiles % WORKERS != 0 && t >= state_tiles)
					break;
				float4 value = part(i, at + (t + 1) * 32);
				output[j][0] += value.x * factor[0];
				output[j][1] += value.y * factor[0];
				output[j][2] += value.z * factor[state_half(2)];
				output[j][3] += value.w * factor[state_half(2)];
			}
		}
		emit_head(at, top, sum);
#pragma unroll
		for (int j = 0; j < own_tiles; j++) {
			int t = worker + j * WORKERS;
			if (state_tiles % WORKERS != 0 && t >= state_tiles)
				break;
			emit_tile(r, at, t, output[j]);
		}
	}
}

// The same, as rows of O.
template <int WORKERS, class PART>
__device__ __forceinline__ void parts_finish(
	PART part, int count, int worker, element_memory *out, int row, int rows, int lane)
{
	float inverse[2];
	parts_combine<WORKERS>(
		part, count, worker,
		[&](int, const float(&)[2], const float(&sum)[2]) {
			inverse[0] = inverse_sum(quad_sum(sum[0]));
			inverse[1] = inverse_sum(quad_sum(sum[1]));
		},
		[&](int r, int, int t, const float(&sum)[4]) {
			float scaled[4];
#pragma unroll
			for (int i = 0; i < 4; i++)
				scaled[i] = sum[i] * inverse[state_half(i)];
			tile_store(out, row + r * 16, rows, t, scaled, lane);
		});
}

// Whether all others of `count` blocks have left their parts. Called by all threads; what they
// wrote is visible to the last one.
__device__ __forceinline__ bool last_to_arrive(u32 *arrived, int count, bool *answer)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence(); // the arrival publishes what the barrier has gathered
		*answer = atomicInc(arrived, (u32)count - 1) == (u32)count - 1;
		__threadfence();
	}
	__syncthreads();
	return *answer;
}
