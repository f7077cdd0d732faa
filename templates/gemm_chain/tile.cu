// A chained product in CUDA Tile C++: a block has BM rows of Y and all p columns; the intermediate
// exists BN columns at a time, in registers. Constants from the build: BM BN BK BP (columns of Y,
// padded to a power of two), B_DIVISOR ..., and hints.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/tile_kernel.cuh"

#if DTYPE_bf16
typedef __nv_bfloat16 element;
#else
typedef __half element;
#endif

TILE_HINTS __tile_global__ void gemm_chain_tile(const element *__restrict__ a,
	const element *__restrict__ b, const element *__restrict__ c, element *__restrict__ y, int m, int k, int n, int p)
{
	const auto a_tiles = tiles_of<BM, BK, K_DIVISOR>(a, m, k, k);
	const auto b_tiles = tiles_of<BK, BN, N_DIVISOR>(b, k, n, n);
	const auto c_tiles = tiles_of<BN, BP, P_DIVISOR>(c, n, p, p);
	const auto y_tiles = tiles_of<BM, BP, P_DIVISOR>(y, m, p, p);
	auto sum = ct::full<ct::tile<float, ct::shape<BM, BP>>>(0.0f);

	for (auto j : ct::irange(0, (n + BN - 1) / BN)) {
		auto middle = ct::full<ct::tile<float, ct::shape<BM, BN>>>(0.0f);

		for (auto i : ct::irange(0, (k + BK - 1) / BK))
			middle = ct::mma(a_tiles.load_masked(ct::bid().x, i), b_tiles.load_masked(i, j),
				middle);
		sum = ct::mma(ct::element_cast<element>(activation(middle)),
			c_tiles.load_masked(j, ct::bid().y), sum);
	}
	y_tiles.store_masked(ct::element_cast<element>(sum), ct::bid().x, ct::bid().y);
}
