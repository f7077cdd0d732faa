// GEMM on Hopper's wgmma for few tiles and a long k. A tile's k is cut into SPLIT_K parts, each
// multiplied by a block of its own; the blocks of a cluster have neighbouring tiles and the same
// part, so that they share A's rows and B's columns by multicast. All blocks run at once. Then each
// block of a tile completes its share of the tile: the others send it their sums through global
// memory, warp by warp (no barrier of the block), and it adds them in a fixed order, so that
// results have the same bits in every run.
//
//	sums of a thread  |<- vector 0 ->|<- vector 1 ->| ...    four sums each: 2 columns, 2 rows
//	completed by      part 0 ........|part 1 ........|...    vectors / SPLIT_K each, about
#define TILE_ROWS          BM
#define TILE_COLUMNS       BN
#define ROWS_TRANSPOSED    0
#define COLUMNS_TRANSPOSED 0
#define SHARE_ROWS         CLUSTER_N
#define SHARE_COLUMNS      CLUSTER_M
#define STAGE_READERS      GROUPS
#define ROWS_ARE_B         0
#define SCALE_PART         8
#include "hopper/mainloop.cuh"
#include "hopper/direct.cuh"
#include "hopper/roles.cuh"
#include "wgmma_partial.cuh"

constexpr u32 consumers = 128 * GROUPS;
constexpr int fragments = BM / 64 / GROUPS;
constexpr u32 vectors = fragments * BN / 8;             // of a thread
constexpr u32 most = (vectors + SPLIT_K - 1) / SPLIT_K; // of them, that a block completes
typedef float sums_type[fragments][BN / 2];

static_assert(SMEM_BYTES == stage_ring::bytes + STAGES * 16,
	"stages, barriers: what the launch asks for");
static_assert(SPLIT_K <= 32, "a lane for each part");

// A wait of seconds ends as an error: blocks that wait for one that never runs would hang.
#ifdef MBARRIER_POLL_LIMIT
constexpr u32 poll_limit = MBARRIER_POLL_LIMIT;
#else
constexpr u32 poll_limit = 1u << 23;
#endif

// The first vector that the block of part `part` completes.
__device__ __forceinline__ constexpr u32 first_of(u32 part)
{
	return part * vectors / SPLIT_K;
}

__device__ __forceinline__ float4 vector_of(const sums_type &sums, u32 index)
{
	const float *from = sums[index / (BN / 8)] + index % (BN / 8) * 4;
	return make_float4(from[0], from[1], from[2], from[3]);
}

// One thread's exchange with the same thread of the tile's other blocks. `partial` is the tile's
// and this thread's, [part][vector][thread]; `flags` the warp's, [receiver][sender], all 0 before
// and afterwards.
struct exchange {
	float4 *partial;
	u32 *flags;
	u32 part, lane;

	// Sends the others what they complete, and keeps in `own` what this block does.
	__device__ __forceinline__ void send(const sums_type &sums, float4 (&own)[most]) const
	{
		float4 *to = partial + part * vectors * consumers;
#pragma unroll
		for (u32 receiver = 0; receiver < SPLIT_K; ++receiver) {
			const u32 first = first_of(receiver), end = first_of(receiver + 1);
			if (receiver != part) {
#pragma unroll
				for (u32 i = first; i < end; ++i)
					__stcg(to + i * consumers, vector_of(sums, i));
			} else {
#pragma unroll
				for (u32 i = first; i < end; ++i)
					own[i - first] = vector_of(sums, i);
			}
		}
		// The release of a lane tells of all that the warp has written before.
		__syncwarp();
		if (lane < SPLIT_K && lane != part)
			flag_store(flags + lane * SPLIT_K + part, 1);
	}

	// Lane i waits for the i-th part: all of them at once.
	__device__ __forceinline__ void wait() const
	{
		if (lane < SPLIT_K && lane != part) {
			u32 *flag = flags + part * SPLIT_K + lane;
			for (u32 polls = 0; !flag_load(flag); ++polls)
				if (polls > poll_limit)
					__trap();
			*flag = 0;
		}
		__syncwarp();
	}

