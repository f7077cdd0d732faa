// Y = act(A B) C in one kernel: the intermediate T = act(A B) never leaves the SM (sm_80 and up).
//
// A block owns BM rows and BP columns of Y and walks over n in tiles of BN. Per tile its warps
// compute T = act(A B) for these rows by mma.sync, round it to 16 bits, and add T C to Y, whose
// sums stay in registers. Pieces of B and C (and of A) come through shared memory by cp.async.
//
//   RESIDENT regs  T's accumulators become A operands in place, as in FlashAttention-2. A warp owns
//                  whole rows: WARPS_M share the rows, WARPS_N share each tile of n and add their
//                  sums of Y at the end. With one piece of k, TN columns of T at a time.
//   RESIDENT smem  T goes through shared memory: WARPS_N warps share the columns of T, then those
//                  of Y, which so may be wide.
//   A_PLACE        regs, smem: the block's rows of A stay in registers or shared memory; stream:
//                  they come again for every tile of n.
//
// Columns of Y beyond BP are other blocks', which compute T again. gridDim.y blocks share n; more
// than one write fp32 sums that fused_reduce adds in order.
#include "gemm_chain/pieces.cuh"
#include "gemm_chain/store.cuh"

constexpr int row_tiles = BM / (16 * WARPS_M); // 16-row tiles of a warp
constexpr int k_steps = BK / 16;
// Columns of T and of Y that a warp computes, in 16s, and columns of T held at a time.
constexpr int t_columns = BN / 16 / WARPS_N;
constexpr int y_columns = BP / 16 / (t_in_smem ? WARPS_N : 1);
constexpr int t_held = t_in_smem || !ONE_PIECE ? t_columns : TN / 16;

// Pieces on their way while one is in use; a ring of one slot holds the only piece.
constexpr int ahead = STAGES > 1 ? STAGES - 1 : 1;

#if A_PLACE_regs
constexpr bool a_in_regs = true;
#else
constexpr bool a_in_regs = false;
#endif

static_assert(BM % (16 * WARPS_M) == 0 && BN % (16 * WARPS_N) == 0, "warps share tiles by 16");
static_assert(t_columns % t_held == 0, "T comes in whole groups of TN columns");

typedef float t_sums[row_tiles][2 * t_held][4];
typedef float y_sums[row_tiles][2 * y_columns][4];
typedef u32 row_operand[row_tiles][4];

struct warp_place {
	int row16;    // first row tile
	int t_column; // first columns of T and Y, in 16s
	int y_column;
	lane_view<a_layout> a;
	lane_view<b_layout> b; // of T's tile, too: it has the same rows
	lane_view<c_layout> c;

	__device__ __forceinline__ warp_place(int warp, int lane) : a(lane), b(lane), c(lane)
	{
		row16 = warp % WARPS_M * row_tiles;
		t_column = warp / WARPS_M * t_columns;
		y_column = t_in_smem ? warp / WARPS_M * y_columns : 0;
	}
};

// T += A B over a piece of k, t_held * 16 columns from column16 on.
__device__ __forceinline__ void t_accumulate(t_sums &t, const warp_place &place,
	const row_operand *held, u32 a_piece, u32 b_piece, int column16)
{
#pragma unroll
	for (int step = 0; step < k_steps; step++) {
		if constexpr (a_in_regs) {
			multiply_step<row_tiles, t_held>(
				t, held[step], place.b, b_piece, step, column16);
		} else {
			row_operand a;
			operand_load(a, place.a, a_piece, place.row16, step);
			multiply_step<row_tiles, t_held>(t, a, place.b, b_piece, step, column16);
		}
	}
}

// Y += act(T) C, T in registers; its columns are rows of the tile of C from row16 on.
__device__ __forceinline__ void y_accumulate(
	y_sums &y, const warp_place &place, const t_sums &t, u32 c_tile, int row16)
{
#pragma unroll
	for (int step = 0; step < t_held; step++) {
		row_operand a;
		operand_round(a, t, step);
		multiply_step<row_tiles, y_columns>(y, a, place.c, c_tile, row16 + step, 0);
	}
}

