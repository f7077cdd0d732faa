// What tiled_simt and tiled_wmma share: blocks of 256 threads, each with BM query rows of one head;
// tiles of Q, K, V in 16 bits, of scores S, weights P and output O in shared memory, as well as the
// running maximum and sum of each row. Any BM and BN.
//
// Row i belongs to warp i % 8 in softmax and output, so that these two need no block barrier
// between.
#include "attention/element.cuh"
#include "common/cp_async.cuh"
#include "common/swizzle.cuh"
#pragma once
constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr int row_chunks = head_dim / 8; // 16-byte chunks of a row of Q, K or V

// Which block this is: heads one after another, in each the last rows first (under a causal mask
// they have the most keys).
struct block_place {
	int head, kv_head, first_row, valid_rows;
	int diagonal;  // row i sees keys up to i + diagonal, with `causal`
	int key_tiles; // tiles that some row of the block sees
};

__device__ __forceinline__ block_place place_of_block(
	int seq_q, int seq_k, int heads, int kv_heads, int row_blocks)
{
	block_place place;
	place.head = (int)blockIdx.x / row_blocks;
	int row_block = row_blocks - 1 - ((int)blockIdx.x - place.head * row_blocks);
	place.kv_head = place.head / heads * kv_heads + place.head % heads / (heads / kv_heads);
	place.first_row = row_block * BM;
	place.valid_rows = min(BM, seq_q - place.first_row);
	place.diagonal = seq_k - seq_q;
	int limit = seq_k;
	if (causal)
		limit = min(seq_k, place.first_row + place.valid_rows + place.diagonal);
	place.key_tiles = limit > 0 ? (limit - 1) / BN + 1 : 0;
	return place;
}

// How many keys, counted from `first_key`, row `row` of the block sees (may be negative).
__device__ __forceinline__ int visible_keys(
	const block_place &place, int row, int seq_k, int first_key)
{
	int limit = seq_k;
	if (causal)
		limit = min(limit, place.first_row + row + place.diagonal + 1);
	return limit - first_key;
}

// Where chunk `chunk` of row `row` lies in a tile, in elements. With TWISTED the chunks of a row
// are exchanged by XOR with bits of the row, as far as the width allows, so that 8 rows read at the
// same chunk meet different banks; no byte is spent on padding. (wmma reads plain rows only.)
template <bool TWISTED> __device__ __forceinline__ int chunk_place(int row, int chunk)
{
	constexpr bool fits = row_chunks == 2 || row_chunks == 4 || row_chunks % 8 == 0;
	int twist = TWISTED && fits ? (int)swizzle<row_chunks>((u32)row) : 0;
	return row * head_dim + (chunk ^ twist) * 8;
}

// ROWS rows from global memory; rows from valid_rows on become zeros.
template <bool TWISTED, int ROWS>
__device__ __forceinline__ void tile_load(
	element_memory *tile, const element_memory *source, int valid_rows)
{
	for (int i = (int)threadIdx.x; i < ROWS * row_chunks; i += block_threads) {
		bool inside = i < valid_rows * row_chunks;
		cp_async<16>(
			shared_address(tile + chunk_place<TWISTED>(i / row_chunks, i % row_chunks)),
			inside ? source + (i64)i * 8 : source, inside ? 16 : 0);
	}
}

__device__ __forceinline__ float warp_max(float x)
{
	for (int distance = 16; distance > 0; distance /= 2)
		x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
	return x;
}

__device__ __forceinline__ float warp_sum(float x)
{
	for (int distance = 16; distance > 0; distance /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, distance);
	return x;
}

struct running {
	float *top; // maximum per row, in units of exp2
	float *sum;
};

__device__ __forceinline__ void tile_reset(running state, float *output)
{
	for (int i = (int)threadIdx.x; i < BM; i += block_threads) {
		state.top[i] = masked_score();
		state.sum[i] = 0.0f;
	}
	for (int i = (int)threadIdx.x; i < BM * head_dim; i += block_threads)
		output[i] = 0.0f;
}

// One row of scores to weights P = exp2(S - maximum) by one warp; maximum, sum and the row of the
// output follow a new maximum. `visible` keys of the tile count, the others get weight 0. `store(j,
// p)` puts the weight of key j away. The factor for what was summed before comes from the rounded
// maxima that were subtracted, so that huge scores are weighted alike before and after.
template <class STORE>
__device__ __forceinline__ void row_softmax(
	const float *scores, running state, float *output, int row, int visible, STORE store)
{
	int lane = (int)threadIdx.x % 32;
	float scale = score_scale();
	float top = masked_score();
	for (int j = lane; j < min(visible, BN); j += 32)
		top = fmaxf(top, scores[j]);
	float old = state.top[row];
	float now = fmaxf(old, warp_max(top) * scale);
	float offset = now == masked_score() ? 0.0f : now;
	float sum = 0.0f;
	for (int j = lane; j < BN; j += 32) {
		float p = j < visible ? exp2_fast(fmaf(scores[j], scale, -offset)) : 0.0f;
		store(j, p);
		sum += p;
	}
	float factor = exp2_fast(old - offset);
	float total = state.sum[row] * factor + warp_sum(sum);
	__syncwarp();
	if (lane == 0) {
		state.top[row] = now;
		state.sum[row] = total;
	}
	if (now != old)
		for (int d = lane; d < head_dim; d += 32)
			output[row * head_dim + d] *= factor;
	__syncwarp();
}

// output / sum to memory; a row that saw no key has sum 0 and gives 0.
__device__ __forceinline__ void tile_store(
	const float *output, running state, element_memory *to, int valid_rows)
{
	constexpr int pairs = head_dim / 2;
	u32 *words = (u32 *)to;
	for (int i = (int)threadIdx.x; i < valid_rows * pairs; i += block_threads) {
		float sum = state.sum[i / pairs];
		float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
		words[i] = element::store2(output[2 * i] * inverse, output[2 * i + 1] * inverse);
	}
}