	// Adds the others' parts of the vector `index` to this block's own, in their order.
	__device__ __forceinline__ void add(float4 &total, u32 index) const
	{
		const float4 *from = partial + index * consumers;
		float4 others[SPLIT_K - 1];
#pragma unroll
		for (u32 i = 0; i < SPLIT_K - 1; ++i)
			others[i] = __ldcg(from + (i + (i >= part)) * vectors * consumers);
#pragma unroll
		for (u32 i = 0; i < SPLIT_K - 1; ++i) {
			total.x += others[i].x;
			total.y += others[i].y;
			total.z += others[i].z;
			total.w += others[i].w;
		}
	}
};

extern "C" __global__ void __launch_bounds__(consumers + 32, 1)
	gemm_wgmma_splitk(const __grid_constant__ tensor_map map_a,
		const __grid_constant__ tensor_map map_b, output::memory *c, float *partial,
		u32 *flags, i32 m, i32 n, i32 k, i32 ldc, EPILOGUE_PARAMETERS)
{
	extern __shared__ __align__(1024) u8 shared[];
	const u32 base = shared_address(shared);
	const pipeline stages = {{base, base + stage_ring::bytes}, 0};
	const cluster_place place(cluster_plane > 1 ? cluster_rank() : 0);
	const u32 warp = same_in_lanes(threadIdx.x / 32), thread = threadIdx.x % 128;

	if (threadIdx.x == 0)
		stages.init();
	if (threadIdx.x == 32) {
		tensor_map_prefetch(map_a);
		tensor_map_prefetch(map_b);
	}
	blocks_meet_arrive<cluster_plane>();

	// Clusters of one part are neighbours: what they read is near in L2.
	const i32 units_m = ceil_div(m, BM * CLUSTER_M),
		  units = units_m * ceil_div(n, BN * CLUSTER_N);
	const i32 cluster = blockIdx.x / cluster_plane, part = cluster / units,
		  unit = cluster % units;
	const i32 row = (unit % units_m * CLUSTER_M + (i32)place.row) * BM;
	const i32 column = (unit / units_m * CLUSTER_N + (i32)place.column) * BN;
	const i32 all_steps = ceil_div(k, BK);
	const i32 first_step = (i32)((i64)all_steps * part / SPLIT_K);
	const i32 steps = (i32)((i64)all_steps * (part + 1) / SPLIT_K) - first_step;

	blocks_meet_wait<cluster_plane>();
	position at;
	if (warp == consumers / 32) {
		const loader load = {map_a, map_b, place, 0, 0, {nullptr, 0}};
		load.run(stages, at, row, column, first_step, steps, 0);
		// as at the end: shared memory outlives arrivals and copies of neighbours
		blocks_part<cluster_plane>();
		return;
	}
	const multiplier<fragments> multiply_by(warp / 4 * fragments * 64, thread, place);
	sums_type sums;
	multiply_by.finish(sums, stages, multiply_by.run(sums, stages, at, steps));
	if constexpr (cluster_plane > 1)
		cluster_arrive();

	const u32 tile = unit * cluster_plane + place.rank;
	const exchange others = {
		(float4 *)partial + (u64)tile * SPLIT_K * vectors * consumers + threadIdx.x,
		flags + (tile * (consumers / 32) + warp) * SPLIT_K * SPLIT_K, (u32)part,
		thread % 32};
	const u32 first = first_of(part), end = first_of(part + 1);
	float4 own[most] = {};
	others.send(sums, own);
	others.wait();
	// Reads of all, before the first store: none waits for another. A last vector that this
	// block does not have is another one.
#pragma unroll
	for (u32 i = 0; i < most; ++i)
		others.add(own[i], min(first + i, end - 1));

	const epilogue finish = {EPILOGUE_ARGUMENTS, m, n, ldc};
	const i32 upper = row + (i32)(multiply_by.first_row + thread / 32 * 16 + thread % 32 / 4);
#pragma unroll
	for (u32 i = 0; i < most; ++i) {
		const u32 index = first + i;
		if (vectors % SPLIT_K != 0 && index >= end)
			break;
		const i32 to = column + (i32)(index % (BN / 8) * 8 + thread % 4 * 2);
#pragma unroll
		for (i32 half = 0; half < 2; ++half) {
			const i32 line = upper + (i32)(index / (BN / 8)) * 64 + half * 8;
			float values[2] = {half ? own[i].z : own[i].x, half ? own[i].w : own[i].y};
			finish.apply(values, finish.row(line), to);
			if (line < m)
				store_pair<C_PAIRS>(
					c, (i64)line * ldc, to, n, values[0], values[1]);
		}
	}
	if constexpr (cluster_plane > 1)
		cluster_wait();
}
