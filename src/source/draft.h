/* SPDX-License-Identifier: MIT
 *
 * Drafts the JSON of an own kernel (family/own_kernel.h) from its source.
 */
#ifndef SOURCE_DRAFT_H
#define SOURCE_DRAFT_H

#include "base/json.h"
#include "source/kernel_source.h"

/* placeholder for values that the source does not determine; readers refuse it */
#define DRAFT_MARK "?"

struct draft_names {
	const char *source; /* name in the JSON */
	const char *file;   /* name that the user gave */
	bool chose_first;   /* the user named no kernel */
};

/* text is the expanded source without comments. Appends lines on what the draft leaves out or does
 * not understand. The caller frees the tree. */
struct json *draft_new(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *text, const struct draft_names *names, struct text *remarks);

#endif
