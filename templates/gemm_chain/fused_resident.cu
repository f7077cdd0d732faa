// Y = act(A B) C where both weights fit in shared memory: they are loaded once per block and stay,
// and warps stream rows of A past them (sm_80 and up).
//
// Blocks are persistent. Every warp works for itself: it takes WARP_ROWS rows of A at a time, WARPS
// * grid apart, through a ring of STAGES slots of its own (BK columns each, filled by cp.async),
// computes T = act(A B) and Y = T C by mma.sync as fused.cu does, T's accumulators becoming
// operands in place, and writes its rows of Y. After the weights have come no warp ever waits for
// another, and the next rows are on their way while these are computed and stored.
//
//   k <= BK  A's rows are one piece; any number of tiles of n (TILES_N) if p <= BP
//   n <= BN  all of T is held as operands; k comes in pieces, and Y's columns in tiles of BP
#include "gemm/tile.cuh"
#include "gemm_chain/fragments.cuh"
#include "gemm_chain/store.cuh"

constexpr int threads = 32 * WARPS;
constexpr int row_tiles = WARP_ROWS / 16;
constexpr int k_steps = BK / 16;
constexpr int t_columns = BN / 16;
constexpr int y_columns = BP / 16;
constexpr int t_held = ONE_TILE ? t_columns : TN / 16;

static_assert(WARP_ROWS % 16 == 0 && BN % TN == 0, "tiles by 16");
static_assert(ONE_PIECE || ONE_TILE, "pieces of k, or tiles of n");

typedef rows_of<BK> a_layout;
typedef rows_of<BN> b_layout;
typedef rows_of<BP> c_layout;
typedef tile_copy<element_memory, BK, BN, B_VEC, threads, b_layout> b_copy;
typedef tile_copy<element_memory, BN, BP, C_VEC, threads, c_layout> c_copy;

constexpr int slot_bytes = WARP_ROWS * a_layout::row_bytes;
static_assert(RING_BYTES == WARPS * STAGES * slot_bytes, "the rings are what the launch asks for");
constexpr int b_bytes = BK * b_layout::row_bytes;
constexpr int c_bytes = BN * c_layout::row_bytes;

typedef u32 row_operand[row_tiles][4];

// All of B, as tiles of n of pieces of k, then all of C, as tiles of p of tiles of n.
__device__ __forceinline__ void weights_start(const element_memory *B, const element_memory *C,
	int k, int n, int p, u32 b_tiles, u32 c_tiles)
{
#pragma unroll 1
	for (int column = 0; column < n; column += BN)
#pragma unroll 1
		for (int row = 0; row < k; row += BK) {
			b_copy copy(B, B + (i64)row * n + column, n);
			copy.template start<false>(b_tiles, k - row, n - column);
			b_tiles += b_bytes;
		}
#pragma unroll 1
	for (int column = 0; column < p; column += BP)
#pragma unroll 1
		for (int row = 0; row < n; row += BN) {
			c_copy copy(C, C + (i64)row * p + column, p);
			copy.template start<false>(c_tiles, n - row, p - column);
			c_tiles += c_bytes;
		}
}

// The warp's stream of pieces of A: WARP_ROWS rows, BK columns, into its own ring.
struct row_stream {
	const element_memory *a;
	i64 unit, units,
		unit_step; // groups of WARP_ROWS rows: the next piece's, all, to the warp's next
	int m, k, column;  // column: of the next piece
	u32 ring;
	int slot, lane;

	__device__ __forceinline__ bool any_left() const
	{
		return unit < units;
	}

	__device__ __forceinline__ void start_next()
	{
		constexpr int chunks = BK / 8; // of 16 bytes, in a row
		constexpr int total = WARP_ROWS * chunks;
		i64 row = unit * WARP_ROWS;
		const element_memory *from = a + row * k + column;
		u32 to = ring + (u32)(slot * slot_bytes);
		int rows = m - row < WARP_ROWS ? (int)(m - row) : WARP_ROWS, columns = k - column;
		if (rows == WARP_ROWS && columns >= BK) {
#pragma unroll
			for (int pass = 0; pass < (total + 31) / 32; pass++) {
				int i = lane + pass * 32;
				if (total % 32 == 0 || i < total)
					cp_async<16>(to + (u32)a_layout::offset(
								  i / chunks, i % chunks * 16),
						from + (i64)(i / chunks) * k + i % chunks * 8);
			}
		} else {
#pragma unroll 1
			for (int i = lane; i < total; i += 32) {
				bool inside = i / chunks < rows && i % chunks * 8 < columns;
				cp_async<16>(
					to + (u32)a_layout::offset(i / chunks, i % chunks * 16),
					inside ? from + (i64)(i / chunks) * k + i % chunks * 8 : a,
					inside ? 16 : 0);
			}
		}
		slot = slot == STAGES - 1 ? 0 : slot + 1;
		column += BK;
		if (ONE_PIECE || column >= k) {
			column = 0;
			unit += unit_step;
		}
	}
};

struct warp_views {
	lane_view<a_layout> a;
	lane_view<b_layout> b;
	lane_view<c_layout> c;
};

