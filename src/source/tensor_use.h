/* SPDX-License-Identifier: MIT
 *
 * Guesses from a kernel's body whether it reads and writes a tensor, and the tensor's shape.
 */
#ifndef SOURCE_TENSOR_USE_H
#define SOURCE_TENSOR_USE_H

#include "base/text.h"
#include "source/launch_site.h"

struct tensor_use {
	bool reads, writes;
	unsigned unclear; /* number of places that pass on the pointer or compute with it */
};
struct tensor_use tensor_use_read(const char *body, const char *name);

enum {
	TENSOR_DIMENSIONS_MAX = 6
};
/* Returns the number of dimensions, outermost first, or 0: "i < n" gives n for x[i], "row * columns
 * + i" gives the rows of the grid and columns. Dimensions read only the names in `sizes`. The
 * caller frees the dimensions. */
size_t tensor_shape_read(const char *body, const char *name, const struct launch_site *site,
	const struct name_set *sizes, char *dimensions[TENSOR_DIMENSIONS_MAX]);

/* Returns an expression for the number of blocks along an axis, or NULL: "ceil_div(n, BLOCK)" for
 * "i = blockIdx.x * blockDim.x + threadIdx.x" and "i < n". `block` is the extent of a block, or
 * NULL. The caller frees the expression. */
char *grid_extent_read(
	const char *body, size_t axis, const char *block, const struct name_set *sizes);

#endif
