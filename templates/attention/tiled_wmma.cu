// The tiles of tiled_simt, with 16x16x16 tensor-core fragments wherever one is full and CUDA cores
// for what remains: rows from BM/16*16 on, keys from BN/16*16 on, and half a fragment of head_dim.
// wmma wants rows of S in whole 16 bytes and its operand P in 16 bits, so the shared memory
// differs: S has 4 BM round_up(BN, 4) bytes, P has 2 BM round_up(BN, 8).
#include "attention/tiled.cuh"
#include "common/wmma.cuh"

constexpr int scores_pitch = (BN + 3) / 4 * 4;
constexpr int weights_pitch = (BN + 7) / 8 * 8;
constexpr int full_rows = BM / 16 * 16;
constexpr int full_keys = BN / 16 * 16;
constexpr int full_dim = head_dim / 16 * 16;

struct block_tiles {
	alignas(32) element_memory queries[BM * head_dim];
	alignas(32) element_memory keys[BN * head_dim];
	alignas(32) element_memory values[BN * head_dim];
	alignas(32) float output[BM * head_dim];
	alignas(32) float scores[BM * scores_pitch];
	alignas(32) element_memory weights[BM * weights_pitch];
	alignas(32) float top[BM];
	float sum[BM];
};
static_assert(sizeof(block_tiles) == SMEM, "tiled_wmma.json's smem_bytes");

// Dot product of one query and one key over elements first..head_dim-1 (a multiple of 8).
__device__ __forceinline__ float dot(
	const element_memory *query, const element_memory *key, int first)
{
	float sum = 0.0f;
#pragma unroll 2
	for (int d = first; d < head_dim; d += 8) {
		vec16 a = *(const vec16 *)(query + d), b = *(const vec16 *)(key + d);
#pragma unroll
		for (int e = 0; e < 8; e++)
			sum = fmaf(element::load((element_memory)(a.word[e / 2] >> 16 * (e % 2))),
				element::load((element_memory)(b.word[e / 2] >> 16 * (e % 2))),
				sum);
	}
	return sum;
}

__device__ __forceinline__ void scores_compute(
	float *scores, const element_memory *queries, const element_memory *keys)
{
	int warp = (int)threadIdx.x / 32;
	constexpr int key_fragments = full_keys / 16;
	for (int f = warp; f < full_rows / 16 * key_fragments; f += block_warps) {
		int row = f / key_fragments * 16, key = f % key_fragments * 16;
		wmma_accumulator c = wmma_zero();
#pragma unroll
		for (int d = 0; d < full_dim; d += 16)
			wmma<element>::accumulate_transposed(c,
				wmma<element>::load_a(queries + row * head_dim + d, head_dim),
				wmma<element>::load_b_transposed(
					keys + key * head_dim + d, head_dim));
		wmma_store(scores + row * scores_pitch + key, scores_pitch, c);
	}
	if constexpr (full_dim != head_dim && full_rows > 0 && full_keys > 0) {
		__syncthreads();
		for (int i = (int)threadIdx.x; i < full_rows * full_keys; i += block_threads) {
			int row = i / full_keys, key = i % full_keys;
			scores[row * scores_pitch + key] +=
				dot(queries + row * head_dim, keys + key * head_dim, full_dim);
		}
	}
	// Beside the full fragments, then below them.
	constexpr int beside = BN - full_keys;
	constexpr int below = BM - full_rows;
	for (int i = (int)threadIdx.x; i < full_rows * beside + below * BN; i += block_threads) {
		int row, key;
		if (i < full_rows * beside) {
			row = i / (beside > 0 ? beside : 1);
			key = full_keys + i % (beside > 0 ? beside : 1);
		} else {
			row = full_rows + (i - full_rows * beside) / BN;
			key = (i - full_rows * beside) % BN;
		}
		scores[row * scores_pitch + key] =
			dot(queries + row * head_dim, keys + key * head_dim, 0);
	}
}

