/* SPDX-License-Identifier: MIT
 *
 * Reads launches in host code without a compiler: "k<T, 128><<<grid, block, smem>>>(x, n)",
 * cudaLaunchKernel() and cudaLaunchKernelEx().
 */
#ifndef SOURCE_LAUNCH_SITE_H
#define SOURCE_LAUNCH_SITE_H

#include "base/text.h"
#include "source/kernel_source.h"

/* A launch in expressions of the JSON (expr/expression.h), which read the kernel's arguments and
 * template parameters, macros, and undefined host variables. */
struct launch_site {
	char *templates[8];             /* template arguments as written in C++, or NULL */
	char *grid[3], *block[3];       /* NULL if absent or not understood */
	size_t grid_count, block_count; /* 0 if not understood */
	char *smem_bytes;               /* NULL if absent or not understood */
	struct text unclear;            /* messages about parts that are not understood */
	char *values[48]; /* arguments that are numbers or "NULL"; NULL for other arguments */
};

/* Reads the first launch in a text without comments. Returns false if there is none. */
bool launch_site_find(const char *text, const struct kernel_source *source,
	const struct source_kernel *kernel, struct launch_site *site);
void launch_site_release(struct launch_site *site);

#endif
