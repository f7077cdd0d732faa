// A tile of C by mma.sync: the warps of a block multiply BM x BN x BK steps out of a ring of STAGES
// stages that cp.async fills; a warp holds WM x WN sums in registers and reads its operands with
// ldmatrix, one mma step (32 bytes of k) ahead of the arithmetic. Shared memory is swizzled, so
// neither the copies nor ldmatrix meet bank conflicts.
#include "common/ldmatrix.cuh"
#include "common/mma.cuh"
#include "gemm_types.cuh"
#include "layout.cuh"
#include "tile.cuh"
#pragma once
constexpr int warps_m = BM / WM;
constexpr int warps_n = BN / WN;
constexpr int threads = 32 * warps_m * warps_n;
constexpr int element_bytes = sizeof(input::memory);
constexpr int mma_k_bytes = 32; // one mma step, for 16-bit and tf32 alike
constexpr int k_steps = BK * element_bytes / mma_k_bytes;
// In which mma step of a block step the next copy is started: with many, after a first batch of
// arithmetic, so that the tensor cores do not wait for the copy's address arithmetic.
constexpr int copy_step = k_steps >= 4 ? 1 : 0;
constexpr int m_tiles = WM / 16; // mma tiles of a warp
constexpr int n_tiles = WN / 8;

#if B_LAYOUT_nk
constexpr bool b_is_kn = false;
constexpr int b_rows = BN, b_cols = BK;
#else
constexpr bool b_is_kn = true;
constexpr int b_rows = BK, b_cols = BN;
#endif
// ldmatrix transposes 16-bit elements only: tf32 in [K,N] is read by single words, eight columns of
// four rows at a time, which the swizzle must keep apart.
constexpr bool b_by_word = b_is_kn && element_bytes == 4;

typedef swizzled_rows<BK * element_bytes> a_layout;
typedef swizzled_rows<b_cols * element_bytes, b_by_word ? 2 : 1> b_layout;
typedef tile_copy<input::memory, BM, BK, A_VEC, threads, a_layout> a_copy;
typedef tile_copy<input::memory, b_rows, b_cols, B_VEC, threads, b_layout> b_copy;

constexpr int a_bytes = BM * BK * element_bytes;
constexpr int b_bytes = BN * BK * element_bytes;
constexpr int stage_bytes = a_bytes + b_bytes;
static_assert(ring_bytes == STAGES * stage_bytes, "the stages are what the launch asks for");

struct fragments {
	u32 a[m_tiles][4];
	u32 b[n_tiles][2];
};

// A lane's constant part of the addresses from which a warp loads fragments.
struct fragment_reader {
	u32 a_row, a_mask; // A, and B in [N,K]: byte offset of the row; XOR for the byte in the row
	u32 b_row, b_mask;
	u32 b_column[b_is_kn ? n_tiles : 1]; // B in [K,N]: offsets of the columns, rows included

	__device__ __forceinline__ fragment_reader(int warp_m, int warp_n, int lane)
	{
		int row = warp_m * WM + lane % 16;
		a_row = row * a_layout::row_bytes;
		a_mask = lane / 16 * 16 ^ a_layout::mask(row);
		if constexpr (!b_is_kn) {
			// Matrices of an x4 load: columns n..n+7 with both k halves, then
			// n+8..n+15.
			row = warp_n * WN + lane / 16 * 8 + lane % 8;
			b_row = row * b_layout::row_bytes;
			b_mask = lane / 8 % 2 * 16 ^ b_layout::mask(row);
		} else if constexpr (b_by_word) {
#pragma unroll
			for (int j = 0; j < n_tiles; j++)
				b_column[j] = b_layout::offset(
					lane % 4, (warp_n * WN + j * 8 + lane / 4) * 4);
		} else {
#pragma unroll
			for (int j = 0; j < n_tiles; j += 2)
				b_column[j] = b_layout::offset(
					lane % 16, (warp_n * WN + j * 8) * 2 + lane / 16 * 16);
		}
	}

	__device__ __forceinline__ void read_a(u32 (&a)[m_tiles][4], u32 tile, int step) const
	{
		u32 address = tile + a_row + (a_mask ^ step * mma_k_bytes);
#pragma unroll
		for (int i = 0; i < m_tiles; i++)
			ldmatrix_x4(a[i], address + i * 16 * a_layout::row_bytes);
	}

