// GEMM on Hopper's wgmma for few rows (a handful of tokens against a layer's weights), where
// reading the weights once at DRAM speed is all there is. One block per tile and share of k: one
// producer warp keeps many stages in flight, GROUPS warp groups multiply. The CLUSTER_K blocks of a
// cluster that cut k among them add their sums through distributed shared memory, in a fixed order
// (in the ring's place where a buffer beside it would not fit: EXCHANGE_IN_RING);
// CLUSTER_N neighbours along N share A's tile by multicast. SWAP: the block computes a tile of C
// transposed: B's rows take wgmma's m side (64 at a time), A's rows its n side, which may be as
// narrow as 8.
#if SWAP
#define TILE_ROWS          BN
#define TILE_COLUMNS       BM
#define ROWS_TRANSPOSED    B_LAYOUT_kn
#define COLUMNS_TRANSPOSED 0
#define SHARE_ROWS         1
#define SHARE_COLUMNS      CLUSTER_N
#define ROWS_ARE_B         1
#else
#define TILE_ROWS          BM
#define TILE_COLUMNS       BN
#define ROWS_TRANSPOSED    0
#define COLUMNS_TRANSPOSED B_LAYOUT_kn
#define SHARE_ROWS         CLUSTER_N
#define SHARE_COLUMNS      1
#define ROWS_ARE_B         0
#endif
#define STAGE_READERS GROUPS
#ifndef B_LAYOUT_kn
#define B_LAYOUT_kn 0
#endif
#include "hopper/promoted.cuh"
#include "store.cuh"
#include "tile_factors.cuh"

constexpr int consumers = 128 * GROUPS;
constexpr int fragments = TILE_ROWS / 64 / GROUPS;
constexpr int sums_each = fragments * TILE_COLUMNS / 2; // accumulators of a thread
constexpr int share = sums_each / CLUSTER_K;            // of them, those that a block completes
constexpr int exchange_bytes = CLUSTER_K == 1 ? 0 : 4 * sums_each * consumers;
constexpr int ring_bytes = STAGES * stage_bytes;
typedef tile_factors<BM, BN, consumers> factors;
constexpr int vector = share % 4 == 0 ? 4 : share % 2 == 0 ? 2 : 1;

static_assert(sums_each % CLUSTER_K == 0, "every block of the cluster completes equally many sums");
static_assert(!EXCHANGE_IN_RING || exchange_bytes <= ring_bytes, "sums of neighbours fit the ring");
static_assert(SMEM_BYTES == ring_bytes + STAGES * (16 + scale_bytes) +
				    (EXCHANGE_IN_RING ? 0 : exchange_bytes) + factors::bytes,
	"stages, barriers, scales, exchange buffer: what the launch asks for");

// Where the sums number `index`.. of a thread lie in the exchange buffer of the block that
// completes them: [sending block][vector][thread].
__device__ __forceinline__ u32 exchange_place(u32 buffer, u32 sender, u32 index, u32 thread)
{
	return buffer + (((sender * share + index) / vector * consumers + thread) * vector) * 4;
}

__device__ __forceinline__ void exchange_send(
	const float (&sums)[sums_each], u32 buffer, const cluster_place &place, u32 thread)
{
#pragma unroll
	for (u32 depth = 0; depth < CLUSTER_K; ++depth) {
		u32 to = cluster_address(exchange_place(buffer, place.depth, 0, thread),
			place.rank % cluster_plane + depth * cluster_plane);
#pragma unroll
		for (u32 i = 0; i < share; i += vector) {
			const float *from = sums + depth * share + i;
			u32 at = to + i * consumers * 4;
			if constexpr (vector == 4)
				cluster_store4(at, from[0], from[1], from[2], from[3]);
			else if constexpr (vector == 2)
				cluster_store2(at, from[0], from[1]);
			else
				cluster_store(at, from[0]);
		}
	}
}

struct place_in_tile {
	u32 row, column;
};

