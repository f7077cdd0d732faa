/* SPDX-License-Identifier: MIT
 *
 * Drafts the JSON of an own kernel (family/own_kernel.h) from its source. Shapes and everything
 * else that the source does not say get the mark "?", which readers refuse.
 */
#ifndef SOURCE_DRAFT_H
#define SOURCE_DRAFT_H

#include "base/json.h"
#include "source/kernel_source.h"

/* Marks members that `tiletune new` could not determine. */
#define DRAFT_MARK "?"

/* text is the expanded source without comments, in which launches are looked for; file is the name
 * of the source in the JSON. Appends remarks on what was not understood, one a line. The caller
 * frees the tree. */
struct json *draft_new(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *text, const char *file, struct text *remarks);

/* Appends remarks on what the draft leaves out: other kernels, if the first was chosen; other
 * declarations of this kernel; integers that the kernel uses and that may be parameters. file is
 * the name that the user gave. */
void draft_remarks(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *text, const char *file, bool chose_first, struct text *remarks);

#endif
