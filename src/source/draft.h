/* SPDX-License-Identifier: MIT
 *
 * The JSON of an own kernel (family/own_kernel.h), begun from what its source says. Sizes, the grid
 * and all else that no declaration says get the mark "?", which readers refuse.
 */
#ifndef SOURCE_DRAFT_H
#define SOURCE_DRAFT_H

#include "base/json.h"
#include "source/kernel_source.h"

/* What `tiletune new` could not read. */
#define DRAFT_MARK "?"

/* file: the source, as the JSON names it. The caller frees the tree. */
struct json *draft_new(
	const struct kernel_source *source, const struct source_kernel *kernel, const char *file);

/* Lines on what the draft leaves out: other kernels, where the first was chosen; other heads of
 * this one; macros that would have to be guarded to be parameters. file: as the user named it. */
void draft_remarks(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *file, bool chose_first, struct text *remarks);

#endif
