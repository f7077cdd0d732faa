#include <cuda_tile.h>

namespace ct = cuda::tiles;

// y is the softmax of each row of x; COLUMNS is at least the number of columns
__tile_global__ void softmax(const float *x, float *y, int rows, int columns)
{
	const auto in = ct::partition_view(
		ct::tensor_span(x, ct::extents(rows, columns)), ct::shape<ROWS, COLUMNS>());
	const auto out = ct::partition_view(
		ct::tensor_span(y, ct::extents(rows, columns)), ct::shape<ROWS, COLUMNS>());
	const auto column = ct::reshape(
		ct::iota<ct::tile<int, ct::shape<COLUMNS>>>(), ct::shape<1, COLUMNS>());
	const auto inside = ct::broadcast(column < columns, ct::shape<ROWS, COLUMNS>());
	const auto values = in.load_masked(ct::bid().x, 0);
	const auto shifted = values - ct::reduce_max<1>(ct::select(
					      inside, values, ct::full<decltype(values)>(-1e30f)));
	const auto weights =
		ct::select(inside, ct::exp(shifted), ct::full<decltype(values)>(0.0f));

	out.store_masked(weights / ct::sum<1>(weights), ct::bid().x, 0);
}
