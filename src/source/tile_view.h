/* SPDX-License-Identifier: MIT
 *
 * Reads how a tile kernel divides its tensors into tiles, without a compiler:
 *
 *	const auto in = ct::partition_view(
 *		ct::tensor_span(x, ct::extents(rows, columns)), ct::shape<ROWS, COLUMNS>());
 *	in.load_masked(ct::bid().x, 0)
 */
#ifndef SOURCE_TILE_VIEW_H
#define SOURCE_TILE_VIEW_H

#include "source/kernel_source.h"

/* Position of a block's tiles in one dimension of the tensor. */
enum tile_place {
	TILE_ANYWHERE,
	TILE_AT_BLOCK, /* at the block's index along an axis, so that the grid covers the dimension
			*/
	TILE_WHOLE,    /* only at 0, so that the tile covers the dimension */
};

struct tile_dimension {
	char *extent, *tile; /* a key or number ("rows"); a macro or number ("ROWS") */
	enum tile_place place;
	unsigned axis; /* for TILE_AT_BLOCK; 0 is x */
};

enum {
	TILE_DIMENSIONS_MAX = 4,
	TILE_VIEWS_MAX = 16
};

struct tile_view {
	const char *tensor;
	bool reads, writes;
	struct tile_dimension dimensions[TILE_DIMENSIONS_MAX];
	size_t dimension_count;
};

/* Returns the number of views, at most TILE_VIEWS_MAX. Omits views whose tensor, extents or tiles
 * are not plain names or numbers. The caller releases the views. */
size_t tile_views_read(const struct source_kernel *kernel, struct tile_view *views);
void tile_views_release(struct tile_view *views, size_t count);

#endif