// Two neighbouring columns of the output: sum over keys first..BN-1 of weight x value.
__device__ __forceinline__ void output_add_pair(float *output, const element_memory *weights,
	const element_memory *values, int row, int column, int first)
{
	float low = 0.0f, high = 0.0f;
#pragma unroll 4
	for (int key = first; key < BN; key++) {
		float p = element::load(weights[row * weights_pitch + key]);
		u32 v = *(const u32 *)(values + key * head_dim + column);
		low = fmaf(p, element::load((element_memory)v), low);
		high = fmaf(p, element::load((element_memory)(v >> 16)), high);
	}
	output[row * head_dim + column] += low;
	output[row * head_dim + column + 1] += high;
}

__device__ __forceinline__ void output_add(
	float *output, const element_memory *weights, const element_memory *values)
{
	int warp = (int)threadIdx.x / 32;
	constexpr int dim_fragments = full_dim / 16;
	for (int f = warp; f < full_rows / 16 * dim_fragments; f += block_warps) {
		int row = f / dim_fragments * 16, column = f % dim_fragments * 16;
		float *tile = output + row * head_dim + column;
		wmma_accumulator c = wmma_load(tile, head_dim);
		for (int key = 0; key < full_keys; key += 16)
			wmma<element>::accumulate(c,
				wmma<element>::load_a(
					weights + row * weights_pitch + key, weights_pitch),
				wmma<element>::load_b(values + key * head_dim + column, head_dim));
		wmma_store(tile, head_dim, c);
	}
	if constexpr (full_rows == BM && full_keys == BN && full_dim == head_dim)
		return;
	__syncthreads();
	constexpr int pairs = head_dim / 2;
	for (int i = (int)threadIdx.x; i < BM * pairs; i += block_threads) {
		int row = i / pairs, column = i % pairs * 2;
		bool in_fragment = row < full_rows && column < full_dim;
		if (!in_fragment || full_keys != BN)
			output_add_pair(
				output, weights, values, row, column, in_fragment ? full_keys : 0);
	}
}

extern "C" __global__ void __launch_bounds__(block_threads, MIN_BLOCKS)
	tiled_wmma(const element_memory *Q, const element_memory *K, const element_memory *V,
		element_memory *O, int seq_q, int seq_k, int heads, int kv_heads, int row_blocks)
{
	extern __shared__ __align__(128) u8 shared[];
	block_tiles &tiles = *(block_tiles *)shared;
	element_memory *queries = tiles.queries, *keys = tiles.keys, *values = tiles.values;
	float *output = tiles.output, *scores = tiles.scores;
	element_memory *weights = tiles.weights;
	running state = {tiles.top, tiles.sum};

	block_place place = place_of_block(seq_q, seq_k, heads, kv_heads, row_blocks);
	const element_memory *k = K + (i64)place.kv_head * seq_k * head_dim;
	const element_memory *v = V + (i64)place.kv_head * seq_k * head_dim;
	i64 first = ((i64)place.head * seq_q + place.first_row) * head_dim;
	int warp = (int)threadIdx.x / 32;

	tile_load<false, BM>(queries, Q + first, place.valid_rows);
	if (place.key_tiles > 0)
		tile_load<false, BN>(keys, k, seq_k);
	tile_reset(state, output);
	for (int tile = 0; tile < place.key_tiles; tile++) {
		int first_key = tile * BN;
		tile_load<false, BN>(values, v + (i64)first_key * head_dim, seq_k - first_key);
		cp_async_commit();
		cp_async_wait<0>();
		__syncthreads();
		scores_compute(scores, queries, keys);
		__syncthreads();
		if (tile + 1 < place.key_tiles)
			tile_load<false, BN>(
				keys, k + (i64)(first_key + BN) * head_dim, seq_k - first_key - BN);
		for (int row = warp; row < BM; row += block_warps) {
			element_memory *to = weights + row * weights_pitch;
			row_softmax(scores + row * scores_pitch, state, output, row,
				visible_keys(place, row, seq_k, first_key),
				[&](int j, float p) { to[j] = element::store(p); });
		}
		__syncthreads();
		output_add(output, weights, values);
		__syncthreads();
	}
	cp_async_commit();
	cp_async_wait<0>();
	__syncthreads();
	tile_store(output, state, O + first, place.valid_rows);
}
