// Attention with every tile in shared memory and no tensor core: the design of which the shared
// memory is (BM + 2 BN) d 2 + 8 BM BN + 4 BM d + 8 BM bytes, for any BM and BN.
//
// Per tile of keys: S = Q K^T by all threads, 16 x 16 of them with up to 4 x 6 scores each; then
// warp w turns rows w, w+8, ... into weights and adds P V to the same rows of the output.
#include "attention/tiled.cuh"

// Scores of a thread: rows ty + 16 i, columns tx + 16 j, in as few passes as 24 accumulators allow.
constexpr int row_passes = (BM + 63) / 64;
constexpr int column_passes = (BN + 95) / 96;
constexpr int thread_rows = (BM + 16 * row_passes - 1) / (16 * row_passes);
constexpr int thread_columns = (BN + 16 * column_passes - 1) / (16 * column_passes);

// Output of a lane: 4 columns of up to 8 rows; lanes that are left over share the keys between
// them.
constexpr int column_groups = head_dim / 4;
constexpr int group_lanes = column_groups > 16  ? 32
			    : column_groups > 8 ? 16
			    : column_groups > 4 ? 8
			    : column_groups > 2 ? 4
						: 2;
constexpr int key_lanes = 32 / group_lanes;
constexpr int output_passes = (BM + 63) / 64;
constexpr int warp_rows = (BM + 8 * output_passes - 1) / (8 * output_passes);

struct quad {
	float x[4];
};

// Four elements of a row: half `half` (0 or 1) of a chunk.
__device__ __forceinline__ quad quad_load(const element_memory *tile, int row, int chunk, int half)
{
	vec8 raw = *(const vec8 *)(tile + chunk_place<true>(row, chunk) + half * 4);
	quad q;
#pragma unroll
	for (int i = 0; i < 4; i++)
		q.x[i] = element::load((element_memory)(raw.word[i / 2] >> 16 * (i % 2)));
	return q;
}

__device__ __forceinline__ void scores_compute(
	float *scores, const element_memory *queries, const element_memory *keys)
{
	int tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;
	// 16 lanes read 8 bytes each of 16 keys; rows 8 apart meet the same banks, so one half of
	// the lanes takes the halves of a chunk in the other order.
	int flip = tx >> 3;
	for (int pass = 0; pass < row_passes * column_passes; pass++) {
		int row0 = pass / column_passes * 16 * thread_rows + ty;
		int column0 = pass % column_passes * 16 * thread_columns + tx;
		float sum[thread_rows][thread_columns];
#pragma unroll
		for (int i = 0; i < thread_rows; i++)
#pragma unroll
			for (int j = 0; j < thread_columns; j++)
				sum[i][j] = 0.0f;
#pragma unroll 2
		for (int part = 0; part < 2 * row_chunks; part++) {
			quad q[thread_rows];
#pragma unroll
			for (int i = 0; i < thread_rows; i++)
				q[i] = quad_load(queries, min(row0 + 16 * i, BM - 1), part / 2,
					part % 2 ^ flip);
#pragma unroll
			for (int j = 0; j < thread_columns; j++) {
				quad k = quad_load(keys, min(column0 + 16 * j, BN - 1), part / 2,
					part % 2 ^ flip);
#pragma unroll
				for (int i = 0; i < thread_rows; i++)
#pragma unroll
					for (int e = 0; e < 4; e++)
						sum[i][j] = fmaf(q[i].x[e], k.x[e], sum[i][j]);
			}
		}
#pragma unroll
		for (int i = 0; i < thread_rows; i++)
#pragma unroll
			for (int j = 0; j < thread_columns; j++)
				if (row0 + 16 * i < BM && column0 + 16 * j < BN)
					scores[(row0 + 16 * i) * BN + column0 + 16 * j] = sum[i][j];
	}
}

