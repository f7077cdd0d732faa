// What tile kernels share: hints for the compiler (which may ignore them), and matrices cut into
// tiles. A hint of 0 leaves the choice to the compiler.
#pragma once
#include <cuda_tile.h>

namespace ct = cuda::tiles;

#if WARPS
#define WARPS_HINT [[cutile::hint(0, num_worker_warps_per_cta = WARPS)]]
#else
#define WARPS_HINT
#endif
#if CLUSTER
#define CLUSTER_HINT [[cutile::hint(0, num_cta_in_cga = CLUSTER)]]
#else
#define CLUSTER_HINT
#endif
#if OCCUPANCY
#define OCCUPANCY_HINT [[cutile::hint(0, occupancy = OCCUPANCY)]]
#else
#define OCCUPANCY_HINT
#endif
#define TILE_HINTS WARPS_HINT CLUSTER_HINT OCCUPANCY_HINT

typedef ct::integral_constant<1> one;

// A row-major matrix, cut into tiles; elements of a tile outside of the matrix are read as 0 and
// not written. DIVISOR divides columns and pitch (in elements): TMA needs 16 bytes of both.
template <int ROWS, int COLUMNS, int DIVISOR, typename T>
__tile__ auto tiles_of(T *first, int rows, int columns, int pitch)
{
	return ct::partition_view(
		ct::tensor_span(ct::assume_aligned<DIVISOR * (int)sizeof(T)>(first),
			ct::layout_strided_mapping(
				ct::extents(rows, ct::assume_divisible<DIVISOR>(columns)),
				ct::strides(ct::assume_divisible<DIVISOR>(pitch), one()))),
		ct::shape<ROWS, COLUMNS>());
}

// The activation that the build names; fp32.
template <typename TILE> __tile__ TILE activation(TILE x)
{
#if ACT_relu
	return ct::max(x, 0.0f);
#elif ACT_silu
	return x / (1.0f + ct::exp(-x));
#elif ACT_gelu_tanh
	return 0.5f * x * (1.0f + ct::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
#else
	return x;
#endif
}