// Of a thread's sum number `index` + `rest`: `index` is a multiple of 4, or `rest` 0.
__device__ __forceinline__ place_in_tile place_of(u32 index, u32 rest, u32 first_row, u32 thread)
{
	u32 fragment = index / (TILE_COLUMNS / 2), at = index % (TILE_COLUMNS / 2);
	u32 row = first_row + fragment * 64 + thread / 32 * 16 + thread % 32 / 4 + at % 4 / 2 * 8 +
		  rest / 2 * 8;
	u32 column = at / 4 * 8 + thread % 4 * 2 + at % 2 + rest % 2;
	return {SWAP ? column : row, SWAP ? row : column};
}

// A warp's matrix of 8 rows of 8 elements of 16 bits, transposed: lane l has the elements 2*(l%4)
// and 2*(l%4)+1 of row l/4, before and after.
__device__ __forceinline__ u32 transpose8(u32 pair)
{
	u32 result;
	asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
	return result;
}

// Stores the four sums of a thread, finished, that begin at number `index` and at (row, column) of
// C, as the tile's place_of(index, 0) says; all lanes of a warp call it. C has 16-bit elements.
template <typename DTYPE = output>
__device__ __forceinline__ void store_four(
	output::memory *c, const float *values, i32 row, i32 column, i32 m, i32 n, i32 ldc)
{
	if constexpr (SWAP) {
		// 8 rows of C by 16 columns: of each of these rows four lanes write 8 bytes each.
		u32 lane = threadIdx.x % 32, odd = lane & 1;
		u32 low = transpose8(DTYPE::store2(values[0], values[1]));
		u32 high = transpose8(DTYPE::store2(values[2], values[3]));
		u32 got = __shfl_xor_sync(0xffffffffu, odd ? low : high, 1);
		u32 words[2] = {odd ? got : low, odd ? high : got};
		row += (i32)(lane / 4) - (i32)(lane % 4 * 2);
		column += (i32)(lane % 4 / 2 * 4 + odd * 8) - (i32)(lane / 4);
		if (row < m)
			store_words<2>(c + (i64)row * ldc + column, words, n - column);
	} else {
#pragma unroll
		for (i32 i = 0; i < 2; ++i) {
			const float pair[2] = {values[2 * i], values[2 * i + 1]};
			if (row + i * 8 < m)
				store_run<2>(
					c + (i64)(row + i * 8) * ldc + column, pair, n - column);
		}
	}
}