// output += P V for the rows of this warp.
__device__ __forceinline__ void output_add(
	float *output, const float *weights, const element_memory *values)
{
	int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	int key_lane = lane / group_lanes;
	for (int pass = 0; pass < output_passes; pass++) {
		int row0 = pass * warp_rows * 8 + warp;
		for (int group = lane % group_lanes;
			group < (column_groups + group_lanes - 1) / group_lanes * group_lanes;
			group += group_lanes) {
			bool used = group < column_groups;
			int column = used ? group : 0;
			float sum[warp_rows][4];
#pragma unroll
			for (int r = 0; r < warp_rows; r++)
#pragma unroll
				for (int e = 0; e < 4; e++)
					sum[r][e] = 0.0f;
#pragma unroll 2
			for (int key = key_lane; key < BN; key += key_lanes) {
				quad v = quad_load(values, key, column / 2, column % 2);
#pragma unroll
				for (int r = 0; r < warp_rows; r++) {
					// A row that does not exist stands for one of this warp's
					// own: no other is finished yet. Its result is dropped.
					int row = row0 + 8 * r < BM ? row0 + 8 * r : warp;
					float p = weights[row * BN + key];
#pragma unroll
					for (int e = 0; e < 4; e++)
						sum[r][e] = fmaf(p, v.x[e], sum[r][e]);
				}
			}
#pragma unroll
			for (int r = 0; r < warp_rows; r++) {
#pragma unroll
				for (int e = 0; e < 4; e++)
#pragma unroll
					for (int distance = group_lanes; distance < 32;
						distance *= 2)
						sum[r][e] += __shfl_xor_sync(
							0xffffffffu, sum[r][e], distance);
				int row = row0 + 8 * r;
				if (key_lane == 0 && used && row < BM)
#pragma unroll
					for (int e = 0; e < 4; e++)
						output[row * head_dim + 4 * column + e] +=
							sum[r][e];
			}
		}
	}
}

struct block_tiles {
	element_memory queries[BM * head_dim], keys[BN * head_dim], values[BN * head_dim];
	float output[BM * head_dim], scores[BM * BN], weights[BM * BN], top[BM], sum[BM];
};
static_assert(sizeof(block_tiles) == SMEM, "tiled_simt.json's smem_bytes");

// MIN_BLOCKS is what shared memory allows, 3 at most: then 256 threads have up to 80 registers.
extern "C" __global__ void __launch_bounds__(block_threads, MIN_BLOCKS)
	tiled_simt(const element_memory *Q, const element_memory *K, const element_memory *V,
		element_memory *O, int seq_q, int seq_k, int heads, int kv_heads, int row_blocks)
{
	extern __shared__ __align__(16) u8 shared[];
	block_tiles &tiles = *(block_tiles *)shared;
	element_memory *queries = tiles.queries, *keys = tiles.keys, *values = tiles.values;
	float *output = tiles.output, *scores = tiles.scores, *weights = tiles.weights;
	running state = {tiles.top, tiles.sum};

	block_place place = place_of_block(seq_q, seq_k, heads, kv_heads, row_blocks);
	const element_memory *k = K + (i64)place.kv_head * seq_k * head_dim;
	const element_memory *v = V + (i64)place.kv_head * seq_k * head_dim;
	i64 first = ((i64)place.head * seq_q + place.first_row) * head_dim;
	int warp = (int)threadIdx.x / 32;

	tile_load<true, BM>(queries, Q + first, place.valid_rows);
	if (place.key_tiles > 0)
		tile_load<true, BN>(keys, k, seq_k);
	tile_reset(state, output);
	for (int tile = 0; tile < place.key_tiles; tile++) {
		int first_key = tile * BN;
		tile_load<true, BN>(values, v + (i64)first_key * head_dim, seq_k - first_key);
		cp_async_commit();
		cp_async_wait<0>();
		__syncthreads();
		scores_compute(scores, queries, keys);
		__syncthreads();
		if (tile + 1 < place.key_tiles)
			tile_load<true, BN>(
				keys, k + (i64)(first_key + BN) * head_dim, seq_k - first_key - BN);
		for (int row = warp; row < BM; row += block_warps) {
			float *to = weights + row * BN;
			row_softmax(scores + row * BN, state, output, row,
				visible_keys(place, row, seq_k, first_key),
				[&](int j, float p) { to[j] = p; });
		}
		output_add(output, weights, values);
		__syncthreads();
	}
	cp_async_commit();
	cp_async_wait<0>();
	__syncthreads();
	tile_store(output, state, O + first, place.valid_rows);
}
