/* SPDX-License-Identifier: MIT
 *
 * Drafts the JSON of an own kernel (family/own_kernel.h) from its source.
 */
#ifndef SOURCE_DRAFT_H
#define SOURCE_DRAFT_H

#include "base/json.h"
#include "source/kernel_source.h"

/* for what the source does not say; readers refuse it */
#define DRAFT_MARK "?"

/* text is the expanded source without comments; file is the name of the source in the JSON. Appends
 * lines on what was not understood. The caller frees the tree. */
struct json *draft_new(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *text, const char *file, struct text *remarks);

/* Appends lines on what the draft leaves out: other kernels, other declarations of this kernel, and
 * integers that may be parameters. file is the name that the user gave. */
void draft_remarks(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *text, const char *file, bool chose_first, struct text *remarks);

#endif
