// The stream of pieces from global memory into shared memory, in the order in which they are used:
// for each tile of n, for each piece of k: a piece of B (BK x BN), and with the first piece of a
// tile the tile of C (BN x BP). Pieces of A (BM x BK) come along with those of B: for every tile of
// n (A_PLACE stream), or for the first tile only, after which all of A's rows stay.
//
//   ring     STAGES slots of a piece of B and, streamed, a piece of A
//   C_SLOTS  tiles of C: as many as are in use or on their way while STAGES - 1 pieces are
//   T tile   the intermediate, where it goes through shared memory (RESIDENT smem)
//   panels   all pieces of A's rows, unless they are streamed
#include "gemm/tile.cuh"
#include "gemm_chain/fragments.cuh"
#pragma once
constexpr int threads = 32 * WARPS_M * WARPS_N;

#if A_PLACE_stream
constexpr bool a_streamed = true;
#else
constexpr bool a_streamed = false;
#endif
#if RESIDENT_smem
constexpr bool t_in_smem = true;
#else
constexpr bool t_in_smem = false;
#endif

typedef rows_of<BK> a_layout;
typedef rows_of<BN> b_layout;
typedef rows_of<BP> c_layout;
typedef tile_copy<element_memory, BM, BK, A_VEC, threads, a_layout> a_copy;
typedef tile_copy<element_memory, BK, BN, B_VEC, threads, b_layout> b_copy;
typedef tile_copy<element_memory, BN, BP, C_VEC, threads, c_layout> c_copy;

constexpr int a_bytes = BM * a_layout::row_bytes;
constexpr int b_bytes = BK * b_layout::row_bytes;
constexpr int c_bytes = BN * c_layout::row_bytes;
constexpr int stage_bytes = b_bytes + (a_streamed ? a_bytes : 0);
constexpr int c_start = STAGES * stage_bytes;
constexpr int t_start = c_start + C_SLOTS * c_bytes;
constexpr int panel_start = t_start + (t_in_smem ? BM * b_layout::row_bytes : 0);
static_assert(
	FIXED_SMEM == panel_start, "what stands before the rows of A, as the launch asks for");

struct piece_stream {
	a_copy a;
	b_copy b;
	c_copy c;
	i64 b_piece, b_tile, c_tile; // elements to the next piece of B, the next tile of B and C
	int rows, columns;           // of Y that lie inside
	int k, k_left, n_left;       // what is left from the next piece on
	int piece, slot, c_slot;     // of the next piece
	bool first_tile;
	u32 shared;

	// The block's rows begin at `row`, its columns at `column`, its share of n at first_n and
	// has n_count.
	__device__ __forceinline__ piece_stream(const element_memory *A, const element_memory *B,
		const element_memory *C, int m, int k_, int n, int p, int row, int column,
		int first_n, int n_count, u32 shared_)
	    : a(A, A + (i64)row * k_, k_), b(B, B + first_n, n),
	      c(C, C + (i64)first_n * p + column, p)
	{
		int pieces = ONE_PIECE ? 1 : ceil_div(k_, BK);
		b_piece = (i64)BK * n;
		b_tile = BN - (pieces - 1) * b_piece;
		c_tile = (i64)BN * p;
		rows = m - row;
		columns = p - column;
		k = k_left = k_;
		n_left = n_count;
		piece = slot = c_slot = 0;
		first_tile = true;
		shared = shared_;
	}

	__device__ __forceinline__ bool any_left() const
	{
		return n_left > 0;
	}

	// START: one of the first pieces, before the main loop.
	template <bool START> __device__ __forceinline__ void start_next()
	{
		u32 stage = shared + (u32)(slot * stage_bytes);
		bool whole_k = k_left >= BK, whole_n = n_left >= BN;
		// With one piece per tile the rows of A are there before the main loop.
		if (a_streamed || ((START || !ONE_PIECE) && first_tile)) {
			u32 to = a_streamed ? stage + b_bytes
					    : shared + panel_start + (u32)(piece * a_bytes);
			if (whole_k && rows >= BM)
				a.template start<true>(to, 0, 0);
			else
				a.template start<false>(to, rows, k_left);
		}
		if (whole_k && whole_n)
			b.template start<true>(stage, 0, 0);
		else
			b.template start<false>(stage, k_left, n_left);
		if (ONE_PIECE || piece == 0) {
			u32 to = shared + c_start + (u32)(c_slot * c_bytes);
			if (whole_n && columns >= BP)
				c.template start<true>(to, 0, 0);
			else
				c.template start<false>(to, n_left, columns);
			c.advance(c_tile);
			c_slot = c_slot == C_SLOTS - 1 ? 0 : c_slot + 1;
		}
		slot = slot == STAGES - 1 ? 0 : slot + 1;
		if (!ONE_PIECE && whole_k && k_left > BK) {
			a.advance(BK);
			b.advance(b_piece);
			k_left -= BK;
			piece++;
		} else {
			a.advance(-(i64)piece * BK);
			b.advance(b_tile);
			k_left = k;
			n_left -= BN;
			piece = 0;
			first_tile = false;
		}
	}
};