extern "C" __global__ void __launch_bounds__(consumers + 32, BLOCKS_PER_SM)
	gemm_wgmma_skinny(const __grid_constant__ tensor_map map_a,
		const __grid_constant__ tensor_map map_b, output::memory *c, i32 m, i32 n, i32 k,
		i32 ldc, i32 rows_a, i32 rows_b, EPILOGUE_PARAMETERS)
{
	extern __shared__ __align__(1024) u8 shared[];
	u32 base = shared_address(shared);
	pipeline stages = {{base, base + ring_bytes}, base + ring_bytes + STAGES * 16};
	u32 buffer = EXCHANGE_IN_RING ? base : stages.scales + STAGES * scale_bytes;
	float *shared_factors = (float *)(shared + SMEM_BYTES - factors::bytes);
	cluster_place place(cluster_plane * CLUSTER_K > 1 ? cluster_rank() : 0);
	u32 warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);

	if (threadIdx.x == 0)
		stages.init();
	if (threadIdx.x == 32) {
		tensor_map_prefetch(map_a);
		tensor_map_prefetch(map_b);
	}
	__syncwarp();
	if constexpr (cluster_plane * CLUSTER_K > 1)
		cluster_arrive();

	// Tiles along M are neighbours, so that they find B's tile in L2.
	i32 unit = blockIdx.x / (cluster_plane * CLUSTER_K);
	i32 tiles_m = ceil_div(m, BM);
	i32 row = unit % tiles_m * BM;
	i32 column = (unit / tiles_m * CLUSTER_N + (SWAP ? place.row : place.column)) * BN;
	// blockIdx.y: a product of a batch. Rows from m on are the next one's.
	i32 product = BATCHED ? (i32)blockIdx.y : 0;
	i32 of_a = row + product * rows_a;
	i32 of_b = column + (B_LAYOUT_kn ? 0 : product * rows_b);
	row += product * m;
	m += product * m;
	i32 all_steps = ceil_div(k, BK);
	i32 first_step = (i32)((i64)all_steps * place.depth / CLUSTER_K);
	i32 steps = (i32)((i64)all_steps * (place.depth + 1) / CLUSTER_K) - first_step;

	if constexpr (cluster_plane * CLUSTER_K > 1)
		cluster_wait();
	else
		__syncthreads();

	const epilogue finish = {EPILOGUE_ARGUMENTS, m, n, ldc};
	factors own;
	if (warp < consumers / 32)
		own.load(finish, row, column, threadIdx.x);
	position at;
	float sums[fragments][TILE_COLUMNS / 2];
	u32 thread = threadIdx.x % 128, group = warp / 4;
	multiplier<fragments> multiply_by(group * fragments * 64, thread, place);
	if (warp == consumers / 32) {
		u64 once = l2_policy_evict_first(), again = l2_policy_evict_last();
		loader load = {SWAP ? map_b : map_a, SWAP ? map_a : map_b, place,
			SWAP ? once : again, SWAP ? again : once, {scale_a, (m + 3) / 4 * 4}};
		load.run(stages, at, SWAP ? of_b : of_a, SWAP ? of_a : of_b, first_step, steps,
			B_LAYOUT_kn ? product * rows_b : 0);
	} else if (steps > 0) {
#if ACCUM_promoted
		block_scales<fragments> scales;
		if constexpr (scales_blocks)
			scales.start(scale_b, n, all_steps,
				column + (SWAP ? multiply_by.first_row : 0), multiply_by.first_row,
				thread, first_step, steps);
		promotion<fragments>{multiply_by, stages, at, scales}.run(sums, steps);
#else
		multiply_by.finish(sums, stages, multiply_by.run(sums, stages, at, steps));
#endif
	} else {
		multiply_by.clear(sums);
	}

	const float(&flat)[sums_each] = reinterpret_cast<const float(&)[sums_each]>(sums);
	if (warp < consumers / 32)
		own.put(shared_factors, threadIdx.x);
	if constexpr (CLUSTER_K > 1) {
		// The first barrier of the kernel told that every neighbour's shared memory exists;
		// its ring is free when it has multiplied all.
		if constexpr (EXCHANGE_IN_RING)
			cluster_sync();
		if (warp < consumers / 32)
			exchange_send(flat, buffer, place, threadIdx.x);
		cluster_sync();
	} else if constexpr (cluster_plane > 1) {
		cluster_sync();
	} else if constexpr (factors::bytes > 0) {
		__syncthreads();
	}
	if (warp == consumers / 32)
		return;
	constexpr u32 run = share % 4 == 0 ? 4 : 1;
	const u32 first = place.depth * share;
	float values[share];
#pragma unroll
	for (u32 i = 0; i < share; ++i) {
		values[i] = flat[i];
		if constexpr (CLUSTER_K > 1) {
			values[i] = 0.0f;
#pragma unroll
			for (u32 sender = 0; sender < CLUSTER_K; ++sender)
				values[i] += shared_load(exchange_place(buffer, sender,
								 i / vector * vector, threadIdx.x) +
							 i % vector * 4);
		}
	}
#pragma unroll
	for (u32 i = 0; i < share; ++i) {
		place_in_tile in_tile =
			place_of(first + i / run * run, i % run, multiply_by.first_row, thread);
		float(&value)[1] = reinterpret_cast<float(&)[1]>(values[i]);
		finish.apply(value,
			finish.row(row + (i32)in_tile.row,
				factors::row_scale(shared_factors, in_tile.row)),
			factors::columns<1>(shared_factors, in_tile.column),
			column + (i32)in_tile.column);
	}
	constexpr u32 width = run == 4 && sizeof(output::memory) == 2 ? 4 : 1;
#pragma unroll
	for (u32 i = 0; i < share; i += width) {
		place_in_tile in_tile =
			place_of(first + i / run * run, i % run, multiply_by.first_row, thread);
		i32 c_row = row + (i32)in_tile.row, c_column = column + (i32)in_tile.column;
		if constexpr (width == 4)
			store_four(c, values + i, c_row, c_column, m, n, ldc);
		else if (c_row < m && c_column < n)
			c[(i64)c_row * ldc + c_column] = output::store(values[i]);
	}
}
