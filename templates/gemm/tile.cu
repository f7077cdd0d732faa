// GEMM in CUDA Tile C++: the source names tiles, and the compiler chooses threads, copies (TMA
// where rows are aligned), barriers and tensor-core instructions, up to Blackwell's tcgen05.
//
// Constants from the build: BM BN BK, PERSISTENT (blocks process tiles in turn), SPLIT (some tiles
// are divided along k), SUM_ROWS, A_DIVISOR B_DIVISOR C_DIVISOR (elements that divide a pitch), and
// the hints of common/tile_kernel.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "common/tile_kernel.cuh"

#if DTYPE_bf16
typedef __nv_bfloat16 input;
#elif DTYPE_fp16
typedef __half input;
#elif DTYPE_fp8_e4m3
typedef __nv_fp8_e4m3 input;
#endif

#if OUT_DTYPE_bf16
typedef __nv_bfloat16 output;
#elif OUT_DTYPE_fp16
typedef __half output;
#else
typedef float output;
#endif

// The place of a tile in C. Tiles are counted down `band` rows of tiles, then along N, so that
// blocks that run at once share rows of A and B in the L2.
struct tile_place {
	int m, n;
	__tile__ tile_place(int index, int tiles_m, int tiles_n, int band)
	{
		const int first = index / (band * tiles_n) * band,
			  inside = index % (band * tiles_n);
		const int rows = tiles_m - first < band ? tiles_m - first : band;

		m = first + inside % rows;
		n = inside / rows;
	}
};

// Whole tiles come first; the k of each further tile is divided among `split_k` blocks, which write
// their sums to a workspace.
struct tile_share {
	int tile, first, last; // steps of k, of which `last` is the first that belongs to another
	__tile__ tile_share(int index, int whole, int split_k, int steps)
	{
		const bool divided = SPLIT && index >= whole;
		const int part = divided ? (index - whole) % split_k : 0;
		const int parts = divided ? split_k : 1;

		tile = divided ? whole + (index - whole) / split_k : index;
		first = (int)((long)steps * part / parts);
		last = (int)((long)steps * (part + 1) / parts);
	}
};

// Two things let the compiler load ahead of the products, and make the kernel four times as fast:
// pointers that are __restrict__, and a loop over an irange.
TILE_HINTS __tile_global__ void gemm_tile(const input *__restrict__ a, const input *__restrict__ b,
	output *__restrict__ c, float *__restrict__ partial, int M, int N, int K, int lda, int ldb,
	int ldc, int band, int whole, int split_k)
{
	const auto a_tiles = tiles_of<BM, BK, A_DIVISOR>(a, M, K, lda);
#if B_LAYOUT_nk
	const auto b_tiles = tiles_of<BN, BK, B_DIVISOR>(b, N, K, ldb);
#else
	const auto b_tiles = tiles_of<BK, BN, B_DIVISOR>(b, K, N, ldb);
#endif
	const auto c_tiles = tiles_of<BM, BN, C_DIVISOR>(c, M, N, ldc);
	const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN;
	const int steps = (K + BK - 1) / BK;
#if SPLIT
	const int shares = whole + (tiles_m * tiles_n - whole) * split_k;
	const auto partial_tiles = tiles_of<BM, BN, 4>(partial, (shares - whole) * BM, BN, BN);
#else
	const int shares = tiles_m * tiles_n;
#endif

#if PERSISTENT
	for (auto index : ct::irange((int)ct::bid().x, shares, (int)ct::num_blocks().x)) {
#else
	{
		const int index = ct::bid().x;
#endif
		const tile_share share(index, whole, split_k, steps);
		const tile_place place(share.tile, tiles_m, tiles_n, band);
		auto sum = ct::full<ct::tile<float, ct::shape<BM, BN>>>(0.0f);

		for (auto k : ct::irange(share.first, share.last)) {
			const auto a_tile = a_tiles.load_masked(place.m, k);
#if B_LAYOUT_nk
			const auto b_tile = ct::transpose(b_tiles.load_masked(place.n, k));
#else
			const auto b_tile = b_tiles.load_masked(k, place.n);
#endif
			sum = ct::mma(a_tile, b_tile, sum);
		}
#if SPLIT
		if (index >= whole)
			partial_tiles.store(sum, index - whole, 0);
		else
#endif
			c_tiles.store_masked(
				ct::element_cast<output>(activation(sum)), place.m, place.n);
	}
}

// Adds the parts of the divided tiles in the order of k. A block has SUM_ROWS rows of a tile.
__tile_global__ void gemm_tile_sum(const float *__restrict__ partial, output *__restrict__ c, int M,
	int N, int ldc, int band, int whole, int split_k)
{
	constexpr int slices = BM / SUM_ROWS;
	const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN;
	const int tile = ct::bid().x / slices, slice = ct::bid().x % slices;
	const auto c_tiles = tiles_of<SUM_ROWS, BN, C_DIVISOR>(c, M, N, ldc);
	const auto partial_tiles = tiles_of<SUM_ROWS, BN, 4>(
		partial, (tiles_m * tiles_n - whole) * split_k * BM, BN, BN);
	const tile_place place(whole + tile, tiles_m, tiles_n, band);
	auto sum = ct::full<ct::tile<float, ct::shape<SUM_ROWS, BN>>>(0.0f);

	for (auto part : ct::irange(0, split_k))
		sum = sum + partial_tiles.load((tile * split_k + part) * slices + slice, 0);
	c_tiles.store_masked(
		ct::element_cast<output>(activation(sum)), place.m * slices + slice, place.n);
}