// T += A B over a piece of k, COLUMNS16 * 16 columns from column16 on.
template <int COLUMNS16>
__device__ __forceinline__ void t_accumulate(float (&t)[row_tiles][2 * COLUMNS16][4],
	const warp_views &views, u32 a_piece, u32 b_piece, int column16)
{
#pragma unroll
	for (int step = 0; step < k_steps; step++) {
		row_operand a;
		operand_load(a, views.a, a_piece, 0, step);
		multiply_step<row_tiles, COLUMNS16>(t, a, views.b, b_piece, step, column16);
	}
}

__device__ __forceinline__ void rows_store(element_memory *Y,
	const float (&y)[row_tiles][2 * y_columns][4], i64 first_row, int m, int p, int column,
	int lane)
{
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			i64 row = first_row + r * 16 + half * 8 + lane / 4;
			row_store(Y + row * p + column, y[r], half, lane, row < m, p - column);
		}
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
	gemm_chain_resident(const element_memory *A, const element_memory *B,
		const element_memory *C, element_memory *Y, int m, int k, int n, int p)
{
	extern __shared__ __align__(128) u8 shared[];
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int pieces = ONE_PIECE ? 1 : ceil_div(k, BK);
	const int tiles = ONE_TILE ? 1 : ceil_div(n, BN);
	const u32 ring = shared_address(shared) + (u32)(warp * STAGES * slot_bytes);
	const u32 b_tiles = shared_address(shared) + WARPS * STAGES * slot_bytes;
	const u32 c_tiles = b_tiles + (u32)(pieces * tiles * b_bytes);
	const warp_views views = {
		lane_view<a_layout>(lane), lane_view<b_layout>(lane), lane_view<c_layout>(lane)};

	weights_start(B, C, k, n, p, b_tiles, c_tiles);
	cp_async_commit();
	row_stream rows = {A, (i64)blockIdx.x * WARPS + warp, ceil_div(m, WARP_ROWS),
		(i64)gridDim.x * WARPS, m, k, 0, ring, 0, lane};
	i64 unit = rows.unit;
#pragma unroll 1
	for (int i = 0; i < STAGES - 1; i++) {
		if (rows.any_left())
			rows.start_next();
		cp_async_commit();
	}
	cp_async_wait<STAGES - 1>();
	__syncthreads();

	u32 slot = ring;
	// One group per piece, empty ones too, so that counting groups is counting pieces. The slot
	// that is filled was read to its end by this warp, the only one that knows it.
	auto next_piece = [&]() {
		cp_async_wait<STAGES - 2>();
		__syncwarp();
		if (rows.any_left())
			rows.start_next();
		cp_async_commit();
	};
	auto next_slot = [&]() {
		slot += slot_bytes;
		if (slot == ring + STAGES * slot_bytes)
			slot = ring;
	};
#pragma unroll 1
	for (; unit < rows.units; unit += rows.unit_step) {
		float y[row_tiles][2 * y_columns][4];
		if constexpr (ONE_TILE) {
			float t[row_tiles][2 * t_columns][4];
			sums_clear(t);
			u32 b_piece = b_tiles;
#pragma unroll 1
			for (int piece = 0; piece < pieces; piece++) {
				next_piece();
				t_accumulate<t_columns>(t, views, slot, b_piece, 0);
				b_piece += b_bytes;
				next_slot();
			}
			row_operand operand[t_columns];
#pragma unroll
			for (int step = 0; step < t_columns; step++)
				operand_round(operand[step], t, step);
			u32 c_tile = c_tiles;
#pragma unroll 1
			for (int column = 0; column < p; column += BP) {
				sums_clear(y);
#pragma unroll
				for (int step = 0; step < t_columns; step++)
					multiply_step<row_tiles, y_columns>(
						y, operand[step], views.c, c_tile, step, 0);
				rows_store(Y, y, unit * WARP_ROWS, m, p, column, lane);
				c_tile += c_bytes;
			}
		} else {
			row_operand held[k_steps];
			next_piece();
#pragma unroll
			for (int step = 0; step < k_steps; step++)
				operand_load(held[step], views.a, slot, 0, step);
			next_slot();
			sums_clear(y);
			u32 b_tile = b_tiles, c_tile = c_tiles;
#pragma unroll 1
			for (int tile = 0; tile < tiles; tile++) {
#pragma unroll
				for (int group = 0; group < t_columns / t_held; group++) {
					float t[row_tiles][2 * t_held][4];
					sums_clear(t);
#pragma unroll
					for (int step = 0; step < k_steps; step++)
						multiply_step<row_tiles, t_held>(t, held[step],
							views.b, b_tile, step, group * t_held);
#pragma unroll
					for (int step = 0; step < t_held; step++) {
						row_operand operand;
						operand_round(operand, t, step);
						multiply_step<row_tiles, y_columns>(y, operand,
							views.c, c_tile, group * t_held + step, 0);
					}
				}
				b_tile += b_bytes;
				c_tile += c_bytes;
			}
			rows_store(Y, y, unit * WARP_ROWS, m, p, 0, lane);
		}
	}
	cp_async_wait<0>();
}