// act(T), rounded, into its tile in shared memory.
__device__ __forceinline__ void t_store(
	const warp_place &place, const t_sums &t, u32 t_tile, int lane)
{
#pragma unroll
	for (int column = 0; column < t_held; column++) {
		row_operand a;
		operand_round(a, t, column);
#pragma unroll
		for (int r = 0; r < row_tiles; r++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				int row = (place.row16 + r) * 16 + i % 2 * 8 + lane / 4;
				int byte =
					(place.t_column + column) * 32 + i / 2 * 16 + lane % 4 * 4;
				asm volatile("st.shared.b32 [%0], %1;" ::"r"(
						     t_tile + (u32)b_layout::offset(row, byte)),
					     "r"(a[r][i])
					     : "memory");
			}
	}
}

// Y += act(T) C, T in shared memory.
__device__ __forceinline__ void y_accumulate_shared(
	y_sums &y, const warp_place &place, u32 t_tile, u32 c_tile)
{
#pragma unroll
	for (int step = 0; step < BN / 16; step++) {
		row_operand a;
		operand_load(a, place.b, t_tile, place.row16, step);
		multiply_step<row_tiles, y_columns>(y, a, place.c, c_tile, step, place.y_column);
	}
}

// Warps that shared n add their sums into those of the first, in order. `shared` is free by now.
__device__ __forceinline__ void y_collect(y_sums &y, u8 *shared, int warp, int lane)
{
	constexpr int tiles = row_tiles * 2 * y_columns;
	int part = warp / WARPS_M;
	vec16 *mine = (vec16 *)shared + (part - 1) * (WARPS_M * tiles * 32) +
		      warp % WARPS_M * tiles * 32 + lane;
	if (part > 0)
#pragma unroll
		for (int i = 0; i < tiles; i++) {
			const float(&x)[4] = y[i / (2 * y_columns)][i % (2 * y_columns)];
			mine[i * 32] = vec16{{__float_as_uint(x[0]), __float_as_uint(x[1]),
				__float_as_uint(x[2]), __float_as_uint(x[3])}};
		}
	__syncthreads();
	if (part == 0)
#pragma unroll
		for (int other = 1; other < WARPS_N; other++) {
			mine += WARPS_M * tiles * 32;
#pragma unroll
			for (int i = 0; i < tiles; i++) {
				vec16 x = mine[i * 32];
#pragma unroll
				for (int e = 0; e < 4; e++)
					y[i / (2 * y_columns)][i % (2 * y_columns)][e] +=
						__uint_as_float(x.word[e]);
			}
		}
}

// Pitch of the rows of a plane of partial sums: even, so that pairs are aligned.
__device__ __forceinline__ int partial_pitch(int p)
{
	return p + p % 2;
}