	__device__ __forceinline__ void read_b(u32 (&b)[n_tiles][2], u32 tile, int step) const
	{
#pragma unroll
		for (int j = 0; j < n_tiles; j += 2) {
			if constexpr (b_by_word) {
				u32 address = tile + step * 8 * b_layout::row_bytes;
#pragma unroll
				for (int w = 0; w < 4; w++)
					if (j + w / 2 < n_tiles)
						b[j + w / 2][w % 2] =
							load_word(address + b_column[j + w / 2] +
								  w % 2 * 4 * b_layout::row_bytes);
				continue;
			}
			u32 address = b_is_kn ? tile + step * 16 * b_layout::row_bytes +
							b_column[b_is_kn ? j : 0]
					      : tile + b_row + (b_mask ^ step * mma_k_bytes) +
							j * 8 * b_layout::row_bytes;
			if (j + 1 < n_tiles) {
				u32 four[4];
				b_is_kn ? ldmatrix_x4_trans(four, address)
					: ldmatrix_x4(four, address);
				b[j][0] = four[0];
				b[j][1] = four[1];
				b[j + 1][0] = four[2];
				b[j + 1][1] = four[3];
			} else {
				b_is_kn ? ldmatrix_x2_trans(b[j], address)
					: ldmatrix_x2(b[j], address);
			}
		}
	}

	__device__ __forceinline__ void read(fragments &to, u32 stage, int step) const
	{
		read_a(to.a, stage, step);
		read_b(to.b, stage + a_bytes, step);
	}

	static __device__ __forceinline__ u32 load_word(u32 address)
	{
		u32 word;
		asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
		return word;
	}
};

__device__ __forceinline__ void multiply(float (&sum)[m_tiles][n_tiles][4], const fragments &from)
{
#pragma unroll
	for (int j = 0; j < n_tiles; j++)
#pragma unroll
		for (int i = 0; i < m_tiles; i++) {
			// Back and forth, so that neighbours in time share an operand.
			int row = j % 2 ? m_tiles - 1 - i : i;
			mma_sync<input>::accumulate(sum[row][j], from.a[row], from.b[j]);
		}
}

// The stream of steps from global memory into the ring of stages.
struct producer {
	a_copy a;
	b_copy b;
	i64 b_advance;
	int rows, cols; // of the tile that lie inside C
	int k_left;     // from the next step on
	bool whole;

	__device__ __forceinline__ producer(const input::memory *A, const input::memory *B, int M,
		int N, int K, int lda, int ldb, int m, int n, int k)
	    : a(A, A + (i64)m * lda + k, lda),
	      b(B, B + (b_is_kn ? (i64)k * ldb + n : (i64)n * ldb + k), ldb)
	{
		b_advance = b_is_kn ? (i64)BK * ldb : BK;
		rows = M - m;
		cols = N - n;
		k_left = K - k;
		whole = rows >= BM && cols >= BN;
	}

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
		a.advance(BK);
		b.advance(b_advance);
		k_left -= BK;
	}
};

// The sums of `steps` steps, which `from_global` begins with.
__device__ __forceinline__ void tile_multiply(float (&sum)[m_tiles][n_tiles][4],
	producer &from_global, const fragment_reader &reader, u32 ring, int steps)
{
	fragments piece[2];

	// One group per step, empty ones too, so that counting groups is counting steps.
#pragma unroll 1
	for (int step = 0; step < STAGES - 1; step++) {
		if (step < steps)
			from_global.start_next(ring + step * stage_bytes);
		cp_async_commit();
	}
	cp_async_wait<STAGES - 2>();
	__syncthreads();
	u32 read_stage = ring;
	u32 write_stage = ring + (STAGES - 1) * stage_bytes;
	reader.read(piece[0], read_stage, 0);

#pragma unroll 1
	for (int step = 0; step < steps; step++) {
#pragma unroll
		for (int k = 0; k < k_steps; k++) {
			if (k == copy_step) {
				// The stage written now was read to its end before the last
				// barrier.
				if (step + STAGES - 1 < steps)
					from_global.start_next(write_stage);
				cp_async_commit();
				write_stage += stage_bytes;
				if (write_stage == ring + STAGES * stage_bytes)
					write_stage = ring;
			}
			if (k == k_steps - 1) {
				cp_async_wait<STAGES - 2>();
				__syncthreads();
				read_stage += stage_bytes;
				if (read_stage == ring + STAGES * stage_bytes)
					read_stage = ring;
			}
			// With an even number of k_steps the indices are constants after unrolling.
			reader.read(piece[(k + 1) % 2], read_stage, (k + 1) % k_steps);
			multiply(sum, piece[k % 2]);
		}
		if (k_steps % 2 == 1)
			piece[0] = piece[1];
	}
	cp_async_wait<0>();
}
