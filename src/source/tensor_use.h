/* SPDX-License-Identifier: MIT
 *
 * Reads from a kernel's body how it uses a pointer argument: whether it reads and writes elements,
 * and which shape its indices show. Both are guesses, because no compiler is asked.
 */
#ifndef SOURCE_TENSOR_USE_H
#define SOURCE_TENSOR_USE_H

#include "base/text.h"
#include "source/launch_site.h"

struct tensor_use {
	bool reads, writes;
	unsigned unclear; /* places that pass the pointer on or compute with it */
};
struct tensor_use tensor_use_read(const char *body, const char *name);

enum {
	TENSOR_DIMENSIONS_MAX = 6
};
/* Returns the number of dimensions, outermost first, or 0 if no index shows them: "i < n" for x[i]
 * gives n, "row * columns + i" gives the rows of the grid and columns. sizes are names that
 * dimensions may read. The caller frees the dimensions. */
size_t tensor_shape_read(const char *body, const char *name, const struct launch_site *site,
	const struct name_set *sizes, char *dimensions[TENSOR_DIMENSIONS_MAX]);

/* Returns the number of blocks along an axis that the kernel's guards show, or NULL. It is
 * "ceil_div(n, BLOCK)" for "i = blockIdx.x * blockDim.x + threadIdx.x" and "i < n". block is the
 * extent of a block along the axis, or NULL. The caller frees the expression. */
char *grid_extent_read(
	const char *body, size_t axis, const char *block, const struct name_set *sizes);

#endif