// The block's grid: x = row tiles x column tiles (columns fastest: neighbours read the same rows of
// A), y = shares of n.
extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
	gemm_chain_fused(const element_memory *A, const element_memory *B, const element_memory *C,
		element_memory *Y, float *partial, int m, int k, int n, int p, int column_tiles)
{
	extern __shared__ __align__(128) u8 shared[];
	const u32 base = shared_address(shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int row_tile = (int)blockIdx.x / column_tiles;
	const int row = row_tile * BM;
	const int column = ((int)blockIdx.x - row_tile * column_tiles) * BP;

	// This block's share of the tiles of n.
	const int all_tiles = ceil_div(n, BN);
	const int first_tile = (int)((i64)all_tiles * blockIdx.y / gridDim.y);
	const int last_tile = (int)((i64)all_tiles * (blockIdx.y + 1) / gridDim.y);
	const int first_n = first_tile * BN;
	int tiles = last_tile - first_tile;
	// In the last share what is left of n, else whole tiles.
	const int n_count = last_tile == all_tiles ? n - first_n : tiles * BN;

	piece_stream stream(A, B, C, m, k, n, p, row, column, first_n, n_count, base);
	const warp_place place(warp, lane);
	y_sums y;
	sums_clear(y);

	// One group per piece, empty ones too, so that counting groups is counting pieces.
#pragma unroll 1
	for (int i = 0; i < ahead; i++) {
		if (stream.any_left())
			stream.start_next<true>();
		cp_async_commit();
	}

	row_operand held[a_in_regs ? k_steps : 1];
	if constexpr (a_in_regs) {
		cp_async_wait<ahead - 1>();
		__syncthreads();
#pragma unroll
		for (int step = 0; step < k_steps; step++)
			operand_load(held[step], place.a, base + panel_start, place.row16, step);
	}

	const int pieces = ONE_PIECE ? 1 : ceil_div(k, BK);
	u32 stage = base, c_tile = base + c_start;
	const u32 t_tile = base + t_start;
	auto next_piece = [&]() {
		// The slot that is filled now was read to its end before this barrier.
		cp_async_wait<ahead - 1>();
		__syncthreads();
		if constexpr (STAGES > 1) {
			if (stream.any_left())
				stream.start_next<false>();
			cp_async_commit();
		}
	};
	auto next_stage = [&]() {
		stage += stage_bytes;
		if (stage == base + STAGES * stage_bytes)
			stage = base;
	};
#pragma unroll 1
	for (; tiles > 0; tiles--) {
		if constexpr (ONE_PIECE && !t_in_smem) {
			next_piece();
#pragma unroll
			for (int group = 0; group < t_columns / t_held; group++) {
				int column16 = place.t_column + group * t_held;
				t_sums t;
				sums_clear(t);
				t_accumulate(t, place, held, base + panel_start, stage, column16);
				y_accumulate(y, place, t, c_tile, column16);
			}
			next_stage();
		} else {
			t_sums t;
			sums_clear(t);
			u32 a_piece = base + panel_start;
#pragma unroll 1
			for (int piece = 0; piece < pieces; piece++) {
				next_piece();
				if (a_streamed)
					a_piece = stage + b_bytes;
				t_accumulate(t, place, held, a_piece, stage, place.t_column);
				a_piece += a_bytes;
				next_stage();
			}
			if constexpr (t_in_smem) {
				t_store(place, t, t_tile, lane);
				__syncthreads();
				y_accumulate_shared(y, place, t_tile, c_tile);
			} else {
				y_accumulate(y, place, t, c_tile, place.t_column);
			}
		}
		c_tile += c_bytes;
		if (c_tile == base + c_start + C_SLOTS * c_bytes)
			c_tile = base + c_start;
	}
	cp_async_wait<0>();

	if constexpr (!t_in_smem && WARPS_N > 1) {
		__syncthreads();
		y_collect(y, shared, warp, lane);
		if (warp >= WARPS_M)
			return;
	}
	const int first_column = column + place.y_column * 16;
	const i64 plane = (i64)m * partial_pitch(p) * blockIdx.y;
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row_in_block = (place.row16 + r) * 16 + half * 8 + lane / 4;
			bool row_inside = row_in_block < m - row;
			i64 out = row + (i64)row_in_block;
			if (gridDim.y > 1)
				row_store_partial(
					partial + plane + out * partial_pitch(p) + first_column,
					y[r], half, lane, row_inside, p - first_column);
			else
				row_store(Y + out * p + first_column, y[r], half, lane, row_inside,
					p - first_column);
		}
}

// Adds the planes of partial sums in order and rounds: two neighbouring columns a thread.
extern "C" __global__ void __launch_bounds__(256)
	fused_reduce(const float *partial, element_memory *Y, int m, int p, int planes)
{
	i64 pairs = partial_pitch(p) / 2;
	i64 pair = (i64)blockIdx.x * 256 + threadIdx.x;
	if (pair >= pairs * m)
		return;
	float low = 0.0f, high = 0.0f;
	for (int i = 0; i < planes; i++) {
		vec8 x = *(const vec8 *)(partial + 2 * (pairs * m * i + pair));
		low += __uint_as_float(x.word[0]);
		high += __uint_as_float(x.word[1]);
	}
	i64 row = pair / pairs;
	int column = (int)(pair - row * pairs) * 2;
	u32 word[1] = {element::store2(low, high)};
	store_pairs<1>(Y + row * p + column, word, p - column);
}
