/* SPDX-License-Identifier: MIT
 *
 * The JSON of an own kernel (family/own_kernel.h), begun from what its source says. Sizes, the grid
 * and whatever else no declaration says stands there as the mark "?", which readers refuse.
 */
#ifndef IMPORT_DRAFT_H
#define IMPORT_DRAFT_H

#include "base/json.h"
#include "import/kernel_source.h"

/* What `tiletune new` could not read. */
#define DRAFT_MARK "?"

/* file: the source, as the JSON names it. The caller frees the tree. */
struct json *draft_new(
	const struct kernel_source *source, const struct source_kernel *kernel, const char *file);
/* As people write it: short objects on one line, one argument, parameter or launch a line. */
void draft_print(const struct json *tree, struct text *text);

#endif
