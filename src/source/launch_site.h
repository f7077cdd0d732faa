/* SPDX-License-Identifier: MIT
 *
 * Reads launches in the host's code without a compiler: "k<T, 128><<<grid, block, smem>>>(x, n)",
 * cudaLaunchKernel() and cudaLaunchKernelEx().
 */
#ifndef SOURCE_LAUNCH_SITE_H
#define SOURCE_LAUNCH_SITE_H

#include "base/text.h"
#include "source/kernel_source.h"

/* Expressions of the JSON (expr/expression.h) read arguments and template parameters by the
 * kernel's names, macros, and variables of the host that have no definition. */
struct launch_site {
	char *templates[8];             /* as written in C++; or NULL */
	char *grid[3], *block[3];       /* NULL: none, or not understood */
	size_t grid_count, block_count; /* 0: not understood */
	char *smem_bytes;               /* NULL: none, or not understood */
	struct text unclear;            /* lines on what is not understood */
	char *values[48];               /* numbers, "NULL"; NULL for others */
};

/* Reads the first launch in a text without comments. Returns false if there is none. */
bool launch_site_find(const char *text, const struct kernel_source *source,
	const struct source_kernel *kernel, struct launch_site *site);
void launch_site_release(struct launch_site *site);

#endif
