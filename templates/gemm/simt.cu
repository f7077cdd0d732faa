// GEMM on CUDA cores, fp32 from end to end, both layouts of B.
//
// A block computes a tile of BM x BN, a warp of LANES_M x (32/LANES_M) lanes a part of it, a lane
// TM x TN sums. In shared memory both operands lie as [k][row or column], so that a lane reads four
// neighbours at once; an operand whose rows run along k in memory is transposed on its way in.
// STAGES 1: the next tile waits in registers while this one is multiplied, then goes to the other
// of two stages. STAGES > 1: a ring of stages filled by cp.async, which transposes element by
// element. Constants from the build: BM BN BK TM TN LANES_M STAGES VEC (elements per load from
// global memory that the pitches allow) PAD (elements between shared rows) MIN_BLOCKS, C_ALIGN
// (bytes).
#include "epilogue.cuh"
#include "gemm_types.cuh"
#include "layout.cuh"
#include "raster.cuh"
#include "splitk.cuh"
#include "store.cuh"
#include "tile.cuh"

constexpr int lanes_n = 32 / LANES_M;
constexpr int warp_rows = LANES_M * TM;
constexpr int warp_cols = lanes_n * TN;
constexpr int warps_m = BM / warp_rows;
constexpr int warps_n = BN / warp_cols;
constexpr int threads = 32 * warps_m * warps_n;

template <bool CONDITION, typename IF_TRUE, typename IF_FALSE> struct choose {
	typedef IF_TRUE type;
};

template <typename IF_TRUE, typename IF_FALSE> struct choose<false, IF_TRUE, IF_FALSE> {
	typedef IF_FALSE type;
};

#if B_LAYOUT_nk
constexpr bool b_is_kn = false;
constexpr int b_rows = BN, b_cols = BK;
#else
constexpr bool b_is_kn = true;
constexpr int b_rows = BK, b_cols = BN;
#endif

typedef transposed_rows<BM, PAD * 4> a_layout;
typedef choose<b_is_kn, padded_rows<BN * 4, PAD * 4>, transposed_rows<BN, PAD * 4>>::type b_layout;
constexpr int a_width = STAGES == 1 ? VEC : 1;
constexpr int b_width = STAGES == 1 || b_is_kn ? VEC : 1;
typedef tile_copy<float, BM, BK, a_width, threads, a_layout> a_copy;
typedef tile_copy<float, b_rows, b_cols, b_width, threads, b_layout> b_copy;

constexpr int a_pitch = a_layout::row_bytes; // from one k to the next
constexpr int b_pitch = b_layout::row_bytes;
constexpr int a_bytes = BK * a_pitch;
constexpr int stage_bytes = a_bytes + BK * b_pitch;
static_assert(ring_bytes == (STAGES > 2 ? STAGES : 2) * stage_bytes,
	"the stages are what the launch asks for");

// A lane's place in its warp. A 16-byte load serves a warp in two passes of half a warp instead of
// four if lanes that differ in bit 0 (or in bit 1) read the same address. So bit 0 counts along N
// alone and bit 1 along M alone: both operands have the property.
struct lane_place {
	int m, n;
	__device__ __forceinline__ explicit lane_place(int lane)
	{
		m = lane / 2 % 2 + lane / 4 / (lanes_n / 2) * 2;
		n = lane % 2 + lane / 4 % (lanes_n / 2) * 2;
	}
};

// The i-th of a lane's rows (or columns), relative to its warp's part: groups of four neighbours,
// read and, in C, written at once.
__device__ __forceinline__ constexpr int lane_element(int lane, int lanes, int i)
{
	return lane * 4 + i / 4 * 4 * lanes + i % 4;
}

template <int COUNT>
__device__ __forceinline__ void read_quads(float (&value)[COUNT], const u8 *first, int lanes)
{
#pragma unroll
	for (int i = 0; i < COUNT; i += 4) {
		float4 four = *(const float4 *)(first + lane_element(0, lanes, i) * 4);
		value[i] = four.x;
		value[i + 1] = four.y;
		value[i + 2] = four.z;
		value[i + 3] = four.w;
	}
}

// What a lane reads of one k.
struct fragments {
	float a[TM], b[TN];

	// a_first, b_first: byte offsets of the lane's first row and column in a stage.
	__device__ __forceinline__ void read(const u8 *stage, int a_first, int b_first, int k)
	{
		read_quads(a, stage + a_first + k * a_pitch, LANES_M);
		read_quads(b, stage + b_first + k * b_pitch, lanes_n);
	}
};

// Registers feed two of an FMA's three operands at full rate; the third must be one that the
// previous FMA read too. So the order walks two sums wide along the longer side, back and forth.
__device__ __forceinline__ void multiply(float (&sum)[TM][TN], const fragments &from)
{
	constexpr bool along_rows = TM > TN;
	constexpr int shorter = along_rows ? TN : TM;
	constexpr int longer = along_rows ? TM : TN;
#pragma unroll
	for (int s = 0; s < shorter; s += 2)
#pragma unroll
		for (int l = 0; l < longer; l++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				int along = s % 4 ? longer - 1 - l : l;
				int across = s + (l + e) % 2;
				int i = along_rows ? along : across;
				int j = along_rows ? across : along;
				sum[i][j] = fmaf(from.a[i], from.b[j], sum[i][j]);
			}
}

// The stream of steps from global memory.
struct producer {
	a_copy a;
	b_copy b;
	i64 b_advance;
	int rows, cols; // of the tile that lie inside C
	int k_left;     // from the next step on
	bool whole;
	u32 a_word[a_copy::passes * a_width]; // what is fetched and not yet put
	u32 b_word[b_copy::passes * b_width];

	__device__ __forceinline__ producer(const float *A, const float *B, int M, int N, int K,
		int lda, int ldb, int m, int n, int k)
	    : a(A, A + (i64)m * lda + k, lda),
	      b(B, B + (b_is_kn ? (i64)k * ldb + n : (i64)n * ldb + k), ldb)
	{
		b_advance = b_is_kn ? (i64)BK * ldb : BK;
		rows = M - m;
		cols = N - n;
		k_left = K - k;
		whole = rows >= BM && cols >= BN;
	}

	__device__ __forceinline__ void next()
	{
		a.advance(BK);
		b.advance(b_advance);
		k_left -= BK;
	}

	// Asynchronously into a stage of the ring.
	__device__ __forceinline__ void start_next(u32 stage)
	{
		if (whole && k_left >= BK) {
			a.template start<true>(stage, 0, 0);
			b.template start<true>(stage + a_bytes, 0, 0);
		} else {
			a.template start<false>(stage, rows, k_left);
			b.template start<false>(
				stage + a_bytes, b_is_kn ? k_left : cols, b_is_kn ? cols : k_left);
		}
		next();
	}

	// Into registers, and from there into a stage.
	__device__ __forceinline__ void fetch_next()
	{
		if (whole && k_left >= BK) {
			a.template fetch<true>(a_word, 0, 0);
			b.template fetch<true>(b_word, 0, 0);
		} else {
			a.template fetch<false>(a_word, rows, k_left);
			b.template fetch<false>(
				b_word, b_is_kn ? k_left : cols, b_is_kn ? cols : k_left);
		}
		next();
	}

	__device__ __forceinline__ void put(u32 stage) const
	{
		a.put(stage, a_word);
		b.put(stage + a_bytes, b_word);
	}
};

// Steps through k. Fragments are read one k ahead, also from one step to the next, which is why the
// barrier stands before the last k of a step.
__device__ __forceinline__ void main_loop(float (&sum)[TM][TN], int a_first, int b_first,
	producer &from_global, const u8 *shared, int steps)
{
	constexpr bool by_registers = STAGES == 1;
	constexpr int last_stage = (by_registers ? 1 : STAGES - 1) * stage_bytes;
	const u32 ring = shared_address(shared);
	if constexpr (by_registers) {
		if (steps > 0) {
			from_global.fetch_next();
			from_global.put(ring);
		}
	} else {
		// One group per step, empty ones too, so that counting groups is counting steps.
#pragma unroll 1
		for (int step = 0; step < STAGES - 1; step++) {
			if (step < steps)
				from_global.start_next(ring + step * stage_bytes);
			cp_async_commit();
		}
		cp_async_wait<by_registers ? 0 : STAGES - 2>();
	}
	__syncthreads();

	int read_stage = 0, write_stage = last_stage;
	fragments piece[2];
	piece[0].read(shared, a_first, b_first, 0);
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
#pragma unroll
		for (int k = 0; k < BK; k++) {
			if (k == 0) {
				// The stage written in this step was read to its end before the
				// last barrier.
				if (by_registers && step + 1 < steps)
					from_global.fetch_next();
				if (!by_registers && step + STAGES - 1 < steps)
					from_global.start_next(ring + write_stage);
				if (!by_registers)
					cp_async_commit();
			}
			if (k == BK - 1) {
				if constexpr (by_registers) {
					if (step + 1 < steps)
						from_global.put(ring + write_stage);
				} else {
					cp_async_wait<by_registers ? 0 : STAGES - 2>();
				}
				__syncthreads();
				read_stage =
					read_stage == last_stage ? 0 : read_stage + stage_bytes;
				write_stage =
					write_stage == last_stage ? 0 : write_stage + stage_bytes;
			}
			piece[(k + 1) % 2].read(
				shared + read_stage, a_first, b_first, (k + 1) % BK);
			multiply(sum, piece[k % 2]);
		}
	}
	cp_async_wait<0>();
}

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
	gemm_simt(const float *A, const float *B, float *C, float *partial, int M, int N, int K,
		int lda, int ldb, int ldc, int group_m, int rows_a, int rows_b, EPILOGUE_PARAMETERS)
{
	extern __shared__ __align__(128) u8 shared[];
	const int warp = threadIdx.x / 32;
	const lane_place lane(threadIdx.x % 32);
	const tile_place tile = grouped_tile(blockIdx.x, ceil_div(M, BM), ceil_div(N, BN), group_m);
	const k_share share = share_of_k(ceil_div(K, BK), blockIdx.y, gridDim.y);
	const int m = tile.m * BM;
	const int n = tile.n * BN;
	const int first_row = warp % warps_m * warp_rows;
	const int first_column = warp / warps_m * warp_cols;

	// grid.z: products of a batch
	A += (i64)blockIdx.z * rows_a * lda;
	B += (i64)blockIdx.z * rows_b * ldb;
	const i32 first_in_c = (i32)blockIdx.z * M;
	producer from_global(A, B, M, N, K, lda, ldb, m, n, share.first * BK);
	float sum[TM][TN] = {};
	main_loop(sum, (first_row + lane.m * 4) * 4, a_bytes + (first_column + lane.n * 4) * 4,
		from_global, shared, share.count);

	const epilogue finish = {EPILOGUE_ARGUMENTS, first_in_c + M, N, ldc};
	float *plane = partial + (i64)M * split_k_pitch(N) * blockIdx.y;
#pragma unroll
	for (int i = 0; i < TM; i++) {
		int row_in_tile = first_row + lane_element(lane.m, LANES_M, i);
		if (row_in_tile >= M - m)
			continue;
		i64 row = first_in_c + m + (i64)row_in_tile;
		const epilogue_row its = finish.row((i32)row);
#pragma unroll
		for (int j = 0; j < TN; j += 4) {
			int column = n + first_column + lane_element(lane.n, lanes_n, j);
			float four[4];
#pragma unroll
			for (int e = 0; e < 4; e++)
				four[e] = sum[i][j + e];
			if (gridDim.y == 1) {
				finish.apply(four, its, column);
				store_run<4>(C + row * ldc + column, four, N - column);
			} else if (column < N)
				*(float4 *)(plane + row * split_k_pitch(N) + column) =
					make_float4(four[0], four[1], four[2], four[3]);
		}
	}
}
